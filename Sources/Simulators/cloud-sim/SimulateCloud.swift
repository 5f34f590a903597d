// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CloudSimulator
import Glibc
import RainJSON

/// The commands `cloud-sim` and `cloud-sim cloud`.
struct SimulateCloud: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cloud",
        abstract: "A simulated ESP RainMaker cloud: REST API and MQTT broker on this machine.",
        discussion: """
            Example: cloud-sim cloud --user me@example.com:secret --data cloud

            When the simulator is ready, it prints one line of JSON with the addresses of the API and the broker, and the paths of the
            certificates. SIGTERM and SIGINT end the simulator and its broker. Exit codes: 64: wrong options. 69: mosquitto is missing,
            a port is taken, or another simulator uses the data folder. 70: internal failure. 74: the data folder cannot be used.
            """)

    @Option(help: ArgumentHelp("Serve the API at this address (port 0: any free port).", valueName: "HOST:PORT"))
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(
        help: ArgumentHelp(
            "Keep accounts, nodes and keys in this folder (default: a temporary folder).", valueName: "DIR"))
    var data: String?

    @Option(
        name: .customLong("user"), help: ArgumentHelp("Create this account; repeatable.", valueName: "NAME:PASSWORD"))
    var users: [Account] = []

    @Option(
        name: .customLong("super-admin"),
        help: ArgumentHelp("Make this user a super-admin; repeatable.", valueName: "NAME"))
    var superAdmins: [String] = []

    @Option(
        name: .customLong("node"),
        help: ArgumentHelp(
            "Issue a certificate for this node (P-256, or RSA-2048 with :rsa); repeatable.", valueName: "ID[:rsa]"))
    var nodes: [NodeSpecification] = []

    @Option(help: ArgumentHelp("Lifetime of access tokens, in seconds.", valueName: "S"))
    var accessTTL = 3600

    @Option(help: ArgumentHelp("Lifetime of refresh tokens, in seconds.", valueName: "S"))
    var refreshTTL = 30 * 86_400

    @Flag(help: "Replace the refresh token at each refresh. If a client uses the old token again, the session ends.")
    var rotateRefresh = false

    @Option(
        help: ArgumentHelp(
            "With --rotate-refresh: how long the old token still works, in seconds.", valueName: "S"))
    var refreshGrace = 0

    @Option(
        help: ArgumentHelp(
            "Append the one-time codes for users to this file, as NDJSON {time, to, kind, code}.",
            valueName: "FILE"))
    var mailbox: String?

    @Option(
        name: .customLong("oauth-client"),
        help: ArgumentHelp(
            """
            Let this application use the sign-in page, with these redirect URIs; repeatable (default: RainMaker's shared client). A \
            loopback address without a port matches all ports. /* matches all paths.
            """, valueName: "ID[:SECRET]=URI[,URI]"))
    var oauthClients: [OAuthClient] = []

    @Option(
        name: .customLong("identity-provider"),
        help: ArgumentHelp(
            "Offer this identity provider on the sign-in page; repeatable (default: GitHub, Google, SignInWithApple).",
            valueName: "NAME"))
    var identityProviders: [String] = []

    @Option(help: ArgumentHelp("Lifetime of one-time codes for users, in seconds.", valueName: "S"))
    var verificationTTL = 3600

    @Option(help: ArgumentHelp("Lifetime of OAuth authorization codes, in seconds.", valueName: "S"))
    var codeTTL = 300

    @Option(
        help: ArgumentHelp(
            "How long a mapping waits for its other half, from the user or the board, in seconds.", valueName: "S"))
    var mappingTimeout = 300

    @Option(help: ArgumentHelp("Maximum number of boards that each user may claim.", valueName: "N"))
    var claimQuota = 1000

    @Option(help: ArgumentHelp("Append events to this file, as NDJSON without secrets.", valueName: "FILE"))
    var journal: String?

    @Option(
        help: ArgumentHelp(
            """
            Load records of time series from this file, as NDJSON {node_id, kind, name, dt, records: [{t, v}]}. The kind is \
            tsdata or simple_tsdata.
            """, valueName: "FILE"))
    var series: String?

    @Option(help: ArgumentHelp("Maximum number of time-series records.", valueName: "N"))
    var seriesLimit = 2_000_000

    @Option(help: ArgumentHelp("How long the cloud keeps time-series records, in days.", valueName: "D"))
    var seriesRetention = 732

    @Flag(
        help:
            "Do not let users listen to the alerts of boards. (Espressif has not published what the real cloud allows.)"
    )
    var noAlertTopics = false

    @Flag(help: "Serve no aggregates of simple time series, like older backends.")
    var noSimpleAggregates = false

    func validate() throws {
        guard (1...100_000_000).contains(seriesLimit) else {
            throw ValidationError("--series-limit takes a number from 1 to 100000000.")
        }
        guard (1...36_500).contains(seriesRetention) else {
            throw ValidationError("--series-retention takes a number of days from 1 to 36500.")
        }
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
        configuration.series = series
        configuration.options.seriesLimit = seriesLimit
        configuration.options.seriesRetention = .seconds(seriesRetention * 86_400)
        configuration.options.allowsAlertTopics = !noAlertTopics
        configuration.options.hasSimpleAggregates = !noSimpleAggregates
        // SIGUSR1 ends the wait for signals below; no other code sends it.
        configuration.onBrokerDeath = { kill(getpid(), SIGUSR1) }
        let simulator: CloudServer
        let owner: FolderOwner?
        do {
            owner = try data.map { path throws(SimulatorError) in try FolderOwner(alone: path) }
            simulator = try CloudServer.start(configuration)
        } catch {
            write("cloud-sim: \(error.description)\n", to: STDERR_FILENO)
            throw error.exitCode
        }
        write(String(decoding: simulator.readyLine.serialized(), as: UTF8.self) + "\n", to: STDOUT_FILENO)

        let number = ending.wait()
        simulator.stop()
        withExtendedLifetime(owner) {}
        if number == SIGUSR1 {
            write("cloud-sim: the broker (mosquitto) stopped unexpectedly; start cloud-sim again\n", to: STDERR_FILENO)
            throw ExitCode(EX_SOFTWARE)
        }
    }
}

/// A user of `--user`, split at the first colon: names have no colon, passwords may.
struct Account: ExpressibleByArgument {
    fileprivate var name: String
    fileprivate var password: String

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
