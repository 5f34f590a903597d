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
                .invalidConfiguration,
                message:
                    "the session's tokens were not sent: \(Self.server(of: request.url)) is not a service of this account's provider"
            )
        }
    }

    /// The scheme and the host of a URL, for messages; its path and query may hold secrets.
    private static func server(of url: String) -> String {
        let shown = ShownText.withoutUserInfo(url)
        guard let scheme = shown.firstRange(of: "://") else { return "this address" }
        // A question mark and a combining mark behind it are one character.
        let rest = shown.unicodeScalars[scheme.upperBound...]
        return presentable(
            String(shown[..<scheme.upperBound]) + String(rest.prefix { !"/?#\\".unicodeScalars.contains($0) }))
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
