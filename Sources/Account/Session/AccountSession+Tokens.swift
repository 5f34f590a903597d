// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON
import RainCore

/// A stored session without its secrets: fit to be shown.
public struct SessionStatus: Sendable, Equatable {
    /// The provider's name, such as `rainmaker`.
    public var provider: String
    /// Whose session it is, by the provider's id.
    public var userID: UserID
    /// What the user signed in with, such as an e-mail address.
    public var userName: String
    /// When the access token came, by this machine's clock.
    public var received: UnixTime
    /// When the access token expires, by this machine's clock; nil if nobody said.
    public var expires: UnixTime?
    /// Whether the access token is beyond its end.
    public var hasExpired: Bool
    /// Whether new tokens can be had without the user.
    public var isRenewable: Bool
    /// What kind of proof the session holds.
    public var kind = CredentialKind.oauth
    /// When what renews it expires itself, by this machine's clock; nil if nobody said.
    public var refreshExpires: UnixTime?
    /// What the provider said about the user at sign-in, in its own words.
    public var attributes: [JSONValue.Member] = []
}

/// What scripts and gateways need when another program makes the requests.
extension AccountSession {
    /// What is stored of the session: nothing is sent.
    public func status() async throws(AccountError) -> SessionStatus { keeper.status(of: try await keeper.stored()) }

    /// An access token that is good for a while, renewed first if it is not.
    ///
    /// Send it nowhere but to the provider's services (``isForTokens(_:)``).
    /// - Throws: `unsupported` for a session that holds a password in its place, which is not handed out.
    public func accessToken() async throws(AccountError) -> Secret {
        let tokens = try await keeper.fresh().tokens
        guard tokens.kind != .basic else {
            throw AccountError(
                .unsupported,
                message:
                    "the session at \(provider.title) holds the user's password and no token; the password is not handed out: make requests with the session, or sign in by OAuth 2.0"
            )
        }
        return tokens.access
    }

    /// What a request made now carries to prove who asks, with a token that is good for a while.
    /// - Parameter urls: where the requests go. What opens a server in front of the provider is handed out only if all of them go there.
    public func requestProof(for urls: [String] = []) async throws(AccountError) -> RequestProof {
        RequestProof(of: provider, with: try await keeper.fresh().tokens, for: urls)
    }

    /// The `Authorization` header of a request made now, with a token that is good for a while.
    ///
    /// A token that the provider takes in the URL is put into a header as well: services that take tokens at all take them there
    /// (RFC 6750, section 2.1).
    /// - Throws: `invalidConfiguration` for a session that has no token, such as a portal's cookies.
    public func authorization() async throws(AccountError) -> (name: String, value: Secret) {
        let tokens = try await keeper.fresh().tokens
        let proof = RequestProof(of: provider, with: tokens, for: [])
        if let header = proof.headers.first(where: { $0.name.lowercased() == "authorization" }) { return header }
        guard tokens.kind == .oauth, !proof.query.isEmpty else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "\(provider.title) takes no Authorization header for this session: make requests with the session")
        }
        return ("Authorization", Secret("Bearer ".utf8 + tokens.access.revealBytes()))
    }

    /// Renews the tokens now, however long the old ones would still live.
    ///
    /// If another process does so meanwhile, its tokens are taken.
    /// - Throws: `notRenewable` for a session that lives and has nothing to be renewed with.
    public func renew() async throws(AccountError) -> SessionStatus {
        keeper.status(of: try await keeper.renewed(try await keeper.stored()))
    }

    /// An access token for a backend of the user's own, which takes it as `Authorization: Bearer`.
    /// - Throws: `invalidConfiguration` for a session that holds a password or a cookie in its place.
    package func bearerToken() async throws(AccountError) -> Secret {
        let tokens = try await keeper.fresh().tokens
        try check(tokens)
        return tokens.access
    }

    /// Makes sure that the stored session has an access token: nothing is sent. Throws `invalidConfiguration` as ``bearerToken()`` does.
    package func checkHasToken() async throws(AccountError) { try check(try await keeper.stored().tokens) }

    private func check(_ tokens: Tokens) throws(AccountError) {
        guard tokens.kind != .oauth else { return }
        let content =
            switch tokens.kind {
            case .basic: "the user's password"
            case .cookie: "a web session's cookies"
            default: "another proof (\(tokens.kind.rawValue))"
            }
        let modes = provider.modesWithToken
        throw AccountError(
            .invalidConfiguration,
            message:
                "the session at \(provider.title) holds \(content) and no access token, and the backend needs one: sign in by OAuth 2.0",
            remedies: modes.isEmpty ? [] : [.signInMode(provider: provider.name, modes: modes)])
    }

    /// The token to try after a backend of the user's own did not accept that one; nil where there is none. The session goes on: only its
    /// provider can end it.
    package func bearerToken(replacing rejected: Secret) async throws(AccountError) -> Secret? {
        let tokens = try await keeper.stored().tokens
        guard tokens.access == rejected else { return tokens.access }
        guard tokens.haveRenewal else { return nil }
        return try await keeper.renewed(replacing: rejected).tokens.access
    }

    /// Whether a URL is one of the provider's services, where alone its tokens belong.
    public func isForTokens(_ url: String) -> Bool {
        provider.resources.contains { $0.isBase(of: url) }
    }
}
