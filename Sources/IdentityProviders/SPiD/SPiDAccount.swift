// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// SPiD's services for a signed-in user: signing in at another client or in a browser, and attaching a third party's sign-in.
///
/// An app never sends its tokens to its backend. It sends a code that is valid for 30 seconds, which the backend redeems itself:
///
/// ```swift
/// let code = try await SPiDAccount(session, provider).code(for: .code(forClient: backendID))
/// ```
public struct SPiDAccount: Sendable {
    private let session: AccountSession
    private let provider: ConfiguredProvider
    private let hooks: SPiDExtension

    /// - Throws: `unsupported` for a provider that is not SPiD.
    public init(_ session: AccountSession, _ provider: ConfiguredProvider) throws(AccountError) {
        guard let hooks = provider.hooks as? SPiDExtension else {
            throw AccountError(
                .unsupported,
                message: "\(provider.title) cannot issue a code for another client; only SPiD can")
        }
        self.session = session
        self.provider = provider
        self.hooks = hooks
    }

    /// Returns a code that is valid once, for ``SPiDExchange/lifetime`` seconds.
    /// - Throws: `clientRefused` for a client of another merchant, `missingParameter` if a redirect URI is missing, and the errors of
    ///   ``AccountSession/send(_:)``.
    public func code(for exchange: SPiDExchange) async throws(AccountError) -> Secret {
        // Without a session the missing session is reported, not a missing client id.
        _ = try await session.userID()
        let data = try await post("exchange", exchange.fields(ownClient: try provider.clientID()))
        guard let code = SPiDExchange.code(in: data) else {
            throw AccountError(
                .malformedAnswer, message: "\(provider.title) answered without the requested code")
        }
        return code
    }

    /// Returns an address that signs in a browser as this user, once and within a minute, and then leads to `redirectURI`. It is as
    /// powerful as a password: show it to nobody else.
    public func webSession(forClient client: String? = nil, redirectURI: String) async throws(AccountError) -> Secret {
        // Without a session the missing session is reported, not a missing client id.
        _ = try await session.userID()
        let target: String
        if let client { target = client } else { target = try provider.clientID() }
        let code = try await code(for: .session(forClient: target, redirectURI: redirectURI))
        guard let base = provider["base"], let path = provider["sessionPath"] else {
            throw AccountError(.missingParameter, message: "\(provider.title) needs sessionPath for web sessions")
        }
        let begin = base + "/" + withoutFinalSlashes(String(path.drop { $0 == "/" }))
        return Secret(try secureURL(begin) + "/" + code.revealString())
    }

    /// Returns the page that ends a browser's own session at SPiD; signing out here does not end it. After that, the browser's next sign-in
    /// asks for the password again. The page leads to `redirectURI`, which must be registered, or otherwise to SPiD's sign-in page.
    ///
    /// The address contains no token, so none appears in a browser's history. ``AccountSession/signOut(everywhere:)`` ends this session.
    public func logoutPage(redirectURI: String? = nil) async throws(AccountError) -> String {
        var url =
            try await provider.endpoint("logoutPage") + "?client_id="
            + FormEncoding.encodedForQuery(try provider.clientID())
        if let redirectURI { url += "&redirect_uri=" + FormEncoding.encodedForQuery(redirectURI) }
        return url
    }

    /// Returns the signed-in user of the web session that the tokens came from.
    /// - Throws: `webSessionRequired` after a sign-in without a browser. Then only ``AccountSession/definition()`` gives the user.
    public func me() async throws(AccountError) -> UserInfo {
        let request = HTTPRequest(
            method: .get, url: try await provider.endpoint("me"), headers: HTTPRequest.usualHeaders)
        let reply = try await send(request)
        guard let user = provider.user(in: reply.json) else {
            throw AccountError(.malformedAnswer, message: "\(provider.title) answered without the user's id")
        }
        return user
    }

    /// Lets a third party's sign-in be used for this user too.
    public func attach(_ token: ThirdPartyToken) async throws(AccountError) {
        let ahead = try await session.serverIsAhead()
        let assertion = try await hooks.assertion(
            for: token, subject: .attach, use: "attachAssertion", serverIsAhead: ahead ?? 0, provider)
        _ = try await post("attachAssertion", [.init("jwt", assertion)])
    }

    /// Creates an account from a third party's sign-in. The session must be the client's own (`clientCredentials`).
    /// - Throws: `accountExists` if the account exists.
    public func register(_ token: ThirdPartyToken) async throws(AccountError) -> UserID {
        let assertion = try await hooks.assertion(
            for: token, subject: .registration, use: "signUpAssertion", provider)
        let data = try await post("signUpAssertion", [.init("jwt", assertion)])
        guard let id = SPiDUser.userID(data["userId"]) else {
            throw AccountError(.malformedAnswer, message: "\(provider.title) answered without the new user's id")
        }
        return id
    }

    private func post(_ use: String, _ fields: [FormRequest.Field]) async throws(AccountError) -> JSONValue {
        var request = HTTPRequest(
            method: .post, url: try await provider.endpoint(use), headers: HTTPRequest.usualHeaders,
            body: FormRequest(fields).body(for: .signed(clientID: "")).revealBytes())
        request.headers.append(HTTPHeader("Content-Type", FormRequest.contentType))
        return try await send(request).json
    }

    private func send(_ request: HTTPRequest) async throws(AccountError) -> ConfiguredProvider.Reply {
        let provider = provider
        return try await session.send(request) { response throws(AccountError) in
            try provider.read(response, of: request.url)
        }
    }
}

/// The purpose of a code for the signed-in user that another program redeems.
public enum SPiDExchange: Sendable, Equatable {
    /// Another client of the same merchant, usually a backend, redeems it for its own tokens within 30 seconds.
    case code(forClient: String, redirectURI: String? = nil)
    /// A browser redeems it within a minute for a session at SPiD, and is redirected to `redirectURI`, which must be registered.
    case session(forClient: String, redirectURI: String)

    /// The lifetime of the code in seconds (SPiD's documentation, "Login").
    public var lifetime: Double {
        switch self {
        case .code: 30
        case .session: 60
        }
    }

    /// Returns the form of `POST /api/2/oauth/exchange`.
    fileprivate func fields(ownClient: String) -> [TokenRequest.Field] {
        var fields = [TokenRequest.Field("client_id", ownClient)]
        switch self {
        case .code(let client, let redirectURI):
            fields += [.init("clientId", client), .init("type", "code")]
            if let redirectURI { fields.append(.init("redirectUri", redirectURI)) }
        case .session(let client, let redirectURI):
            fields += [.init("clientId", client), .init("type", "session"), .init("redirectUri", redirectURI)]
        }
        return fields
    }

    /// Returns the code in the answer's data. It becomes part of a URL's path, so other characters are refused.
    static func code(in data: JSONValue) -> Secret? {
        guard let code = data["code"]?.string, (1...256).contains(code.utf8.count),
            code.utf8.allSatisfy({
                $0.isASCIILetterOrDigit || "-._~".utf8.contains($0)
            })
        else { return nil }
        return Secret(code)
    }
}
