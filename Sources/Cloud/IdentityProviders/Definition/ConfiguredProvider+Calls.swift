import RainAccount
import RainHTTP
import RainJSON
import RainOAuth
import RainCore

extension ConfiguredProvider {
    static let headers = [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")]

    /// What came back from a call that succeeded.
    public struct Reply: Sendable {
        public var json: JSONValue
        public var response: HTTPResponse
    }

    /// Sends a request as it is and reads the answer.
    /// - Throws: what the extension or the definition makes of a failure; `network` and its neighbours.
    public func exchange(
        _ request: HTTPRequest, for grant: GrantName? = nil, wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        let response: HTTPResponse
        do throws(HTTPError) { response = try await tools.http.send(request) } catch { throw AccountError(error) }
        metadata.learn(status: response.status, from: request.url)
        do throws(AccountError) {
            return try read(response, from: host(of: request.url), for: grant, wantsJSON: wantsJSON)
        } catch {
            var error = error
            error.retryAfter = error.retryAfter ?? response.retryAfter
            throw error.without(RequestSecrets(request))
        }
    }

    /// Sends a form to one of the provider's endpoints, with the client's own proof.
    public func post(
        _ form: FormRequest, to url: String, as client: ClientAuthentication, for grant: GrantName,
        wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        var request = HTTPRequest(
            method: .post, url: url, headers: Self.headers, maximumResponseBytes: TokenResponse.limits.maximumBytes)
        if let header = client.authorizationHeader {
            request.headers.append(HTTPHeader("Authorization", header.revealString()))
        }
        let body = form.body(for: client)
        if definition.grants?[grant.rawValue]?.placement == "query" {
            request.url += (url.contains("?") ? "&" : "?") + FormEncoding.asQuery(body)
        } else {
            request.headers.append(HTTPHeader("Content-Type", FormRequest.contentType))
            request.body = body.revealBytes()
        }
        try hooks.prepare(&request, for: grant, self)
        return try await exchange(request, for: grant, wantsJSON: wantsJSON)
    }

    /// Sends a request in the user's name, once: renewing is the session's.
    public func send(
        _ request: HTTPRequest, with tokens: Tokens, wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        var request = request
        authorize(&request, with: tokens)
        return try await exchange(request, wantsJSON: wantsJSON)
    }

    /// Reads an answer that came by another way, a session's above all. What it throws may quote the request.
    public func read(_ response: HTTPResponse, of url: String) throws(AccountError) -> Reply {
        try read(response, from: host(of: url), for: nil, wantsJSON: true)
    }

    private func read(
        _ response: HTTPResponse, from host: String, for grant: GrantName?, wantsJSON: Bool
    ) throws(AccountError) -> Reply {
        let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits)
        if let failure = hooks.failure(of: response, json, self) { throw failure }
        guard 200..<300 ~= response.status else {
            throw failure(json, isEmpty: response.body.isEmpty, status: response.status, from: host, for: grant)
        }
        guard let json else {
            guard wantsJSON else { return Reply(json: .null, response: response) }
            throw AccountError(
                .malformedAnswer,
                message: "\(host) answered with HTTP \(response.status) and no readable JSON; try again later",
                status: response.status)
        }
        // Some servers refuse with 200.
        if let refusal = OAuthError(json), json["access_token"] == nil {
            throw failure(refusal, json, response.status, host, for: grant)
        }
        return Reply(json: try hooks.content(of: json, in: response, self), response: response)
    }

    private func failure(
        _ json: JSONValue?, isEmpty: Bool, status: Int, from host: String, for grant: GrantName?
    ) -> AccountError {
        if let json { return failure(OAuthError(json), json, status, host, for: grant) }
        if isEmpty,
            let rule = definition.errors?.first(where: { $0.empty == true && $0.fits(.null, status, "", grant) }),
            let code = AccountError.Code(reason: rule.reason)
        {
            return AccountError(
                code, message: rule.message ?? Self.sentence(code, host, status, nil), status: status)
        }
        let code = Self.code(status)
        return AccountError(
            code == .rejected ? .malformedAnswer : code,
            message: "\(host) answered with HTTP \(status) and no readable JSON", status: status)
    }

    private func failure(
        _ refusal: OAuthError?, _ json: JSONValue, _ status: Int, _ host: String, for grant: GrantName?
    ) -> AccountError {
        let words =
            refusal?.description
            ?? ["error_description", "description", "message", "error"].lazy.compactMap { json[$0]?.string }.first
        for rule in definition.errors ?? [] where rule.empty != true && rule.fits(json, status, words ?? "", grant) {
            guard let code = AccountError.Code(reason: rule.reason) else { continue }
            var error = AccountError(
                code, message: rule.message ?? Self.sentence(code, host, status, refusal?.code.rawValue),
                serverMessage: words.map(presentable), status: status)
            error.serverCause = (refusal?.code.rawValue ?? rule.error).map(presentable)
            return error
        }
        let code = refusal.map { Self.code($0.code, status) } ?? Self.code(status)
        var error = AccountError(
            code, message: Self.sentence(code, host, status, refusal?.code.rawValue),
            serverMessage: words.map(presentable), status: status)
        error.serverCause = refusal.map { presentable($0.code.rawValue) }
        return error
    }

    /// What the RFCs' names mean (6749, 5.2; 8628, 3.5; 6750, 3.1).
    private static func code(_ error: OAuthError.Code, _ status: Int) -> AccountError.Code {
        switch error {
        case .invalidGrant: .invalidGrant
        case .accessDenied: .accessDenied
        case .authorizationPending, .slowDown: .pending
        case .expiredToken: .codeExpired
        case .invalidToken: .expired
        case .insufficientScope: .insufficientScope
        case .invalidClient, .unauthorizedClient: .clientRefused
        case .unsupportedGrantType, .unsupportedResponseType, .invalidScope: .invalidConfiguration
        case .serverError, .temporarilyUnavailable: .serverFault
        default: code(status)
        }
    }

    private static func code(_ status: Int) -> AccountError.Code {
        switch status {
        case 300..<400: .moved
        case 401: .expired
        case 403: .forbidden
        case 429: .rateLimited
        case 500...: .serverFault
        default: .rejected
        }
    }

    static func sentence(_ code: AccountError.Code, _ host: String, _ status: Int, _ name: String?) -> String {
        let name = name.map { " (\(presentable($0)))" } ?? ""
        switch code {
        case .invalidGrant:
            return "\(host) does not accept what was given: it is wrong, used up or too old; sign in again"
        case .invalidCredentials: return "wrong user name or password"
        case .unknownUser: return "\(host) does not know the user: register first"
        case .unverifiedUser: return "the user's address is not confirmed yet"
        case .accessDenied: return "the sign-in was refused"
        case .codeExpired: return "the time to use the code is over; begin again"
        case .usedCode: return "the code has been used before; begin again"
        case .pending: return "nobody has answered the sign-in yet"
        case .expired: return "\(host) does not accept the session's token; sign in again"
        case .insufficientScope: return "the session may not do this: sign in with more scope"
        case .clientRefused: return "\(host) does not serve this client\(name); check its id and secret"
        case .invalidConfiguration: return "\(host) does not serve such a request\(name); check the provider's settings"
        case .moved: return "\(host) has moved (HTTP \(status)); credentials are not sent on: set the new base URL"
        case .rateLimited: return "\(host) asks to slow down; try again in some minutes"
        case .forbidden: return "the signed-in user may not do this"
        case .serverFault: return "\(host) has a fault of its own (HTTP \(status)); try again later"
        default: return "\(host) refused the request (HTTP \(status))\(name)"
        }
    }

    func host(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count > 2 ? presentable(String(parts[2].prefix { $0 != "?" })) : name
    }
}

extension ProviderDefinition.ErrorRule {
    func fits(_ json: JSONValue, _ status: Int, _ words: String, _ grant: GrantName?) -> Bool {
        if let wanted = self.grant, wanted != grant?.rawValue { return false }
        if let wanted = self.status, wanted != status { return false }
        if let says, !words.contains(says) { return false }
        guard let error else { return true }
        return json.text(at: at ?? "error") == error
    }
}

extension JSONValue {
    /// What stands at a path such as `code.value`, as text; numbers and truth values too.
    package func text(at path: String) -> String? {
        var value = self
        for name in path.split(separator: ".") {
            guard let next = value[String(name)] else { return nil }
            value = next
        }
        return value.plainText
    }

    /// A string, a number or a truth value as text.
    package var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .bool(let flag): "\(flag)"
        default: nil
        }
    }
}

extension FormEncoding {
    /// A form as a query: the same but for `+`, which not every reader takes for a space there.
    static func asQuery(_ form: Secret) -> String { form.revealString().replacing("+", with: "%20") }
}
