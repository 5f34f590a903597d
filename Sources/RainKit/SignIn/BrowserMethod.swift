// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker

/// A sign-in in the user's own browser: the page, how the browser returns, and how the page's address is shown.
public struct BrowserMethod: Sendable {
    /// Another identity provider behind the page, such as `github`.
    public var identityProvider: String?
    /// For providers: `authorizationCode` or `implicit`. If nil, the usual one of the provider (`ProviderDefinition.usualBrowserGrant`).
    public var grant: GrantName?
    /// The redirect URI that the client is registered with, instead of the known one of the page.
    public var redirectURI: String?
    /// How the browser returns; if nil, the usual route of the page.
    public var way: RedirectRoute.Way?
    /// The port to listen on; any free one if nil.
    public var port: UInt16?
    /// Whether to listen on no port, so that the address comes only through ``pasted``.
    public var onlyPasted = false
    /// Where the user may paste the address at which the browser ended.
    public var pasted: (any PastedAddresses)?
    /// The time limit for the page.
    public var limit = Duration.seconds(300)
    /// Registers this program's handler for a custom scheme, in a folder for its socket. Nil if there is no handler.
    public var schemeHandler: SchemeHandling?
    /// Called at once for answers that belong to another sign-in or another server. They are not used, and do not end the wait.
    public var report: ReportForeignAnswer?
    /// Shows the page to the user.
    public var show: ShowSignInPage

    /// How a scheme of the program's own is handled: see `SchemeHandler`.
    public struct SchemeHandling: Sendable {
        /// The folder for the socket, below `XDG_RUNTIME_DIR`.
        public var folder: @Sendable () throws(AccountError) -> String
        /// Makes this program the desktop's handler of the scheme (without `:`), before the page is shown. An error ends the sign-in.
        public var register: @Sendable (_ scheme: String) async throws(AccountError) -> Void

        public init(
            folder: @escaping @Sendable () throws(AccountError) -> String,
            register: @escaping @Sendable (_ scheme: String) async throws(AccountError) -> Void
        ) {
            self.folder = folder
            self.register = register
        }
    }

    public init(identityProvider: String? = nil, show: @escaping ShowSignInPage) {
        self.identityProvider = identityProvider
        self.show = show
    }

    func credentials(_ context: SignInContext) async throws(AccountError) -> SignInCredentials {
        let account = context.account
        if let provider = account.provider {
            let more = identityProvider.map { [(name: "identity_provider", value: $0)] } ?? []
            let page = try await provider.signInPage(grant ?? provider.definition.usualBrowserGrant, more)
            return try await answer(of: page, RedirectRoute(provider, redirectURI: redirectURI), context.tools)
        }
        guard let deployment = account.deployment else {
            throw AccountError(.unsupported, message: "\(account.name) has no sign-in page")
        }
        let page = try deployment.signInPage(identityProvider: identityProvider)
        return try await answer(of: page, RedirectRoute(deployment), context.tools)
    }

    private func answer(
        of page: AuthorizationServer, _ route: RedirectRoute, _ tools: RainKitTools
    ) async throws(AccountError) -> SignInCredentials {
        var random = tools.random
        let agent = try UserAgentChoice(method: self, route: route, tools: tools).agent()
        return try await page.signIn(through: agent, random: &random, hashes: tools.crypto)
    }
}

/// The addresses to which a sign-in page may send the browser afterwards.
public struct RedirectRoute: Sendable {
    /// How the browser returns.
    public enum Way: String, Sendable, CaseIterable { case loopback, relay, scheme }

    /// The name of the page's deployment or provider.
    public var name: String
    /// The route if none is chosen.
    public var usual: Way
    /// The path registered for 127.0.0.1 and ::1.
    public var loopbackPath = "/callback"
    /// The port registered for 127.0.0.1 and ::1; nil if any port may be used, or no port was registered.
    public var loopbackPort: UInt16?
    /// Whether the page compares the port as well, contrary to RFC 8252, section 7.3.
    public var comparesPort = false
    /// The registered page that redirects browsers to this machine.
    public var relay: String?
    /// Whether the relay page passes on a `state` with a random part after the port (`port:N:RANDOM`).
    public var relayTakesExtendedState = false
    /// The registered address with a custom scheme.
    public var schemeRedirect: String?

    /// Uses the addresses that the deployment has registered: its relay page if it has one, else this machine.
    public init(_ deployment: Deployment) {
        let web = deployment.webSignIn
        name = "the profile \(deployment.name)"
        usual = web.relay == nil ? .loopback : .relay
        loopbackPath = web.loopbackPath
        relay = web.relay
        relayTakesExtendedState = web.relayTakesExtendedState
        schemeRedirect = web.schemeRedirect
    }

    /// Uses the addresses of the provider's definition, or the one that the user gives.
    public init(_ provider: ConfiguredProvider, redirectURI: String? = nil) {
        name = provider.title
        let redirects = provider.definition.redirects ?? []
        for redirect in redirects {
            switch redirect.way {
            case "loopback":
                loopbackPath = redirect.path ?? loopbackPath
                comparesPort = redirect.exactPort ?? false
            case "relay": relay = relay ?? redirect.uri.flatMap { provider.url($0) }
            default: schemeRedirect = schemeRedirect ?? redirect.uri.flatMap { provider.url($0) }
            }
        }
        usual = redirects.first.flatMap { Way(rawValue: $0.way) } ?? .loopback
        if let redirectURI { take(redirectURI) }
    }

    private mutating func take(_ redirectURI: String) {
        if redirectURI.hasPrefix("http://127.0.0.1") || redirectURI.hasPrefix("http://[::1]") {
            usual = .loopback
            let rest = redirectURI.dropFirst(7)
            let path = rest.firstIndex(of: "/") ?? rest.endIndex
            loopbackPath = path == rest.endIndex ? "/" : String(rest[path...])
            loopbackPort = rest[..<path].split(separator: ":").last.flatMap { UInt16($0) }
        } else if redirectURI.hasPrefix("https://") || redirectURI.hasPrefix("http://") {
            // An answer that goes to another machine cannot be received here. The user pastes it.
            usual = .relay
            relay = redirectURI
        } else {
            usual = .scheme
            schemeRedirect = redirectURI
        }
    }
}

/// Chooses how to receive the browser's answer.
struct UserAgentChoice {
    var method: BrowserMethod
    var route: RedirectRoute
    var tools: RainKitTools

    private var way: RedirectRoute.Way { method.way ?? route.usual }

    func agent() throws(AccountError) -> any AuthorizationUserAgent {
        if method.onlyPasted { return try pasteAgent() }
        let (limit, show, pasted, report) = (method.limit, method.show, method.pasted, method.report)
        switch way {
        case .loopback:
            return LoopbackUserAgent(
                port: try loopbackPort() ?? 0, path: route.loopbackPath, pasted: pasted, within: limit, by: tools.timer,
                report: report, show: show)
        case .relay:
            return RelayUserAgent(
                relay: try relay(), port: method.port ?? 0, sendsExtendedState: route.relayTakesExtendedState,
                pasted: pasted, within: limit, by: tools.timer, report: report, show: show)
        case .scheme:
            let redirect = try schemeRedirect()
            guard let handling = method.schemeHandler else {
                throw AccountError(
                    .cannotListen, message: "this program has no handler for a custom scheme",
                    remedies: [.pastedAddress])
            }
            return CustomSchemeUserAgent(
                redirectURI: redirect, folder: try handling.folder(), pasted: pasted, within: limit, by: tools.timer,
                register: handling.register, report: report, show: show)
        }
    }

    private func pasteAgent() throws(AccountError) -> any AuthorizationUserAgent {
        guard let pasted = method.pasted else {
            throw AccountError(.invalidConfiguration, message: "this program offers no way to paste the page's answer")
        }
        return PasteUserAgent(
            redirectURI: try pasteTarget(), pasted: pasted, within: method.limit, by: tools.timer, show: method.show)
    }

    /// Returns a registered redirect URI at which no server needs to answer.
    private func pasteTarget() throws(AccountError) -> String {
        switch way {
        case .relay: return try relay()
        case .scheme: return try schemeRedirect()
        case .loopback:
            if let port = try loopbackPort() { return "http://127.0.0.1:\(port)\(route.loopbackPath)" }
            // Any port is accepted, so a port is chosen at which most likely no server answers.
            let bytes = tools.randomBytes(2)
            let port = 49152 + (Int(bytes[0]) << 8 | Int(bytes[1])) % 16384
            return "http://127.0.0.1:\(port)\(route.loopbackPath)"
        }
    }

    /// Returns the requested or registered port; nil if any port may be used.
    private func loopbackPort() throws(AccountError) -> UInt16? {
        if let port = method.port ?? route.loopbackPort { return port }
        guard route.comparesPort else { return nil }
        throw AccountError(
            .missingParameter,
            message:
                "\(route.name) compares redirect URIs exactly, including the port: register http://127.0.0.1:PORT\(route.loopbackPath) there, with a free port of this machine as PORT",
            remedies: [.otherCallbackPort])
    }

    private func relay() throws(AccountError) -> String {
        guard let relay = route.relay else { throw missing("relay page") }
        return relay
    }

    private func schemeRedirect() throws(AccountError) -> String {
        guard let redirect = route.schemeRedirect else { throw missing("redirect URI with a custom scheme") }
        return redirect
    }

    private func missing(_ what: String) -> AccountError {
        AccountError(
            .invalidConfiguration, message: "\(route.name) has no \(what)", remedies: [.otherRedirect])
    }
}
