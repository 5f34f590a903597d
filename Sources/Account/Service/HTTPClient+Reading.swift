// SPDX-License-Identifier: Apache-2.0
import RainHTTP

extension HTTPClient {
    /// Sends a request for `read` to make something of the answer. What that throws says how long the server asks to be left alone, and has
    /// no secret of the request in it: some servers throw back what they were sent.
    package func send<Result>(
        _ request: HTTPRequest, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let response: HTTPResponse
        do throws(HTTPError) { response = try await send(request) } catch { throw AccountError(error) }
        do throws(AccountError) {
            return try read(response)
        } catch {
            var error = error
            error.retryAfter = error.retryAfter ?? response.retryAfter
            throw error.without(RequestSecrets(request), in: response, read)
        }
    }
}
