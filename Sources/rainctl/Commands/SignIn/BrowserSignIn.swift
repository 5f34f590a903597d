// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import RainKit

/// A sign-in through the user's own browser, according to the options and the terminal.
struct BrowserSignIn: Sendable {
    private let options: BrowserOptions
    private let context: Context
    private let limit: Duration
    private let desktop: DesktopSession
    private let events: EventStream

    /// Throws `usage` if nobody can be asked and no option replaces that.
    init(
        _ options: BrowserOptions, _ context: Context, within limit: Duration, events: EventStream
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
                    "A sign-in with a browser needs a terminal, or one of these options. --browser opens a browser here. --callback-port "
                    + "PORT waits for a browser that you open elsewhere. --paste reads the address from standard input."
            )
        }
    }

    /// Returns the method for the sign-in.
    /// - Parameters:
    ///   - grant: for providers: how the page answers.
    ///   - redirectURI: the client's registered redirect URI, if the user gave one.
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
            events.writer?.failed(foreign, as: "answer_not_accepted", detail: foreign.message)
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
            throw AccountError(.cannotListen, message: "rainctl cannot find its own program file")
        }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    // MARK: Messages

    private func addresses() -> DescriptorAddresses {
        DescriptorAddresses(descriptor: STDIN_FILENO) { [output = context.output] reason in
            output.tell("Not accepted: \(reason.onOneLine.asSentence)\n")
        }
    }

    private func show(pasteIsOffered: Bool) -> ShowSignInPage {
        let (opens, isRemote, output) = (opensBrowser, desktop.obstacle != nil, context.output)
        let launcher = BrowserLauncher(environment: context.environmentOfPrograms)
        let asksForPaste = pasteIsOffered && StandardStreams.inIsTerminal
        return { [events] url in
            // Before the address is printed: an answer to the page may come at once, and its event must come later.
            events.writer?.note("page_shown")
            // If no browser opens, the sign-in needs the address, so it is printed even with `--quiet`.
            let page = SignInPage(url: url)
            if opens, !output.isQuiet {
                output.tell(
                    "The sign-in page opens in a browser. If it does not, open this address:\n\n    \(url)\n\n",
                    page: page)
            } else if !opens {
                output.tell("Open this address in a browser to sign in:\n\n    \(url)\n\n", page: page)
            }
            if asksForPaste {
                output.tell(
                    isRemote || !opens
                        ? "Then paste the last address that the browser shows (the text stays hidden here): "
                        : "If nothing happens here after the sign-in, paste the browser's last address here (the text stays hidden).\n"
                )
            }
            if opens, case .failed(let reason) = await launcher.opening(url) {
                let cause = reason.map { ": \($0)" } ?? ""
                output.tell("No browser could be opened\(cause). Open this address in a browser:\n\n    \(url)\n\n")
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
    /// The folder for sockets. The login service sets the variable, and removes the folder when the user's session ends.
    func runtimeFolder() throws(AccountError) -> String {
        guard let runtime else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "XDG_RUNTIME_DIR is not set to an absolute path, so the browser's answer cannot be received; use --redirect "
                    + "loopback or --paste"
            )
        }
        return runtime
    }
}

extension BrowserLauncher {
    /// Throws `unavailable` if `BROWSER` names programs and none of them exists.
    func checkProgram() throws(CommandFailure) {
        guard let missingProgram else { return }
        throw CommandFailure(
            .unavailable, reason: "no_browser",
            message:
                "The environment variable BROWSER names the program \(missingProgram.onOneLine), which does not exist or cannot be run."
        )
    }
}

/// The options for signing in through a browser.
struct BrowserOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sign in with your account at github, google, apple or another service that the cloud offers.",
            valueName: "name"))
    var idp: String?

    @Flag(help: "Open the sign-in page in a browser, even over SSH, in a container or without a display.")
    var browser = false

    @Flag(help: "Print the address of the sign-in page instead of opening it.")
    var noBrowser = false

    @Flag(
        help:
            "Sign in without a connection from the browser to rainctl. Copy the address that the browser shows after the sign-in, and paste or pipe it into rainctl."
    )
    var paste = false

    @Option(help: ArgumentHelp("Wait for the browser's answer on this port.", valueName: "port"))
    var callbackPort: UInt16?

    @Option(
        help: ArgumentHelp(
            "Get the browser's answer through a port of this machine (loopback), a page of the deployment (relay), or "
                + "a link that opens rainctl (scheme). The default is relay if the deployment has such a page, otherwise "
                + "loopback.",
            valueName: "way"))
    var redirect: RedirectWay?

    /// Whether a browser is to be used.
    var isWanted: Bool {
        idp != nil || browser || noBrowser || paste || callbackPort != nil || redirect != nil
    }

    func validate() throws {
        if browser && noBrowser { throw ValidationError("Give --browser or --no-browser, but not both.") }
        if paste && callbackPort != nil {
            throw ValidationError("With --paste, no port is used: omit --callback-port.")
        }
        if redirect == .scheme && callbackPort != nil {
            throw ValidationError("With --redirect scheme, no port is used: omit --callback-port.")
        }
    }
}

enum RedirectWay: String, WordArgument { case loopback, relay, scheme }
