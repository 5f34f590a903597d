// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// One installation of the RainMaker cloud: where its services are. All of it is configuration, none of it logic.
public struct Deployment: Sendable, Equatable {
    /// What a person calls it; also the name under which its session is stored.
    public var name: String
    /// The bare base: `v1/` is added here, and one that was given is taken off.
    public var base: ServiceURL
    /// The service that claims boards; nil where there is none.
    public var claim: ServiceURL?
    /// Where browsers sign in and codes become tokens; nil where there is only the password.
    public var authorization: ServiceURL?
    /// This client's id at ``authorization``.
    public var clientID: String?
    /// How browsers sign in there.
    public var webSignIn: WebSignIn
    /// A PEM file of authorities to trust instead of the system's.
    public var certificateAuthorities: String?

    public init(
        name: String, base: String, claim: String? = nil, authorization: String? = nil, clientID: String? = nil,
        certificateAuthorities: String? = nil, webSignIn: WebSignIn = .standard
    ) throws(AccountError) {
        _ = try CredentialKey(name)
        let given = try ServiceURL(base)
        self.name = name
        self.base = given.text.hasSuffix("/v1") ? try ServiceURL(String(given.text.dropLast(3))) : given
        self.claim = try Self.url(claim)
        self.authorization = try Self.url(authorization)
        self.clientID = clientID
        self.certificateAuthorities = certificateAuthorities
        self.webSignIn = webSignIn
    }

    /// What a stored session is bound to: where its tokens may be sent.
    package var sessionContext: [String: String] { ["base_url": base.text, "claim_url": claim?.text ?? ""] }

    private static func url(_ text: String?) throws(AccountError) -> ServiceURL? {
        guard let text else { return nil }
        return try ServiceURL(text)
    }

    // MARK: Espressif's own

    // Hosts and client ids as in Espressif's public apps and command-line client (esp-rainmaker-cli 1.14.1).
    /// Espressif's public cloud.
    public static let global = builtIn(
        "global", base: "https://api.rainmaker.espressif.com", claim: "https://esp-claiming.rainmaker.espressif.com",
        authorization: "https://3pauth.rainmaker.espressif.com", clientID: "1h7ujqjs8140n17v0ahb4n51m2",
        webSignIn: .builtIn(relay: "https://rainmaker-login-ui.s3.amazonaws.com/welcome.html"))
    /// Espressif's public cloud in China.
    public static let china = builtIn(
        "china", base: "https://api2.rainmaker.espressif.com.cn", claim: "https://claiming.rainmaker.espressif.com.cn",
        authorization: "https://api2.rainmaker.espressif.com.cn", clientID: "6m3FgmvJSt4g6pDrHgfpYj",
        // The one relay that is registered there has no https. What it passes on is of no use without our code verifier.
        webSignIn: .builtIn(
            authorizePath: "/authorize", tokenPath: "/token", scope: [],
            relay: "http://login.rainmaker.espressif.com.cn/welcome.html"))

    private static func builtIn(
        _ name: String, base: String, claim: String, authorization: String, clientID: String,
        webSignIn: WebSignIn
    ) -> Deployment {
        do throws(AccountError) {
            return try Deployment(
                name: name, base: base, claim: claim, authorization: authorization, clientID: clientID,
                webSignIn: webSignIn)
        } catch {
            preconditionFailure("a built-in deployment is not valid: \(error)")
        }
    }
}

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
