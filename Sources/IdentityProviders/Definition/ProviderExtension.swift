// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// The behavior of a provider that its definition cannot express. Each step has a default, so an extension implements only the differences.
/// It stores nothing.
public protocol ProviderExtension: Sendable {
    /// Signs in in the provider's own way. Nil means: use the default.
    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens?

    /// Called before a request to the token endpoint, or with the client's credentials, is sent. It may sign the request.
    func prepare(
        _ request: inout HTTPRequest, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError)

    /// Called with the tokens of a token response. It may add values from the response.
    func complete(
        _ tokens: inout Tokens, from reply: JSONValue, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError)

    /// Returns the meaning of a failure. Nil means: use the definition's rules. It is called for every answer with any status, because some
    /// services refuse with 200.
    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError?

    /// Returns the content of an envelope, after `failure` found no failure.
    func content(
        of json: JSONValue, in response: HTTPResponse, _ provider: ConfiguredProvider
    ) throws(AccountError) -> JSONValue

    /// Renews in the provider's own way. Nil means: use the default.
    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens?

    /// Fetches the user in the provider's own way. Nil means: use the default.
    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo?

    /// Ends the session in the provider's own way, and returns the tokens that are still valid. Nil means: use the default.
    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport?

    /// Adds the proof to a request in the provider's own way. False means: use the definition's placement.
    func authorize(_ request: inout HTTPRequest, with tokens: Tokens, _ provider: ConfiguredProvider) -> Bool

    /// Returns settings that sessions are bound to, in addition to ``ProviderDefinition/context``.
    func context(of provider: ConfiguredProvider) -> [String: String]

    /// Checks that the settings can be used, before the user sees the sign-in page. Sends nothing.
    func check(_ provider: ConfiguredProvider) throws(AccountError)

    /// The realm in the provider's own challenges (RFC 9110, section 11.5); nil if it has none. Another realm belongs to a server in front.
    var realm: String? { get }
}

extension ProviderExtension {
    public func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens? { nil }

    public func prepare(
        _ request: inout HTTPRequest, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError) {}

    public func complete(
        _ tokens: inout Tokens, from reply: JSONValue, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError) {}

    public func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError?
    {
        nil
    }

    public func content(
        of json: JSONValue, in response: HTTPResponse, _ provider: ConfiguredProvider
    ) throws(AccountError) -> JSONValue { json }

    public func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens? { nil }

    public func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo? { nil }

    public func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport? { nil }

    public func authorize(
        _ request: inout HTTPRequest, with tokens: Tokens, _ provider: ConfiguredProvider
    ) -> Bool { false }

    public func context(of provider: ConfiguredProvider) -> [String: String] { [:] }

    public func check(_ provider: ConfiguredProvider) throws(AccountError) {}

    public var realm: String? { nil }
}

/// The extension of providers whose definition is complete.
public struct NoExtension: ProviderExtension {
    public init() {}
}
