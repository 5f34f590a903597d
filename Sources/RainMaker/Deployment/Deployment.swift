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
