// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CloudSimulator
import Glibc
import RainJSON

/// `cloud-sim`, and `cloud-sim cloud`.
struct SimulateCloud: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cloud",
        abstract: "A simulated ESP RainMaker cloud: REST API and MQTT broker on this machine.",
        discussion: """
            When it is ready it prints one JSON line: where the API and the broker listen, and where the certificates are.
            SIGTERM and SIGINT end it, and its broker. Exit codes: 64 wrong options, 69 mosquitto or a port is missing,
            70 a failure inside, 74 the data folder cannot be used.
            """)

    @Option(help: ArgumentHelp("Where the API listens; port 0 takes a free one.", valueName: "HOST:PORT"))
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(
        help: ArgumentHelp("Folder that keeps accounts, nodes and keys. Without it a temporary one.", valueName: "DIR"))
    var data: String?

    @Option(name: .customLong("user"), help: ArgumentHelp("An account; repeatable.", valueName: "NAME:PASSWORD"))
    var users: [Account] = []

    @Option(
        name: .customLong("super-admin"), help: ArgumentHelp("A user who is one; repeatable.", valueName: "NAME"))
    var superAdmins: [String] = []

    @Option(
        name: .customLong("node"),
        help: ArgumentHelp("A node to issue a certificate for, P-256 or RSA-2048; repeatable.", valueName: "ID[:rsa]"))
    var nodes: [NodeSpecification] = []

    @Option(help: ArgumentHelp("Lifetime of access tokens in seconds.", valueName: "S"))
    var accessTTL = 3600

    @Option(help: ArgumentHelp("Lifetime of refresh tokens in seconds.", valueName: "S"))
    var refreshTTL = 30 * 86_400

    @Flag(help: "Each refresh replaces the refresh token; using the one before again ends the session.")
    var rotateRefresh = false

    @Option(
        help: ArgumentHelp(
            "With --rotate-refresh: how many seconds the token before still works.", valueName: "S"))
    var refreshGrace = 0

    @Option(
        help: ArgumentHelp(
            "Append the codes that users would be sent to this file, as NDJSON {time, to, kind, code}.",
            valueName: "FILE"))
    var mailbox: String?

    @Option(
        name: .customLong("oauth-client"),
        help: ArgumentHelp(
            """
            An application that may use the sign-in page, and where it may be redirected; repeatable. A loopback address \
            without a port stands for all of its ports, /* for every path. Default: RainMaker's shared client.
            """, valueName: "ID[:SECRET]=URI[,URI]"))
    var oauthClients: [OAuthClient] = []

    @Option(
        name: .customLong("identity-provider"),
        help: ArgumentHelp(
            "What the sign-in page offers; repeatable. Default: GitHub, Google, SignInWithApple.", valueName: "NAME"))
    var identityProviders: [String] = []

    @Option(help: ArgumentHelp("How many seconds a code is good that was sent to a user.", valueName: "S"))
    var verificationTTL = 3600

    @Option(help: ArgumentHelp("How many seconds an authorization code is good.", valueName: "S"))
    var codeTTL = 300

    @Option(help: ArgumentHelp("How long half a mapping waits for the other, in seconds.", valueName: "S"))
    var mappingTimeout = 300

    @Option(help: ArgumentHelp("How many boards each user may claim.", valueName: "N"))
    var claimQuota = 1000

    @Option(help: ArgumentHelp("Append what happens to this file, as NDJSON without secrets.", valueName: "FILE"))
    var journal: String?

    func validate() throws {
        guard (0...1_000_000_000).contains(refreshGrace) else {
            throw ValidationError("--refresh-grace takes a number of seconds from 0 to 1000000000.")
        }
        guard (0...1_000_000).contains(claimQuota) else {
            throw ValidationError("--claim-quota takes a number from 0 to 1000000.")
        }
        for (name, value) in [
            ("access-ttl", accessTTL), ("refresh-ttl", refreshTTL), ("mapping-timeout", mappingTimeout),
            ("code-ttl", codeTTL), ("verification-ttl", verificationTTL),
        ] {
            guard (1...1_000_000_000).contains(value) else {
                throw ValidationError("--\(name) takes a number of seconds from 1 to 1000000000.")
            }
        }
    }

    func run() throws {
        let ending = EndingSignals(also: [SIGUSR1])

        var configuration = CloudServer.Configuration()
        configuration.listen = listen
        configuration.dataFolder = data
        configuration.users = users.map { ($0.name, $0.password) }
        configuration.superAdmins = superAdmins
        configuration.nodes = nodes
        configuration.journal = journal
        configuration.mailbox = mailbox
        if !oauthClients.isEmpty { configuration.options.oauthClients = oauthClients }
        if !identityProviders.isEmpty { configuration.options.identityProviders = identityProviders }
        configuration.options.verificationLifetime = .seconds(verificationTTL)
        configuration.options.codeLifetime = .seconds(codeTTL)
        configuration.options.refreshGrace = .seconds(refreshGrace)
        configuration.options.accessLifetime = .seconds(accessTTL)
        configuration.options.refreshLifetime = .seconds(refreshTTL)
        configuration.options.rotatesRefreshTokens = rotateRefresh
        configuration.options.claimQuota = claimQuota
        configuration.options.mappingPatience = .seconds(mappingTimeout)
        // SIGUSR1 ends the wait for signals below; nothing else sends it.
        configuration.onBrokerDeath = { kill(getpid(), SIGUSR1) }
        let simulator: CloudServer
        do {
            simulator = try CloudServer.start(configuration)
        } catch {
            write("cloud-sim: \(error.description)\n", to: STDERR_FILENO)
            throw error.exitCode
        }
        write(String(decoding: simulator.readyLine.serialized(), as: UTF8.self) + "\n", to: STDOUT_FILENO)

        let number = ending.wait()
        simulator.stop()
        if number == SIGUSR1 {
            write("cloud-sim: its broker, mosquitto, ended by itself; start cloud-sim again\n", to: STDERR_FILENO)
            throw ExitCode(EX_SOFTWARE)
        }
    }
}

/// A user of `--user`, split at the first colon: names have none, passwords may.
struct Account: ExpressibleByArgument {
    var name: String
    var password: String

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        (name, password) = (String(parts[0]), String(parts[1]))
    }
}

extension OAuthClient: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ListenAddress: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
    public var defaultValueDescription: String { "\(host):\(port)" }
}

extension NodeSpecification: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension SimulatorError {
    var exitCode: ExitCode {
        switch code {
        case .usage: ExitCode(EX_USAGE)
        case .unavailable: ExitCode(EX_UNAVAILABLE)
        case .storage: ExitCode(EX_IOERR)
        default: ExitCode(EX_SOFTWARE)
        }
    }
}
