// SPDX-License-Identifier: Apache-2.0
import RainAccount

extension Deployment {
    /// The sign-in page, for one of the identity providers behind it, or for the person to choose there.
    ///
    /// - Parameter identityProvider: `github`, `google` and `apple` are known by these names; any other goes to the deployment as
    ///   it is.
    /// - Throws: `invalidConfiguration` if the deployment has no sign-in page, or we have no client id there.
    public func signInPage(identityProvider: String? = nil) throws(AccountError) -> AuthorizationServer {
        guard let authorization, let clientID, !clientID.isEmpty else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "the deployment \(name) has no sign-in page for browsers, or no client id for us is known there")
        }
        var server = AuthorizationServer(
            authorizeURL: authorization.text + webSignIn.authorizePath,
            tokenURL: authorization.text + webSignIn.tokenPath, clientID: clientID, scope: webSignIn.scope)
        // Only OpenID Connect knows a nonce; the id token must repeat one that was sent.
        server.usesNonce = webSignIn.scope.contains("openid")
        if let identityProvider {
            server.parameters = [("identity_provider", Self.cloudsName(of: identityProvider))]
        }
        return server
    }

    /// As the RainMaker apps name them to the sign-in page.
    private static func cloudsName(of identityProvider: String) -> String {
        switch identityProvider.lowercased() {
        case "github": "GitHub"
        case "google": "Google"
        case "apple": "SignInWithApple"
        default: identityProvider
        }
    }
}
