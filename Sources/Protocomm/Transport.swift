// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// Carries one request to an endpoint of one board and brings its response back. It knows nothing of security.
///
/// A transport is asked for one exchange at a time, which ``ProtocommSession`` sees to. It never sends a request twice:
/// the ciphers count messages. Cancelling the calling task ends the exchange promptly with
/// ``TransportError/Code-swift.struct/cancelled``; what was sent stays sent.
///
/// Errors, by ``TransportError/Code-swift.struct``: `unreachable` before anything was sent; `refused` when the board took the
/// request and answered with nothing (its way of saying that a handler failed); `evicted` when another client has taken the board's session or
/// connection, where the transport can tell that from a refusal; `timeout`; `lost` when the connection broke
/// for good; `tooLong` before anything was sent; `malformed` for an answer that is not one; `noSuchEndpoint`; `cancelled`.
public protocol Transport: Sendable {
    /// The name that messages and logs give the board, such as `192.168.4.1:80` or `/dev/ttyUSB0`.
    var peer: String { get }

    /// What carries one request, for messages about its length, such as "a console line".
    var carrier: String { get }

    /// The longest request in bytes that this transport can carry to that endpoint, or nil where it sets no limit of its own.
    func maximumRequestLength(on endpoint: Endpoint) -> Int?

    /// How long this transport gives a board to answer. The session enforces it; see ``ExchangeDeadlines``.
    var deadlines: ExchangeDeadlines { get }

    /// Whether a broken connection is made again by the next exchange that begins a session, so that going on after `lost` makes sense.
    var restoresLinks: Bool { get }

    /// Whether an answer may get lost or change on the way without anybody noticing, as on a wire that others write to: one that is missing
    /// or makes no sense is asked for again, some times.
    var mayGarbleAnswers: Bool { get }

    /// Sends the request to the endpoint and returns the bytes of the board's answer. Neither is encrypted or decrypted here.
    ///
    /// Throws the errors that ``Transport`` lists; `tooLong` for more bytes than ``maximumRequestLength(on:)`` allows.
    func exchange(_ request: [UInt8], on endpoint: Endpoint) async throws(TransportError) -> [UInt8]

    /// Closes the connection to the board. Closing twice is harmless; an exchange in flight ends with `cancelled`.
    func close() async
}

extension Transport {
    public var carrier: String { "this transport" }
    public var deadlines: ExchangeDeadlines { .standard }
    public var restoresLinks: Bool { false }
    public var mayGarbleAnswers: Bool { false }
}
