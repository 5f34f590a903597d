// SPDX-License-Identifier: Apache-2.0

/// A handler returned an error: the transport then says nothing at all to the client.
public struct HandlerFailure: Error, Equatable, Sendable {
    init() {}
}

/// What a handler has to say.
enum HandlerResult {
    case reply([UInt8])
    /// The server task is busy with this request and answers later.
    case later
}
