// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What a provider does that its definition cannot say. Each step has the engine's own behaviour as its default: an extension writes
/// only what is different, and keeps nothing.
public protocol ProviderExtension: Sendable {
    /// Signs in in a way of its own; nil leaves it to the engine.
    func signIn(
        _ credentials: SignInCredentials, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> Tokens?

    /// Looks at a request to the token endpoint, or one with the client's credentials, before it is sent: may sign it.
    func prepare(
        _ request: inout HTTPRequest, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError)

    /// Looks at what came of a token response, and takes what else is in it.
    func complete(
        _ tokens: inout Tokens, from reply: JSONValue, for grant: GrantName, _ provider: ConfiguredProvider
    ) throws(AccountError)

    /// What an answer that is no success means; nil leaves it to the definition's rules. Called for every answer, whatever its status:
    /// some services refuse with 200.
    func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError?

    /// Takes the content out of an envelope, once it is no failure.
    func content(
        of json: JSONValue, in response: HTTPResponse, _ provider: ConfiguredProvider
    ) throws(AccountError) -> JSONValue

    /// Renews in a way of its own; nil leaves it to the engine.
    func renew(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(RenewalError) -> Tokens?

    /// Fetches the user in a way of its own; nil leaves it to the engine.
    func user(_ tokens: Tokens, _ provider: ConfiguredProvider) async throws(AccountError) -> UserInfo?

    /// Ends the session in a way of its own, and says what it could not end; nil leaves it to the engine.
    func signOut(
        _ tokens: Tokens, everywhere: Bool, _ provider: ConfiguredProvider
    ) async throws(AccountError) -> SignOutReport?

    /// Puts the proof on a request in a way of its own; false leaves it to the definition's placement.
    func authorize(_ request: inout HTTPRequest, with tokens: Tokens, _ provider: ConfiguredProvider) -> Bool

    /// What sessions are bound to beside the definition's own ``ProviderDefinition/context``.
    func context(of provider: ConfiguredProvider) -> [String: String]

    /// Makes sure that the settings can be used, before a person is taken to the sign-in page. Nothing is sent.
    func check(_ provider: ConfiguredProvider) throws(AccountError)

    /// The realm in the provider's own challenges (RFC 9110, section 11.5). Nil where it has none. Another realm is that of a server in front.
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

/// For providers whose definition says all.
public struct NoExtension: ProviderExtension {
    public init() {}
}
