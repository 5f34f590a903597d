// SPDX-License-Identifier: Apache-2.0

/// A handler returned an error: the transport then sends the client nothing at all.
public struct HandlerFailure: Error, Equatable, Sendable {
    init() {}
}

/// The result of a handler.
enum HandlerResult {
    case reply([UInt8])
    /// The server task is busy with this request and answers later.
    case later
}
