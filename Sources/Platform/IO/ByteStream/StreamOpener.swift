// SPDX-License-Identifier: Apache-2.0

/// Opens a connection to a server, over which the caller then speaks a protocol of its own.
public protocol StreamOpener: Sendable {
    /// Connects, and for `https` opens a secure channel whose certificate has been verified.
    ///
    /// - Parameters:
    ///   - url: `https` or `http`; its path and query are not sent.
    ///   - limit: for everything, the lookup of the name too.
    /// - Throws: `notFound`, `refused`, `unreachable`, `untrusted`, `timedOut`, `cancelled` or `failed`.
    func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream
}
