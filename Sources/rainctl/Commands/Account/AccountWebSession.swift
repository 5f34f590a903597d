// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainAccount
import RainCore
import RainKit

struct AccountWebSession: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "web-session",
        abstract: "Print or open an address that signs a browser in as you.",
        discussion: """
            Example: rainctl account web-session --provider spid --open \\
                         --redirect-uri https://app.example/

            The address works only once, and only for one minute. Anyone who opens the address is signed in as you, so keep the address \
            secret. With --open, other users of this machine can see the address while the browser starts. Therefore use --open only on \
            machines that nobody else uses.

            --end prints the address that ends a browser's session at the identity provider SPiD. This address is not secret.
            """)

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("Send the browser to this address. It must be registered at SPiD.", valueName: "uri"))
    var redirectURI: String?

    @Option(
        help: ArgumentHelp(
            "Use this client id (default: your own client). The redirect URI must belong to this client.",
            valueName: "id"))
    var forClient: String?

    @Flag(help: "Print the address that ends the browser's session. --redirect-uri is then optional.")
    var end = false

    @Flag(help: "Open the address in your browser instead of printing it.")
    var open = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if !end, redirectURI == nil {
            throw ValidationError("Give --redirect-uri URI, the address to which the browser goes.")
        }
        if end, forClient != nil {
            throw ValidationError(
                "--end works only for your own client: omit --for-client.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let access = try context.client(which).account()
        let (account, _) = try access.spid()
        if end {
            let page = try await account.logoutPage(redirectURI: redirectURI)
            guard open else { return context.output.result(WebSessionEndResult(profile: access.name, url: page)) }
            return try await opened(page, access, context)
        }
        let address = try await withTimeout(timeout.duration) {
            try await account.webSession(forClient: forClient, redirectURI: redirectURI ?? "")
        }
        guard open else {
            return context.output.result(WebSessionResult(profile: access.name, url: address))
        }
        try await opened(address.revealString(), access, context)
    }

    private func opened(_ address: String, _ access: AccountAccess, _ context: Context) async throws {
        let launcher = BrowserLauncher(environment: context.environmentOfPrograms)
        try launcher.checkProgram()
        if case .failed(let reason) = await launcher.opening(address) {
            let cause = reason.map { ": \($0). Omit" } ?? ": omit"
            throw CommandFailure(
                .unavailable, reason: "no_browser",
                message: "No browser could be opened\(cause) --open, and open the address yourself.")
        }
        context.output.result(WebSessionOpenedResult(profile: access.name))
    }
}

/// An address that signs in a browser once: the one secret that this command prints.
struct WebSessionResult: CommandResult {
    let profile: String
    let url: Secret
    /// In seconds.
    let expiresIn = 60

    private enum CodingKeys: CodingKey { case profile, url, expiresIn }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(profile, forKey: .profile)
        try container.encode(url.revealString(), forKey: .url)
        try container.encode(expiresIn, forKey: .expiresIn)
    }

    var text: String { url.revealString() }
}

/// A browser was opened at the address that signs it in.
struct WebSessionOpenedResult: CommandResult {
    let profile: String
    let opened = true

    var text: String { "" }
}

/// The address that ends a browser's session at the provider.
struct WebSessionEndResult: CommandResult {
    let profile: String
    let url: String

    var text: String { url }
}
