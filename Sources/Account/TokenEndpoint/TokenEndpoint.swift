// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON

/// Where grants become tokens (RFC 6749, section 3.2).
package struct TokenEndpoint: Sendable {
    let url: String
    let client: ClientAuthentication
    let http: any HTTPClient

    package init(url: String, client: ClientAuthentication, http: any HTTPClient) {
        self.url = url
        self.client = client
        self.http = http
    }

    /// - Throws: what the RFCs make of a refusal, such as `invalidGrant` for a code that is used up, expired or not ours, and
    ///   `clientRefused` if the server does not know the client; `network` and its neighbours.
    package func redeem(_ request: TokenRequest) async throws(AccountError) -> TokenResponse {
        let host = host(of: url) ?? "the token endpoint"
        return try await http.send(HTTPRequest(request.form, to: url, as: client)) { response throws(AccountError) in
            let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits)
            if let refusal = EndpointRefusal(response, json, from: host, isForTokens: true) { throw refusal.error }
            guard let json else { throw .unreadable(response, from: host) }
            let tokens: TokenResponse
            do throws(OAuth2FormatError) {
                tokens = try TokenResponse(json)
            } catch {
                throw AccountError(
                    .malformedAnswer, message: "\(host) did not answer as a token endpoint does: \(error.message)",
                    status: response.status)
            }
            try tokens.checkType(from: host)
            return tokens
        }
    }
}

extension TokenResponse {
    /// - Throws: `unsupported` for a token that must not be sent as a bearer token, such as one of the type `mac` or `DPoP`.
    package func checkType(from host: String) throws(AccountError) {
        guard !isBearer else { return }
        throw AccountError(
            .unsupported,
            message: "\(host) gives tokens of the type \"\(presentable(tokenType))\"; only Bearer tokens can be used")
    }
}
