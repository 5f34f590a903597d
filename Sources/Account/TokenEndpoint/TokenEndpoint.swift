// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

/// The endpoint that exchanges grants for tokens (RFC 6749, section 3.2).
package struct TokenEndpoint: Sendable {
    private let url: String
    private let client: ClientAuthentication
    private let http: any HTTPClient

    package init(url: String, client: ClientAuthentication, http: any HTTPClient) {
        self.url = url
        self.client = client
        self.http = http
    }

    /// Sends a token request.
    /// - Throws: the RFCs' meaning of a refusal, such as `invalidGrant` for a code that was used before, has expired or is not ours. Also
    ///   `clientRefused` if the server does not know the client, and `network` and similar codes.
    package func redeem(_ request: TokenRequest) async throws(AccountError) -> TokenResponse {
        let host = host(of: url) ?? "the token endpoint"
        return try await http.send(HTTPRequest(request.form, to: url, as: client)) { response throws(AccountError) in
            let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits)
            if let refusal = EndpointRefusal(response, json, from: host, isForTokens: true) {
                throw refusal.hasNoEndpoint ? noEndpoint(at: host, refusal) : refusal.error
            }
            guard let json else { throw .unreadable(response, from: host) }
            let tokens: TokenResponse
            do throws(OAuth2FormatError) {
                tokens = try TokenResponse(json)
            } catch {
                throw AccountError(
                    .malformedAnswer, message: "\(host) did not give a valid token response: \(error.message)",
                    status: response.status)
            }
            try tokens.checkType(from: host)
            return tokens
        }
    }

    private func noEndpoint(at host: String, _ refusal: EndpointRefusal) -> AccountError {
        let path = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3).first ?? ""
        return refusal.error(
            .invalidConfiguration,
            message:
                "\(host) has no token endpoint at /\(presentable(String(path.prefix { $0 != "?" }))) (HTTP \(refusal.status)); check the "
                + "token path of the deployment, and its base URL")
    }
}

extension TokenResponse {
    /// - Throws: `unsupported` for a token that must not be sent as a bearer token, such as one of the type `mac` or `DPoP`.
    package func checkType(from host: String) throws(AccountError) {
        guard !isBearer else { return }
        throw AccountError(
            .unsupported,
            message: "\(host) issues tokens of the type \"\(presentable(tokenType))\"; only Bearer tokens can be used")
    }
}

/// A refusal or a fault of an OAuth server's endpoint, unchanged.
package struct EndpointRefusal: Sendable {
    /// The body; nil if it is not JSON.
    package let json: JSONValue?
    /// Whether the body was empty.
    package let isEmpty: Bool
    package let status: Int
    private let response: HTTPResponse
    private let host: String
    private let isForTokens: Bool
    /// The name of the cause, and the server's description.
    package let refusal: OAuthError?

    /// Returns nil for an answer that is not a refusal. Some servers refuse with status 200.
    package init?(_ response: HTTPResponse, _ json: JSONValue?, from host: String, isForTokens: Bool) {
        refusal = json.flatMap { OAuthError($0) }
        let refusesWithSuccess = refusal != nil && json?["access_token"] == nil
        guard !(200..<300 ~= response.status) || refusesWithSuccess else { return nil }
        self.json = json
        isEmpty = response.body.isEmpty
        status = response.status
        self.response = response
        self.host = host
        self.isForTokens = isForTokens
    }

    /// The server's message, which may not be safe to show yet.
    package var words: String? {
        refusal?.description ?? json.flatMap(serverWords)
    }

    /// Whether the server, or another one at its address, has no token endpoint there. The server itself would use a name of OAuth.
    var hasNoEndpoint: Bool {
        guard isForTokens, [404, 405, 501].contains(status) else { return false }
        guard let name = refusal?.code else { return true }
        return AccountError.Code(name, status: status) == .rejected && name.sentence(host: host, code: .rejected) == nil
    }

    /// The meaning of the refusal by the RFCs.
    package var error: AccountError {
        if let error = AccountError(interference: response, from: host) { return error }
        if isForTokens, words == nil, [404, 405, 501].contains(status) {
            return AccountError(
                .invalidConfiguration,
                message:
                    "\(host) issues no tokens at this address (HTTP \(status)). The address may belong to another service, or a proxy or "
                    + "gateway on the way may answer instead; check the provider's settings", status: status)
        }
        let named = refusal.map { AccountError.Code($0.code, status: status, isForTokens: isForTokens) }
        let code = named ?? AccountError.Code(status: status, isForTokens: isForTokens)
        guard json != nil else {
            var error = AccountError.unreadable(response, from: host)
            if let challenge = AuthenticationChallenge(response, host: host), challenge.wantsPassword,
                !challenge.isProxy
            {
                // It may also mean the client's id and secret.
                error.message =
                    "\(host), or a server in front of it, asks for a name and password (HTTP \(status)); check the base URL"
                    + (isForTokens ? ", and the client's id and secret" : "")
            }
            if error.code == .malformedAnswer, code != .rejected { error.code = code }
            return error
        }
        return error(code)
    }

    /// Returns the error with another meaning: a provider's own rule or sentence.
    package func error(
        _ code: AccountError.Code, message: String? = nil, cause: String? = nil
    ) -> AccountError {
        let name = refusal?.code.rawValue
        var error = AccountError(
            code,
            message: message
                ?? code.sentence(host: host, status: status, name: name, redirect: response.redirectTarget(from: host)),
            serverMessage: words.map(presentable), status: status)
        error.serverCause = (name ?? cause).map(presentable)
        return error
    }
}

extension AccountError.Code {
    /// Maps the RFCs' names (6749, 4.1.2.1 and 5.2; 8628, 3.5; 6750, 3.1; 7009, 2.2.1). For a server's own name the status decides.
    package init(_ error: OAuthError.Code, status: Int, isForTokens: Bool = true) {
        switch error {
        case .invalidGrant: self = .invalidGrant
        case .accessDenied: self = .accessDenied
        case .authorizationPending, .slowDown: self = .pending
        case .expiredToken: self = .codeExpired
        case .invalidToken: self = .expired
        case .insufficientScope: self = .insufficientScope
        case .invalidClient, .unauthorizedClient: self = .clientRefused
        case .unsupportedGrantType, .unsupportedResponseType, .invalidScope: self = .invalidConfiguration
        case .serverError, .temporarilyUnavailable: self = .serverFault
        // The status would mean that a session has ended.
        case .invalidRequest where status == 401: self = .rejected
        default: self.init(status: status, isForTokens: isForTokens)
        }
    }

    /// Maps a status that comes without a name.
    /// - Parameter isForTokens: whether tokens were requested. Then no user is signed in, so nothing can be forbidden.
    package init(status: Int, isForTokens: Bool) {
        switch status {
        // These redirects are temporary: a network's sign-in portal answers like this instead of the server.
        case 302, 303, 307: self = .malformedAnswer
        case 300..<400: self = .moved
        case 401: self = .expired
        case 403: self = isForTokens ? .rejected : .forbidden
        case 429: self = .rateLimited
        case 500...: self = .serverFault
        default: self = .rejected
        }
    }

    /// Returns the message for a temporary redirect.
    /// - Parameter setting: the setting with the address of the request.
    package static func redirectSentence(
        host: String, status: Int, _ target: ResponseRedirect?, setting: String = "base URL"
    ) -> String {
        if let target, target.isSameHost { return target.sentence(host: host, status: status, setting: setting) }
        let place = target.map { " to \($0.address)" } ?? ""
        return
            "\(host) was not reached: a redirect\(place) (HTTP \(status)) came instead, probably from this network's sign-in page. Sign in "
            + "to the network in a browser, then try again"
    }

    /// A sentence for a refusal that has no better one.
    /// - Parameter name: the cause as the server names it.
    /// - Parameter redirect: the target of a redirect.
    package func sentence(host: String, status: Int, name: String?, redirect: ResponseRedirect? = nil) -> String {
        if let name, let sentence = OAuthError.Code(rawValue: name).sentence(host: host, code: self) { return sentence }
        let name = name.map { " (\(presentable($0)))" } ?? ""
        switch self {
        case .invalidGrant:
            return
                "\(host) does not accept the code or the proof of this sign-in (wrong, already used or too old); sign in again"
        case .invalidCredentials: return "wrong user name or password"
        case .unknownUser: return "\(host) does not know the user: register first"
        case .unverifiedUser: return "the user's address is not confirmed yet"
        case .accessDenied: return "the sign-in was denied on the page of \(host)"
        case .codeExpired: return "the code has expired; begin again"
        case .usedCode: return "the code has been used before; begin again"
        case .pending: return "nobody has confirmed the sign-in yet"
        case .expired: return "\(host) does not accept the session's token; sign in again"
        case .insufficientScope: return "the session's scope does not allow this: sign in with a wider scope"
        case .clientRefused:
            return "\(host) refuses this client\(name): its id is unknown, or its secret is wrong or missing"
        case .invalidConfiguration:
            return "\(host) does not support this kind of request\(name); check the provider's settings"
        case .moved:
            if let redirect, redirect.isSameHost { return redirect.sentence(host: host, status: status) }
            let place = redirect.map { " to \($0.address)" } ?? ""
            return
                "\(host) has moved\(place) (HTTP \(status)); credentials are not sent there automatically: set the new base URL"
        case .malformedAnswer: return Self.redirectSentence(host: host, status: status, redirect)
        case .rateLimited: return "\(host) received too many requests; try again in a few minutes"
        case .forbidden: return "the signed-in user may not do this"
        case .serverFault: return "\(host) \(serverTrouble(status)); try again later"
        default: return "\(host) refused the request (HTTP \(status))\(name)"
        }
    }
}

extension OAuthError.Code {
    /// Returns the sentence for a name that says more than the code, by its definition in RFC 6749 (4.1.2.1, 5.2); nil for other names.
    /// - Parameters:
    ///   - host: the server, or the page that refused.
    ///   - code: the meaning of the refusal. A server may use a name with a status that means something else.
    package func sentence(host: String, code: AccountError.Code) -> String? {
        switch (self, code) {
        case (.unauthorizedClient, .clientRefused):
            "\(host) does not allow this client to sign in this way (unauthorized_client): the client is switched off, or not registered for this grant"
        case (.unsupportedGrantType, .invalidConfiguration), (.unsupportedResponseType, .invalidConfiguration):
            "\(host) does not offer this way to sign in (\(rawValue)); choose another one, or check the provider's settings"
        case (.invalidScope, .invalidConfiguration):
            "\(host) does not know the requested scope, or does not grant it to this client (invalid_scope); check the scope"
        case (.invalidRequest, .rejected):
            "\(host) refused the request as malformed or incomplete (invalid_request)"
        case (.temporarilyUnavailable, .serverFault):
            "\(host) is not available at the moment (temporarily_unavailable); try again later"
        default: nil
        }
    }
}

/// The target of a redirect, fit to be shown.
package struct ResponseRedirect: Sendable, Equatable {
    /// The address, or the path on the same host. A user name, a password, a query and a fragment are left out, as they may be secrets.
    package let address: String
    /// Whether the redirect leads to another address of the same host. A service for programs sends no such redirects, but web sites do.
    package let isSameHost: Bool

    /// The message for a redirect on the same host.
    /// - Parameter setting: the setting with the address of the request.
    package func sentence(host: String, status: Int, setting: String = "base URL") -> String {
        "\(host) redirects to \(address) on the same host (HTTP \(status)), so the \(setting) probably belongs to a web site; check it"
    }
}

extension HTTPResponse {
    /// Returns the target of a redirect; nil for an answer that is not a redirect, or names no address for HTTP.
    /// - Parameter host: the host that the request was for, with its port if it has one.
    package func redirectTarget(from host: String) -> ResponseRedirect? {
        guard 300..<400 ~= status, let location = header("Location") else { return nil }
        if let newAddress {
            // A permanent redirect names the service's new address, also for another path or scheme on the same host.
            let parts = newAddress.split(separator: "/")
            let isSameHost = parts.dropFirst().first.map(String.init) == host
            return ResponseRedirect(
                address: newAddress, isSameHost: isSameHost && (![301, 308].contains(status) || parts.count == 2))
        }
        let path = presentable(String(location.prefix { $0 != "?" && $0 != "#" }))
        guard !path.isEmpty, !path.hasPrefix("//"), !path.prefix(while: { $0 != "/" }).contains(":") else { return nil }
        return ResponseRedirect(address: path, isSameHost: true)
    }

    /// The address that a redirect names, fit to be shown. A user name, a password, a query and a fragment are left out, as they may be
    /// secrets. Nil for an answer that names no absolute address.
    package var newAddress: String? {
        guard let location = header("Location") else { return nil }
        let scheme = location.lowercased()
        guard scheme.hasPrefix("https://") || scheme.hasPrefix("http://") else { return nil }
        return presentable(ShownText.withoutUserInfo(String(location.prefix { $0 != "?" && $0 != "#" })))
    }
}

extension HTTPRequest {
    /// Creates a form request for an endpoint of an OAuth server, with the client's proof (RFC 6749, 2.3.1).
    /// - Parameter inQuery: whether the server needs the parameters in the address.
    package init(
        _ form: FormRequest, to url: String, as client: ClientAuthentication, inQuery: Bool = false
    ) {
        self.init(
            method: .post, url: url, headers: Self.usualHeaders,
            maximumResponseBytes: TokenResponse.limits.maximumBytes)
        if let header = client.authorizationHeader {
            headers.append(HTTPHeader("Authorization", header.revealString()))
        }
        let body = form.body(for: client)
        if inQuery {
            // The query is encoded as a form, except for `+`, which not every reader takes for a space.
            self.url += (url.contains("?") ? "&" : "?") + body.revealString().replacing("+", with: "%20")
        } else {
            headers.append(HTTPHeader("Content-Type", FormRequest.contentType))
            self.body = body.revealBytes()
        }
    }

    /// The headers of every request for JSON.
    package static let usualHeaders = [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")]
}

/// Returns the host of an address, with its port if there is one, in a form that is safe to show; nil if it is not an address.
package func host(of url: String) -> String? {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return parts.count > 2 ? presentable(String(parts[2].prefix { $0 != "?" })) : nil
}
