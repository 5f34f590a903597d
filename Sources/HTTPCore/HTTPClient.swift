/// Sends one HTTP request and gives back the whole response.
///
/// Implementations follow no redirect, send only the headers they were given (plus `Host` and the body's length), and never
/// send a request twice: whoever wants a retry decides so itself. Cancelling the calling task ends the transfer at once with
/// ``HTTPError/Code-swift.struct/cancelled``. Every response status is a response, not an error.
public protocol HTTPClient: Sendable {
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse
}
