// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto

extension ConfiguredProvider {
    /// The page at which a browser signs in, for a code or, with the implicit grant, for tokens at once.
    /// - Parameter more: parameters of this one sign-in, such as `prompt`.
    /// - Throws: `unsupported`, with the definition's words for why, for a grant that the provider does not have; `missingParameter`
    ///   where the code could not be redeemed for want of the client's secret.
    public func signInPage(
        _ grant: GrantName = .authorizationCode, _ more: [(name: String, value: String)] = []
    ) async throws(AccountError) -> AuthorizationServer {
        try demand(grant)
        try hooks.check(self)
        let isImplicit = grant == .implicit
        // Nobody signs in at a page for a code that is worth nothing here.
        if !isImplicit { _ = try await client(for: grant) }
        let rules = definition.grants?[grant.rawValue]
        var server = AuthorizationServer(
            authorizeURL: try await endpoint("authorize"), tokenURL: isImplicit ? "" : try await endpoint("token"),
            clientID: try clientID(), scope: scope, issuer: try await issuer())
        server.responseType = isImplicit ? .token : .code
        server.usesCodeChallenge = rules?.pkce != "none"
        server.answersWithoutParameters = rules?.answersWithoutParameters ?? false
        server.usesNonce = rules?.nonce ?? false
        if definition.discovery != nil { server.namesIssuer = try await serverMetadata().namesIssuerInResponses }
        for (name, template) in (rules?.authorizeParameters ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let text = text(template) { server.parameters.append((name, text)) }
        }
        server.parameters += more
        return server
    }

    /// Takes the person to the sign-in page and comes back with what it answered.
    public func signInThroughBrowser(
        _ grant: GrantName = .authorizationCode, by agent: any AuthorizationUserAgent
    ) async throws(AccountError) -> SignInCredentials {
        var random = tools.randomSource
        return try await signInPage(grant).signIn(through: agent, random: &random, with: tools.hashes)
    }
}

extension AuthorizationServer {
    fileprivate func signIn(
        through agent: any AuthorizationUserAgent, random: inout ProviderTools.Random, with hashes: any Hashes.Type
    ) async throws(AccountError) -> SignInCredentials {
        try await signIn(through: agent, random: &random, hashes: hashes)
    }
}
