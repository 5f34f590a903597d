// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// How browsers sign in at one deployment: paths, scope, and where its sign-in page may send them afterwards.
public struct WebSignIn: Sendable, Equatable {
    /// Below the authorization URL.
    public var authorizePath: String
    /// Where codes become tokens, below the authorization URL.
    public var tokenPath: String
    /// What a sign-in asks for; empty leaves it to the deployment.
    public var scope: [String]
    /// The page that sends the browser on to `http://localhost:N/`, N being in the state (`port:N`); nil where there is none.
    public var relay: String?
    /// Whether the relay lets a random part stand behind the port, and hands the whole state on.
    public var relayTakesExtendedState: Bool
    /// The path that is registered for the loopback addresses.
    public var loopbackPath: String
    /// The registered redirect URI with a scheme of its own; nil where there is none.
    public var schemeRedirect: String?

    /// What the hosted pages of Amazon Cognito, which RainMaker's deployments use, offer to sign-in clients.
    public static let cognitoScope = ["aws.cognito.signin.user.admin", "email", "openid", "phone", "profile"]

    /// - Throws: `invalidConfiguration` for a path without `/` in front and for a redirect URI that is none.
    public init(
        authorizePath: String = "/oauth2/authorize", tokenPath: String = "/oauth2/token",
        scope: [String] = Self.cognitoScope, relay: String? = nil, relayTakesExtendedState: Bool = false,
        loopbackPath: String = "/callback", schemeRedirect: String? = nil
    ) throws(AccountError) {
        for path in [authorizePath, tokenPath, loopbackPath] {
            guard path.hasPrefix("/"),
                path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\"<>\\".utf8.contains($0) })
            else {
                throw AccountError(.invalidConfiguration, message: "\"\(path)\" is not a path: it begins with /")
            }
        }
        if let relay { _ = try redirectURI(relay) }
        if let schemeRedirect {
            guard CallbackFolder.scheme(of: try redirectURI(schemeRedirect).text) != nil else {
                throw AccountError(
                    .invalidConfiguration,
                    message:
                        "\"\(schemeRedirect)\" has no scheme of an application's own, such as com.example.app:/callback"
                )
            }
        }
        self.authorizePath = authorizePath
        self.tokenPath = tokenPath
        self.scope = scope
        self.relay = relay
        self.relayTakesExtendedState = relayTakesExtendedState
        self.loopbackPath = loopbackPath
        self.schemeRedirect = schemeRedirect
    }

    /// Everything as it usually is, the redirect being to a loopback address.
    public static let standard = builtIn()

    static func builtIn(
        authorizePath: String = "/oauth2/authorize", tokenPath: String = "/oauth2/token",
        scope: [String] = Self.cognitoScope, relay: String? = nil
    ) -> WebSignIn {
        do throws(AccountError) {
            return try WebSignIn(authorizePath: authorizePath, tokenPath: tokenPath, scope: scope, relay: relay)
        } catch {
            preconditionFailure("a built-in sign-in is not valid: \(error)")
        }
    }
}
