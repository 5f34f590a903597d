// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker

/// A sign-in in the person's own browser: which page, how the browser comes back, and who shows the page's address.
public struct BrowserMethod: Sendable {
    /// Another identity provider behind the page, such as `github`.
    public var identityProvider: String?
    /// For providers: `authorizationCode` or `implicit`; as people usually sign in there if nil
    /// (`ProviderDefinition.usualBrowserGrant`).
    public var grant: GrantName?
    /// Where the client is registered to be sent, in the place of what is known of the page.
    public var redirectURI: String?
    /// How the browser comes back; as the page has it if nil.
    public var way: RedirectRoute.Way?
    /// The port to listen on; any free one if nil.
    public var port: UInt16?
    /// Whether nothing listens, and the address comes through ``pasted`` alone.
    public var onlyPasted = false
    /// Where a person may paste the address that the browser ended on.
    public var pasted: (any PastedAddresses)?
    /// How long the page may take.
    public var limit = Duration.seconds(300)
    /// Makes the desktop start this program's handler for a scheme of its own, in a folder for its socket. Nil where there is none.
    public var schemeHandler: SchemeHandling?
    /// Is told at once of answers that belong to another sign-in or another server. They are not used, and do not end the wait.
    public var report: ReportForeignAnswer?
    /// Takes the person to the page.
    public var show: ShowSignInPage

    /// How a scheme of the program's own is handled: see `SchemeHandler`.
    public struct SchemeHandling: Sendable {
        /// The folder for the socket, below `XDG_RUNTIME_DIR`.
        public var folder: @Sendable () throws(AccountError) -> String
        /// Makes this program the desktop's handler of the scheme (without `:`), before the page is shown. Its error ends the sign-in.
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

/// Where a sign-in page may send the browser afterwards.
public struct RedirectRoute: Sendable {
    /// How the browser comes back.
    public enum Way: String, Sendable, CaseIterable { case loopback, relay, scheme }

    /// Whose page it is.
    public var name: String
    /// The way where none is chosen.
    public var usual: Way
    /// The path registered for 127.0.0.1 and ::1.
    public var loopbackPath = "/callback"
    /// The port registered for 127.0.0.1 and ::1; nil where any may be chosen, or none was named.
    public var loopbackPort: UInt16?
    /// Whether the page compares the port as well, against RFC 8252, section 7.3.
    public var comparesPort = false
    /// The registered page that sends browsers on to this machine.
    public var relay: String?
    /// Whether the relay page hands on a `state` that has a random part behind the port (`port:N:RANDOM`).
    public var relayTakesExtendedState = false
    /// The registered address with a scheme of its own.
    public var schemeRedirect: String?

    /// As the deployment has registered its sign-in page: through its relay page if it has one, else to this machine.
    public init(_ deployment: Deployment) {
        let web = deployment.webSignIn
        name = "the profile \(deployment.name)"
        usual = web.relay == nil ? .loopback : .relay
        loopbackPath = web.loopbackPath
        relay = web.relay
        relayTakesExtendedState = web.relayTakesExtendedState
        schemeRedirect = web.schemeRedirect
    }

    /// As the provider's definition has it, or as the person says.
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
            // Nothing here can hear what goes to another machine: it is pasted.
            usual = .relay
            relay = redirectURI
        } else {
            usual = .scheme
            schemeRedirect = redirectURI
        }
    }
}

/// Chooses how a browser's answer is heard.
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
                    .cannotListen, message: "this program has no handler for addresses of a scheme of its own",
                    remedies: [.pastedAddress])
            }
            return CustomSchemeUserAgent(
                redirectURI: redirect, folder: try handling.folder(), pasted: pasted, within: limit, by: tools.timer,
                register: handling.register, report: report, show: show)
        }
    }

    private func pasteAgent() throws(AccountError) -> any AuthorizationUserAgent {
        guard let pasted = method.pasted else {
            throw AccountError(.invalidConfiguration, message: "nobody can paste the page's answer here")
        }
        return PasteUserAgent(
            redirectURI: try pasteTarget(), pasted: pasted, within: method.limit, by: tools.timer, show: method.show)
    }

    /// A registered redirect URI at which nothing needs to answer.
    private func pasteTarget() throws(AccountError) -> String {
        switch way {
        case .relay: return try relay()
        case .scheme: return try schemeRedirect()
        case .loopback:
            if let port = try loopbackPort() { return "http://127.0.0.1:\(port)\(route.loopbackPath)" }
            // Any port will do, so one at which hardly anything answers.
            let bytes = tools.randomBytes(2)
            let port = 49152 + (Int(bytes[0]) << 8 | Int(bytes[1])) % 16384
            return "http://127.0.0.1:\(port)\(route.loopbackPath)"
        }
    }

    /// The port that is asked for or registered; nil where any will do.
    private func loopbackPort() throws(AccountError) -> UInt16? {
        if let port = method.port ?? route.loopbackPort { return port }
        guard route.comparesPort else { return nil }
        throw AccountError(
            .missingParameter,
            message:
                "\(route.name) compares redirect URIs exactly, the port too: register http://127.0.0.1:PORT\(route.loopbackPath) there, PORT being a free one of this machine",
            remedies: [.otherCallbackPort])
    }

    private func relay() throws(AccountError) -> String {
        guard let relay = route.relay else { throw missing("relay page") }
        return relay
    }

    private func schemeRedirect() throws(AccountError) -> String {
        guard let redirect = route.schemeRedirect else { throw missing("redirect URI with a scheme of its own") }
        return redirect
    }

    private func missing(_ what: String) -> AccountError {
        AccountError(
            .invalidConfiguration, message: "\(route.name) has no \(what)", remedies: [.otherRedirect])
    }
}
