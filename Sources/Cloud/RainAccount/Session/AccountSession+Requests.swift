// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP

extension AccountSession {
    /// Sends a request in the user's name. When the service answers 401 the tokens are renewed and it is sent once more: what
    /// was answered with 401 has had no effect.
    /// - Throws: `invalidConfiguration` if the URL is not one of the provider's services, where alone its tokens belong.
    /// - Returns: any response, the last one after a 401.
    public func send(_ request: HTTPRequest) async throws(AccountError) -> HTTPResponse {
        try check(request)
        let (answer, _) = try await asking { tokens throws(AccountError) in
            try await send(request, with: tokens).response
        } isRefusal: {
            $0.status == 401
        }
        return answer
    }

    /// Sends a request as ``send(_:)`` does, for `read` to make something of the answer; what that reads as `expired` counts as a 401. What
    /// it throws has no secret of the request in it, not even the proof of who asks: some servers, and much that stands before them, throw
    /// back what they were sent.
    package func send<Result>(
        _ request: HTTPRequest, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) async throws(AccountError) -> Result {
        try check(request)
        return try await asking { tokens throws(AccountError) in
            let (sent, response) = try await send(request, with: tokens)
            do throws(AccountError) {
                return .success(try read(response))
            } catch {
                return .failure(error.without(RequestSecrets(sent), in: response, read))
            }
        }
    }

    private func check(_ request: HTTPRequest) throws(AccountError) {
        guard isForTokens(request.url) else {
            throw AccountError(
                .invalidConfiguration, message: "the session's tokens are not for this service and were not sent")
        }
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
