// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainIO
import RainKit

/// The environment of a command besides its own options.
struct Context: Sendable {
    let options: SharedOptions
    let environment: [String: String]
    let output: Output
    let screen: Screen
    let folders: Folders
    let settings: SettingsFiles
    let logger: Logger
    /// The `run` of every event.
    let runID: String
    /// Whether a session in memory is for all requests of the server. Otherwise it ends with this one.
    var sharesAccounts = true
    /// The file for the lines of the board's own log, if requested.
    var deviceLog: DeviceLogFile?
    /// The last output of the board on its cable.
    let boardWords = LastLogLine()

    /// The options that are used after parsing.
    struct SharedOptions: Sendable {
        var profile: String?
        var account: String?
        var caFile: String?
        var noInput: Bool
    }

    /// - Parameter list: the form that a command which prints a list was asked for.
    init(_ options: GlobalOptions, list: ListForm? = nil) throws(CommandFailure) {
        try self.init(options, list: list) { (_, failure) throws(CommandFailure) in throw failure }
        // Not in documents, because these warnings do not concern a program that reads them.
        for warning in folders.warnings + settings.warnings { output.say("warning: \(warning)") }
    }

    /// Loads the settings. `obstacle` is called for settings that cannot be used: with the path of the file, or nil if HOME is missing. If
    /// it does not throw, loading continues without those settings.
    init(
        _ options: GlobalOptions, list: ListForm? = nil, obstacle: SettingsFiles.Obstacle
    ) throws(CommandFailure) {
        try list?.check(options)
        environment = Invocation.current.environment
        self.options = SharedOptions(
            profile: options.profile, account: options.account, caFile: options.caFile, noInput: options.noInput)
        output = Output(options, list: list)
        screen = output.screen
        do throws(CommandFailure) {
            folders = try Folders(environment)
        } catch {
            try obstacle(nil, error)
            folders = try Folders(environment.merging(["HOME": "/nonexistent"]) { $1 })
        }
        settings = try SettingsFiles(environment, user: folders.configuration, obstacle: obstacle)
        if let request = Invocation.current.request {
            logger = request.logger
        } else {
            logger = try Self.logger(options)
        }
        // It only distinguishes runs. libcrypto is not started for it, because a command without a network does not need it.
        let number = String(UInt64.random(in: 0..<1 << 48), radix: 16)
        runID = String(repeating: "0", count: 12 - number.count) + number
        GivenSettings.note(self)
    }

    private static func logger(_ options: GlobalOptions) throws(CommandFailure) -> Logger {
        let sink = try LogSink(path: options.logFile, format: options.logFormat)
        let level: Logger.Level =
            switch options.verbosity {
            case 0: options.logFile == nil ? .warning : .debug
            case 1: .debug
            default: .trace
            }
        return Logger(label: "rainctl") { SinkLogHandler(label: $0, sink: sink, logLevel: level) }
    }

    /// Whether the user can be asked.
    var mayAsk: Bool { !options.noInput && StandardStreams.inIsTerminal && StandardStreams.errIsTerminal }

    /// The place of serial ports. A container sees its host's system in a folder.
    var systemFiles: SystemFiles { SystemFiles(root: variable("RAINKIT_SYSTEM_ROOT") ?? "") }

    /// A variable of the environment that is not empty.
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
}

/// The folders of the XDG base directory specification that rainctl uses.
struct Folders: Sendable {
    /// For deployments, and the name of the current one.
    let configuration: String
    /// For sessions and unfinished mappings.
    let state: String
    /// For desktop entries: the folder that all applications share.
    let data: String
    /// For sockets; nil if the login session has no such folder.
    let runtime: String?
    /// The variables that are ignored, because they hold relative paths (XDG Base Directory Specification, "Basics").
    let ignored: [String]

    /// A sentence about each of the ignored variables.
    var warnings: [String] { ignored.map { "\($0) is not used: it is not an absolute path." } }

    /// The reason why HOME names no folder, without the full stop.
    static func homeProblem(_ environment: [String: String]) -> String {
        guard let home = environment["HOME"], !home.isEmpty else { return "HOME is not set" }
        return "HOME is \"\(home.onOneLine)\", which is not an absolute path"
    }

    init(_ environment: [String: String]) throws(CommandFailure) {
        let names = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"]
        ignored = names.filter { environment[$0].map { !$0.isEmpty && !$0.hasPrefix("/") } ?? false }
        func folder(_ variable: String, _ fallback: String) throws(CommandFailure) -> String {
            // The specification says that relative paths are ignored.
            if let path = environment[variable], path.hasPrefix("/") { return path + "/rainkit" }
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw CommandFailure(
                    .config,
                    message:
                        "\(Self.homeProblem(environment)), so the folder for settings and sessions is unknown.")
            }
            return "\(home)/\(fallback)/rainkit"
        }
        configuration = try folder("XDG_CONFIG_HOME", ".config")
        state = try folder("XDG_STATE_HOME", ".local/state")
        if let path = environment["XDG_DATA_HOME"], path.hasPrefix("/") {
            data = path
        } else {
            data = "\(environment["HOME"] ?? "")/.local/share"
        }
        runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 + "/rainkit" : nil }
    }
}

/// The client of a command, according to the deployment, account and provider in options and environment.
extension Context {
    var deploymentFile: DeploymentFile { DeploymentFile(path: "\(folders.configuration)/deployments.json") }

    /// The deployment from the option, the environment, the project, the user's settings or the machine's settings, else Espressif's own.
    func deployment() throws(AccountError) -> Deployment {
        let content = try deploymentFile.load()
        var deployment = try ProfileSettings.deployment(ProfileSettings.chosen(self, content), in: content)
        if let file = certificateAuthorities { deployment.certificateAuthorities = file }
        return deployment
    }

    var certificateAuthorities: String? { ProfileSettings.authorities(self, at: nil)?.path }

    /// The account's name, if one is set.
    var accountName: String? { options.account ?? variable("RAINKIT_ACCOUNT") ?? settings[.account]?.text }

    /// The option, then the environment; nil for RainMaker.
    func providerName(_ given: String?) -> String? {
        guard let name = given ?? variable("RAINKIT_PROVIDER"), name != "rainmaker" else { return nil }
        return name
    }

    /// Returns the client for the named account, or for the current one.
    func client(
        provider: ProviderSelection? = nil, backend: NodeMappingDescription? = nil
    ) throws(AccountError) -> RainKitClient {
        try client(provider: provider, backend: backend, account: accountName)
    }

    /// - Parameters:
    ///   - provider: the identity system, if it is not the deployment's own.
    ///   - backend: the user's own cloud, for such a provider's users.
    ///   - account: the account's name, also for a new sign-in; nil for the current one, or the user's name.
    func client(
        provider: ProviderSelection? = nil, backend: NodeMappingDescription? = nil, account: String?
    ) throws(AccountError) -> RainKitClient {
        let deployment = try deployment()
        try checkAuthorities(at: deployment)
        var configuration = RainKitConfiguration(state: folders.state, deployment: deployment, logger: logger)
        configuration.remembersNodes = true
        configuration.provider = provider
        configuration.backend = backend
        configuration.account = account
        configuration.definitions = "\(folders.configuration)/providers"
        configuration.certificateAuthorities = certificateAuthorities
        configuration.environment = environment
        configuration.transports = Invocation.current.transports
        configuration.tools = tools
        configuration.sharedAccounts = sharedAccounts
        followLog(in: &configuration)
        reportChanges(in: &configuration)
        return RainKitClient(configuration)
    }

    /// Otherwise every server would seem unreachable.
    private func checkAuthorities(at deployment: Deployment) throws(AccountError) {
        guard let given = ProfileSettings.authorities(self, at: deployment),
            let problem = CertificateFile.problem(given.path)
        else { return }
        let place = given.origin.settingName("ca_file")
        throw AccountError(
            .invalidConfiguration,
            message: "The file of certificates \(given.path.onOneLine) from \(place) \(problem)")
    }

    /// Returns a client for boards only. It reads neither the file of deployments nor an account.
    func boardClient() -> RainKitClient {
        var configuration = RainKitConfiguration(state: folders.state, logger: logger)
        configuration.environment = environment
        configuration.transports = Invocation.current.transports
        configuration.tools = tools
        followLog(in: &configuration)
        reportChanges(in: &configuration)
        return RainKitClient(configuration)
    }

    /// Reports changes of this machine's network and of the board's port, above the live line if there is one.
    private func reportChanges(in configuration: inout RainKitConfiguration) {
        let note: @Sendable (String) -> Void = { [output, screen] line in
            guard StandardStreams.errIsTerminal, !output.isQuiet else { return output.say(line) }
            screen.write(line.withoutControls)
        }
        configuration.networkChange = { NetworkMessages.tell($0, output, note) }
        configuration.portChange = { note(PortMessages.line($0)) }
    }

    /// Passes the lines of the board's log to a file and to the terminal.
    private func followLog(in configuration: inout RainKitConfiguration) {
        guard StandardStreams.errIsTerminal else {
            if let deviceLog { configuration.deviceLog = { deviceLog.write($0) } }
            return
        }
        configuration.deviceLog = { [deviceLog, boardWords] in
            deviceLog?.write($0)
            boardWords.take($0)
        }
    }

    /// Returns the client for the account of the named provider, or of the current RainMaker deployment.
    func client(_ which: ProviderOption) throws(AccountError) -> RainKitClient {
        try client(provider: providerName(which.provider).map { ProviderSelection($0) })
    }

    /// Returns a client for calls that only RainMaker's cloud has. Throws `missingParameter` if the environment names another identity
    /// provider, because the call must not happen as another user.
    func rainMakerClient() throws(AccountError) -> RainKitClient {
        if let name = providerName(nil) {
            throw AccountError(
                .missingParameter,
                message: "only users of RainMaker can do this, but RAINKIT_PROVIDER names \(name): unset this variable")
        }
        return try client()
    }

    /// The accounts that were signed in on this machine.
    var accounts: AccountDirectory {
        AccountDirectory(
            folder: folders.state, environment: environment, logger: logger, shared: sharedAccounts)
    }

    private var sharedAccounts: SharedAccounts? { sharesAccounts ? Invocation.current.request?.accounts : nil }

    var providerDefinitions: ProviderFolder { ProviderFolder(path: "\(folders.configuration)/providers") }

    /// Warns if the provider is used without the file that the user has written for it, such as one with the id of a built-in provider.
    func warnOfUnusedDefinition(of provider: String) throws(AccountError) {
        guard let problem = try providerDefinitions.problem(with: provider) else { return }
        output.warn(problem.message.onOneLine, reason: "\(problem.code)")
    }

    /// Reports the place of a kept session, if it is not the expected one.
    func tellPlace(of session: NewAccountStore?) {
        guard let session, session.account != nil, let note = session.note else { return }
        output.say("note: \(note.asSentence)")
    }
}
