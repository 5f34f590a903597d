import RainHTTP
import RainJSON
import RainOAuth
import RainCore

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

    /// - Throws: `invalidGrant` for a code that is used up, expired or not ours; `invalidConfiguration` if the server does not know
    ///   the client; `rejected` for its other refusals, with its own words; `network` and its neighbours.
    package func redeem(_ request: TokenRequest) async throws(AccountError) -> TokenResponse {
        var headers = [
            HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit"),
            HTTPHeader("Content-Type", TokenRequest.contentType),
        ]
        if let header = client.authorizationHeader {
            headers.append(HTTPHeader("Authorization", header.revealString()))
        }
        let message = HTTPRequest(
            method: .post, url: url, headers: headers, body: request.body(for: client).revealBytes(),
            deadline: .seconds(10), maximumResponseBytes: TokenResponse.limits.maximumBytes)
        let response: HTTPResponse
        do throws(HTTPError) { response = try await http.send(message) } catch { throw AccountError(error) }
        do throws(AccountError) {
            return try read(response)
        } catch {
            throw error.without(RequestSecrets(message))
        }
    }

    private func read(_ response: HTTPResponse) throws(AccountError) -> TokenResponse {
        let host = String(url.split(separator: "/", maxSplits: 3).dropFirst().first ?? "the token endpoint")
        let isServerFault = response.status >= 500
        guard let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits) else {
            throw AccountError(
                isServerFault ? .serverFault : .malformedAnswer,
                message: "\(host) answered with HTTP \(response.status) and no readable JSON; try again later",
                status: response.status)
        }
        if let refusal = OAuthError(json) { throw AccountError(token: refusal, host: host, status: response.status) }
        guard 200..<300 ~= response.status else {
            throw AccountError(
                isServerFault ? .serverFault : response.status == 429 ? .rateLimited : .rejected,
                message: "\(host) gave no tokens (HTTP \(response.status))",
                serverMessage: (json["description"]?.string ?? json["message"]?.string).map(presentable),
                status: response.status)
        }
        do throws(OAuth2FormatError) {
            return try TokenResponse(json)
        } catch {
            throw AccountError(
                .malformedAnswer, message: "\(host) did not answer as a token endpoint does: \(error.message)",
                status: response.status)
        }
    }
}

extension AccountError {
    /// A refusal of the token endpoint.
    package init(token error: OAuthError, host: String, status: Int) {
        let name = presentable(error.code.rawValue)
        let (code, message): (Code, String) =
            switch error.code {
            case .invalidGrant:
                (
                    .invalidGrant,
                    "\(host) does not accept what the sign-in page gave: it is used up or too old; sign in again"
                )
            case .accessDenied: (.accessDenied, "\(host) refused the sign-in")
            case .invalidClient, .unauthorizedClient:
                (.invalidConfiguration, "\(host) does not know this client (\(name)); check the profile's client id")
            case .serverError, .temporarilyUnavailable:
                (.serverFault, "\(host) has a fault of its own (\(name)); try again later")
            default: (status >= 500 ? .serverFault : .rejected, "\(host) refused to give tokens (\(name))")
            }
        self.init(code, message: message, serverMessage: error.description.map(presentable), status: status)
    }
}
