// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainKit

/// A sign-in through the person's own browser, as the options and the terminal have it.
struct BrowserSignIn: Sendable {
    private let options: BrowserOptions
    private let context: Context
    private let limit: Duration
    private let desktop: DesktopSession
    private let events: SignInEvents

    /// Throws `usage` where nobody can be asked and nothing else was asked for.
    init(
        _ options: BrowserOptions, _ context: Context, within limit: Duration, events: SignInEvents
    ) throws(CommandFailure) {
        self.options = options
        self.events = events
        self.context = context
        self.limit = limit
        desktop = DesktopSession(environment: context.environment)
        if options.browser { try BrowserLauncher(environment: context.environmentOfPrograms).checkProgram() }

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

    /// The way to sign in.
    /// - Parameters:
    ///   - grant: for providers: how the page answers.
    ///   - redirectURI: where the client is registered to be sent, if the person says so.
    func method(_ grant: GrantName = .authorizationCode, redirectURI: String? = nil) throws(AccountError)
        -> SignInMethod
    {
        let pasted: DescriptorAddresses? = options.paste || context.mayAsk ? addresses() : nil
        var browser = BrowserMethod(
            identityProvider: options.idp, show: show(pasteIsOffered: options.paste || pasted != nil))
        browser.grant = grant
        browser.redirectURI = redirectURI
        browser.way = options.redirect?.way
        browser.port = options.callbackPort
        browser.onlyPasted = options.paste
        browser.pasted = pasted
        browser.limit = limit
        browser.schemeHandler = try schemeHandler()
        browser.report = { [output = context.output, events] foreign in
            output.warn(foreign.message.asSentence)
            events.refused(foreign)
        }
        return .browser(browser)
    }

    private var opensBrowser: Bool {
        options.browser || !options.noBrowser && !options.paste && desktop.opensBrowser
    }

    private func schemeHandler() throws(AccountError) -> BrowserMethod.SchemeHandling {
        let handler = SchemeHandler(
            name: "rainctl", command: [try ownPath(), "account", "callback"], dataFolder: context.folders.data,
            environment: context.environmentOfPrograms)
        let folders = context.folders
        return .init(folder: { () throws(AccountError) in try folders.runtimeFolder() }) {
            scheme throws(AccountError) in
            try await handler.register(scheme: scheme)
        }
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
        return { [events] url in
            // Before the address is out: an answer to the page may come at once, and is told after it.
            events.pageShown()
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

extension RedirectWay {
    fileprivate var way: RedirectRoute.Way {
        switch self {
        case .loopback: .loopback
        case .relay: .relay
        case .scheme: .scheme
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
                    "XDG_RUNTIME_DIR is not set to an absolute path, so no handler can hand an address over; use --redirect loopback or --paste"
            )
        }
        return runtime
    }
}

extension BrowserLauncher {
    /// Throws `unavailable` if `BROWSER` names programs and none of them is there.
    func checkProgram() throws(CommandFailure) {
        guard let missingProgram else { return }
        throw CommandFailure(
            .unavailable, reason: "no_browser",
            message: "BROWSER names \(missingProgram.onOneLine), which does not exist or cannot be run.")
    }
}

/// How to sign in through a browser.
struct BrowserOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sign in with github, google, apple or another identity provider of the deployment.", valueName: "name"))
    var idp: String?

    @Flag(help: "Open the sign-in page in a browser, even if none seems to be here.")
    var browser = false

    @Flag(help: "Print the sign-in page's address instead of opening it.")
    var noBrowser = false

    @Flag(help: "Listen for nothing: paste the address that the browser ends on, or pipe it in.")
    var paste = false

    @Option(help: ArgumentHelp("Listen for the browser on this port.", valueName: "port"))
    var callbackPort: UInt16?

    @Option(
        help: ArgumentHelp(
            "How the browser comes back: loopback, relay or scheme; by default as the deployment has it.",
            valueName: "way"))
    var redirect: RedirectWay?

    /// Whether a browser is to be used at all.
    var isWanted: Bool {
        idp != nil || browser || noBrowser || paste || callbackPort != nil || redirect != nil
    }

    func validate() throws {
        if browser && noBrowser { throw ValidationError("--browser and --no-browser exclude each other.") }
        if paste && callbackPort != nil {
            throw ValidationError("--paste listens on no port: leave --callback-port away.")
        }
        if redirect == .scheme && callbackPort != nil {
            throw ValidationError("--redirect scheme listens on no port: leave --callback-port away.")
        }
    }
}

enum RedirectWay: String, ExpressibleByArgument, CaseIterable { case loopback, relay, scheme }
