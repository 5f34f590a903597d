// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainHTTP

extension AccountSession {
    /// Sends a request in the user's name. When the service answers 401 the tokens are renewed and it is sent once more: what
    /// was answered with 401 has had no effect.
    /// - Throws: `invalidConfiguration` if the URL is not one of the provider's services, where alone its tokens belong.
    /// - Returns: any response, the second one after a 401.
    public func send(_ request: HTTPRequest) async throws(AccountError) -> HTTPResponse {
        try await answer(to: request).response
    }

    /// Sends a request as ``send(_:)`` does, for `read` to make something of the answer. What that throws has no secret of the request in
    /// it, not even the proof of who asks: some servers, and much that stands before them, throw back what they were sent.
    package func send<Result>(
        _ request: HTTPRequest, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        let (sent, response) = try await answer(to: request)
        do throws(AccountError) {
            return try read(response)
        } catch {
            throw error.without(RequestSecrets(sent))
        }
    }

    /// The answer, and the request as it went out last.
    private func answer(
        to request: HTTPRequest
    ) async throws(AccountError) -> (sent: HTTPRequest, response: HTTPResponse) {
        guard isForTokens(request.url) else {
            throw AccountError(
                .invalidConfiguration, message: "the session's tokens are not for this service and were not sent")
        }
        let session = try await keeper.fresh()
        let first = try await send(request, with: session.tokens)
        guard first.response.status == 401 else { return first }
        logger.debug("answered 401, renewing")
        return try await send(request, with: try await keeper.renewed(replacing: session.tokens.access).tokens)
    }

    private func send(
        _ request: HTTPRequest, with tokens: Tokens
    ) async throws(AccountError) -> (sent: HTTPRequest, response: HTTPResponse) {
        var request = request
        provider.authorize(&request, with: tokens)
        do throws(HTTPError) {
            return (request, try await http.send(request))
        } catch {
            throw AccountError(error)
        }
    }
}
