import Glibc
import RainKit
import RainCore

/// A sign-in through the person's own browser, as the options and the surroundings have it.
struct BrowserSignIn: Sendable {
    private let options: BrowserOptions
    private let context: Context
    private let route: BrowserRoute
    private let limit: Duration
    private let desktop: DesktopSession
    private let way: RedirectWay

    /// Throws `usage` where nobody can be asked and nothing else was asked for.
    init(_ options: BrowserOptions, _ context: Context, _ route: BrowserRoute, within limit: Duration)
        throws(CommandFailure)
    {
        self.options = options
        self.context = context
        self.route = route
        self.limit = limit
        desktop = DesktopSession(environment: context.environment)
        way = options.redirect ?? route.usual

        let listensOnRequest = options.browser || options.callbackPort != nil || options.redirect != nil
        guard context.mayAsk || listensOnRequest && !options.paste || options.paste && !StandardStreams.inIsTerminal
        else {
            throw CommandFailure(
                .usage, reason: "nobody_to_ask",
                message:
                    "Nobody can be asked here. Use --browser to open one and wait for it, --callback-port PORT to wait "
                    + "for one that is opened elsewhere, or --paste with the address on standard input.")
        }
    }

    /// Shows the page and waits for its answer.
    func credentials(at page: AuthorizationServer) async throws(AccountError) -> SignInCredentials {
        var random = OpenSSLRandom()
        return try await page.signIn(through: try agent(), random: &random, hashes: OpenSSLHashes.self)
    }

    private var opensBrowser: Bool {
        options.browser || !options.noBrowser && !options.paste && desktop.opensBrowser
    }

    private func agent() throws(AccountError) -> any AuthorizationUserAgent {
        let web = route
        if options.paste {
            return PasteUserAgent(
                redirectURI: try pasteTarget(), pasted: addresses(), within: limit, show: show(pasteIsOffered: true))
        }
        let pasted: DescriptorAddresses? = context.mayAsk ? addresses() : nil
        let show = show(pasteIsOffered: pasted != nil)
        switch way {
        case .loopback:
            return LoopbackUserAgent(
                port: options.callbackPort ?? 0, path: web.loopbackPath, pasted: pasted, within: limit, show: show)
        case .relay:
            return RelayUserAgent(
                relay: try relay(), port: options.callbackPort ?? 0, sendsExtendedState: web.relayTakesExtendedState,
                pasted: pasted, within: limit, show: show)
        case .scheme:
            let handler = SchemeHandler(
                name: "rainctl", command: [try ownPath(), "account", "callback"],
                dataFolder: context.folders.data, environment: context.environmentOfPrograms)
            return CustomSchemeUserAgent(
                redirectURI: try schemeRedirect(), folder: try context.folders.runtimeFolder(), pasted: pasted,
                within: limit,
                register: { scheme throws(AccountError) in try await handler.register(scheme: scheme) }, show: show)
        }
    }

    /// A registered redirect URI at which nothing needs to answer.
    private func pasteTarget() throws(AccountError) -> String {
        switch way {
        case .relay: return try relay()
        case .scheme: return try schemeRedirect()
        case .loopback:
            // Any port will do, so one at which hardly anything answers.
            let bytes = SystemRandom.bytes(2)
            let port = 49152 + (Int(bytes[0]) << 8 | Int(bytes[1])) % 16384
            return "http://127.0.0.1:\(port)\(route.loopbackPath)"
        }
    }

    private func relay() throws(AccountError) -> String {
        guard let relay = route.relay else { throw missing("relay page", "--relay-url") }
        return relay
    }

    private func schemeRedirect() throws(AccountError) -> String {
        guard let redirect = route.schemeRedirect else {
            throw missing("redirect URI with a scheme of its own", "--scheme-redirect")
        }
        return redirect
    }

    private func missing(_ what: String, _ option: String) -> AccountError {
        AccountError(
            .invalidConfiguration,
            message:
                "\(route.name) has no \(what)\(route.howToAdd.map { " (\($0) \(option))" } ?? ""); choose another --redirect"
        )
    }

    private func ownPath() throws(AccountError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink("/proc/self/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        guard count > 0 else {
            throw AccountError(.cannotListen, message: "rainctl does not find its own program file")
        }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    // MARK: What is said

    private func addresses() -> DescriptorAddresses {
        DescriptorAddresses(descriptor: STDIN_FILENO) { reason in
            StandardStreams.err("Not taken: \(reason.onOneLine.asSentence)\n")
        }
    }

    private func show(pasteIsOffered: Bool) -> ShowSignInPage {
        let (opens, isRemote, isQuiet) = (opensBrowser, desktop.obstacle != nil, context.output.isQuiet)
        let launcher = BrowserLauncher(environment: context.environmentOfPrograms)
        let asksForPaste = pasteIsOffered && StandardStreams.inIsTerminal
        return { url in
            // Without the address nothing goes on where no browser opens: it is said even under --quiet then.
            if opens, !isQuiet {
                StandardStreams.err(
                    "The sign-in page opens in a browser. If it does not, open this address:\n\n    \(url)\n\n")
            } else if !opens {
                StandardStreams.err("Open this address in a browser to sign in:\n\n    \(url)\n\n")
            }
            if asksForPaste {
                StandardStreams.err(
                    isRemote || !opens
                        ? "Then paste the address that the browser ends on (it is not shown here): "
                        : "Should the browser not come back here, paste the address that it ends on (it is not shown).\n"
                )
            }
            if opens, await !launcher.open(url) {
                StandardStreams.err("No browser could be opened. Open this address in one:\n\n    \(url)\n\n")
            }
        }
    }
}

extension Folders {
    /// For sockets. The variable is set by whoever logs people in; its folder ends with their session.
    func runtimeFolder() throws(AccountError) -> String {
        guard let runtime else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "XDG_RUNTIME_DIR is not set, so no handler can hand an address over; use --redirect loopback or --paste"
            )
        }
        return runtime
    }
}
