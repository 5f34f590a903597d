// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// One installation of the RainMaker cloud: the addresses of its services. It holds configuration only, no logic.
public struct Deployment: Sendable, Equatable {
    /// The name that the user sees, and under which the deployment's session is stored.
    public var name: String
    /// The base URL without `v1/`, which each call adds. The initializer removes `/v1` from the end.
    public var base: ServiceURL
    /// The service that claims boards, or nil if there is none.
    public var claim: ServiceURL?
    /// The server where browsers sign in and codes are exchanged for tokens, or nil if sign-in is by password only.
    public var authorization: ServiceURL?
    /// The client id of this program at ``authorization``.
    public var clientID: String?
    /// The paths, scope and redirects for sign-in by browser.
    public var webSignIn: WebSignIn
    /// The path of a PEM file with certificate authorities, which replace those of the system.
    public var certificateAuthorities: String?
    /// The other services of a RainMaker Neo deployment, whose main API is ``base``; nil for RainMaker's own cloud.
    public var neo: NeoServices?

    public init(
        name: String, base: String, claim: String? = nil, authorization: String? = nil, clientID: String? = nil,
        certificateAuthorities: String? = nil, webSignIn: WebSignIn = .standard, neo: NeoServices? = nil
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
        self.neo = neo
    }

    /// The addresses to which the tokens of a stored session may be sent. The session is bound to them.
    package var sessionContext: [String: String] { ["base_url": base.text, "claim_url": claim?.text ?? ""] }

    private static func url(_ text: String?) throws(AccountError) -> ServiceURL? {
        guard let text else { return nil }
        return try ServiceURL(text)
    }

    // MARK: Espressif's own

    // The hosts and client ids are those of Espressif's public apps and command-line client (esp-rainmaker-cli 1.14.1).
    /// Espressif's public cloud.
    public static let global = builtIn(
        "global", base: "https://api.rainmaker.espressif.com", claim: "https://esp-claiming.rainmaker.espressif.com",
        authorization: "https://3pauth.rainmaker.espressif.com", clientID: "1h7ujqjs8140n17v0ahb4n51m2",
        webSignIn: .builtIn(relay: "https://rainmaker-login-ui.s3.amazonaws.com/welcome.html"))
    /// Espressif's public cloud in China.
    public static let china = builtIn(
        "china", base: "https://api2.rainmaker.espressif.com.cn", claim: "https://claiming.rainmaker.espressif.com.cn",
        authorization: "https://api2.rainmaker.espressif.com.cn", clientID: "6m3FgmvJSt4g6pDrHgfpYj",
        // The only relay that is registered there has no https. An answer that it forwards cannot be used without our code verifier.
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

/// How browsers sign in at one deployment: the paths, the scope, and the addresses to which the sign-in page may redirect.
public struct WebSignIn: Sendable, Equatable {
    /// The path of the sign-in page, below the authorization URL.
    public var authorizePath: String
    /// The path that exchanges codes for tokens, below the authorization URL.
    public var tokenPath: String
    /// The scope that a sign-in requests. If it is empty, the deployment decides.
    public var scope: [String]
    /// The page that redirects the browser to `http://localhost:N/`, or nil if there is none. The state contains N as `port:N`.
    public var relay: String?
    /// Whether the relay accepts a random part after the port, and forwards the whole state.
    public var relayTakesExtendedState: Bool
    /// The path that is registered for the loopback addresses.
    public var loopbackPath: String
    /// The registered redirect URI with an application's own scheme, or nil if there is none.
    public var schemeRedirect: String?

    /// The scope that the hosted pages of Amazon Cognito offer to sign-in clients. RainMaker's deployments use these pages.
    public static let cognitoScope = ["aws.cognito.signin.user.admin", "email", "openid", "phone", "profile"]

    /// - Throws: `invalidConfiguration` for a path that does not begin with `/`, or an invalid redirect URI.
    public init(
        authorizePath: String = "/oauth2/authorize", tokenPath: String = "/oauth2/token",
        scope: [String] = Self.cognitoScope, relay: String? = nil, relayTakesExtendedState: Bool = false,
        loopbackPath: String = "/callback", schemeRedirect: String? = nil
    ) throws(AccountError) {
        for path in [authorizePath, tokenPath, loopbackPath] {
            guard path.hasPrefix("/"),
                path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\"<>\\".utf8.contains($0) })
            else {
                throw AccountError(.invalidConfiguration, message: "\"\(path)\" is not a path: a path begins with /")
            }
        }
        if let relay { _ = try redirectURI(relay) }
        if let schemeRedirect {
            guard CallbackFolder.scheme(of: try redirectURI(schemeRedirect).text) != nil else {
                throw AccountError(
                    .invalidConfiguration,
                    message:
                        "\"\(schemeRedirect)\" has no custom scheme, such as com.example.app:/callback"
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

    /// The usual settings: a redirect to a loopback address.
    public static let standard = builtIn()

    fileprivate static func builtIn(
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
    /// Returns the sign-in page, for one of the identity providers behind it, or for the user to choose there.
    ///
    /// - Parameter identityProvider: the names `github`, `google` and `apple` are known. Any other name is sent to the deployment
    ///   unchanged.
    /// - Throws: `invalidConfiguration` if the deployment has no sign-in page, or no client id is configured for it.
    public func signInPage(identityProvider: String? = nil) throws(AccountError) -> AuthorizationServer {
        guard let authorization, let clientID, !clientID.isEmpty else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "the deployment \(name) has no sign-in page for browsers, or no client id is configured for it")
        }
        var server = AuthorizationServer(
            authorizeURL: authorization.text + webSignIn.authorizePath,
            tokenURL: authorization.text + webSignIn.tokenPath, clientID: clientID, scope: webSignIn.scope)
        // Only OpenID Connect defines a nonce. The ID token must repeat a nonce that was sent.
        server.usesNonce = webSignIn.scope.contains("openid")
        if let identityProvider {
            server.parameters = [("identity_provider", Self.cloudsName(of: identityProvider))]
        }
        return server
    }

    /// Returns the name that the RainMaker apps send to the sign-in page.
    private static func cloudsName(of identityProvider: String) -> String {
        switch identityProvider.lowercased() {
        case "github": "GitHub"
        case "google": "Google"
        case "apple": "SignInWithApple"
        default: identityProvider
        }
    }
}
