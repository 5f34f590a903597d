// SPDX-License-Identifier: Apache-2.0
extension AccountSession {
    /// Signs in with what a person brings from elsewhere, a browser above all. The store is tried first, so that nobody signs in
    /// at a page for a session that then cannot be kept.
    ///
    /// ```swift
    /// let page = try Deployment.global.signInPage(identityProvider: "github")
    /// let user = try await session.signIn { () async throws(AccountError) in
    ///     var random = OpenSSLRandom()
    ///     return try await page.signIn(through: agent, random: &random, hashes: OpenSSLHashes.self)
    /// }
    /// ```
    public func signIn(
        with credentials: @Sendable () async throws(AccountError) -> SignInCredentials
    ) async throws(AccountError) -> UserInfo {
        try await probeStore()
        return try await signIn(try await credentials())
    }
}
