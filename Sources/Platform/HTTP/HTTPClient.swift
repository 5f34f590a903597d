// SPDX-License-Identifier: Apache-2.0

/// Sends one HTTP request and gives back the whole response.
///
/// Implementations follow no redirect, send only the headers they were given (plus `Host` and the body's length), and never
/// send a request twice: the caller decides about retries. The one exception is a GET on a pooled connection which the
/// server had closed meanwhile. Cancelling the calling task ends the transfer at once with
/// ``HTTPError/Code-swift.struct/cancelled``. Every response status is a response, not an error.
public protocol HTTPClient: Sendable {
    /// Sends the request once and waits for the whole response, as long as the request's deadline allows.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse

    /// Closes the connection that requests with ``HTTPRequest/Connection/kept(_:)`` of that name left open, if there is one.
    /// A server that has one socket only is thereby free for the next client.
    func close(kept name: String) async
}

extension HTTPClient {
    /// Nothing to do for a client that keeps no connections.
    public func close(kept name: String) async {}
}
