// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IdentityProviders
import RainCore
import RainKit

struct AccountToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "token", abstract: "Print an access token. rainctl first renews a token that expires soon.",
        discussion: "Example: rainctl account token")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let account = try Context(options).client(which).account()
        let token = try await withTimeout(timeout.duration) { try await account.session.accessToken() }
        StandardStreams.out(token.revealString() + "\n")
    }
}

struct AccountHeader: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "header", abstract: "Print the Authorization header for a request.",
        discussion: """
            Example: rainctl account header \\
                         | curl -H @- https://api.rainmaker.espressif.com/v1/user2
            """)

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        let (place, header) = try await withTimeout(timeout.duration) {
            (try await account.session.requestProof().query.first, try await account.session.authorization())
        }
        if let place {
            context.output.say(
                "note: \(account.provider?.title ?? account.name) also needs the token in the URL, as the parameter \(place.name). \(commandLine("account curl")) adds this parameter."
            )
        }
        StandardStreams.out("\(header.name): \(header.value.revealString())\n")
    }
}

struct AccountExchange: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "exchange", abstract: "Print a code that another client can use to sign in as you.",
        discussion: """
            Example: rainctl account exchange --provider spid --for-client backend-1 \\
                         | ssh gateway receive-code

            The code works once, for 30 seconds, and only for the client of --for-client. That client signs in with the code and its own \
            secret: rainctl login --provider spid --client-id backend-1 --client-secret-file FILE --code-stdin --redirect-uri URI. Your \
            own tokens stay on this machine.
            """)

    enum Kind: String, WordArgument { case code, session }

    @Option(help: "Choose who uses the code: another client (code) or a browser (session).")
    var type = Kind.code

    @Option(
        help: ArgumentHelp(
            "Get the code for this client. --type code needs this option. With --type session, the default is your own client.",
            valueName: "id"))
    var forClient: String?

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("Use this redirect URI of the client. --type session needs this option.", valueName: "uri"))
    var redirectURI: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if type == .code, forClient == nil {
            throw ValidationError("--type code needs --for-client ID: the client that will use the code.")
        }
        if type == .session, redirectURI == nil {
            throw ValidationError(
                "--type session needs --redirect-uri URI: the address to which the browser goes after the sign-in.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let access = try context.client(which).account()
        let (account, provider) = try access.spid()
        let client: String
        if let forClient {
            client = forClient
        } else {
            // Without a session, the missing session is the error, not the client id.
            _ = try await access.session.userID()
            client = try provider.clientID()
        }
        let exchange =
            switch (type, redirectURI) {
            case (.session, let uri?): SPiDExchange.session(forClient: client, redirectURI: uri)
            default: SPiDExchange.code(forClient: client, redirectURI: redirectURI)
            }
        let code = try await withTimeout(timeout.duration) { try await account.code(for: exchange) }
        context.output.result(
            ExchangeResult(
                profile: access.name, type: type.rawValue, forClient: client, code: code, expiresIn: exchange.lifetime))
    }
}

extension AccountAccess {
    /// The part that only SPiD has.
    /// - Throws: `unsupported` for any other provider.
    func spid() throws -> (SPiDAccount, ConfiguredProvider) {
        guard let provider else {
            throw AccountError(
                .unsupported,
                message: "RainMaker cannot issue sign-in codes for other clients or browsers; only SPiD can"
            )
        }
        return (try SPiDAccount(session, provider), provider)
    }
}

/// A code that signs in another client once: the one secret that this command prints.
struct ExchangeResult: CommandResult {
    let profile: String
    let type: String
    let forClient: String
    let code: Secret
    /// In seconds.
    let expiresIn: Double

    private enum CodingKeys: CodingKey { case profile, type, forClient, code, expiresIn }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(profile, forKey: .profile)
        try container.encode(type, forKey: .type)
        try container.encode(forClient, forKey: .forClient)
        try container.encode(code.revealString(), forKey: .code)
        try container.encode(expiresIn, forKey: .expiresIn)
    }

    var text: String { code.revealString() }
}
