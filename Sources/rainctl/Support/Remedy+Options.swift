// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

extension Remedy {
    /// The text to type, as a part of a sentence such as "Give the base URL with --base-url."
    var option: String {
        switch self {
        case .proofOfPossession: "give the proof of possession with --pop-file"
        case .securityUserName: "give the user name with --username"
        case .anySecurity: "omit --sec-ver to use the security scheme that the board reports"
        case .acceptedSecurity(let version):
            "if you are sure that this is the right board, accept it with --sec-ver \(version)"
        case .otherTransport: "choose another transport with --transport ble or softap"
        case .accessPoint: "if the board has its own access point, reach it there with --transport softap"
        case .networkName: "name the network with \(commandLine("provision --ssid"))"
        case .networkPassword: "give the Wi-Fi password with --passphrase-file"
        case .openNetwork: "join the network with --open"
        case .claimService: "name the claim service with rainctl profile set --claim-url URL PROFILE"
        case .claimOverCable: "claim the board with \(commandLine("device claim --host"))"
        case .boardLog: "see the board's log with \(commandLine("device monitor --restart"))"
        case .withoutMapping: "set up only the Wi-Fi with \(commandLine("provision --no-mapping"))"
        case .moreTime: "allow more time with --timeout"
        case .waiting: "wait for the board with --wait"
        case .boardName(let names): Self.choice("choose the board with --device-name", names)
        case .port(let paths): Self.choice("name the port with --port", paths)
        case .accessPointPassword: "give the password of the board's own network with --ap-password-file"
        case .host: "give the address with --device-host HOST or HOST:PORT"
        case .localHost: "give the address with --host HOST or HOST:PORT"
        case .localProof(isInCloud: false): "give this proof with --pop-file FILE"
        case .localProof(isInCloud: true):
            "sign in to get the proof from the cloud. Or print the proof on a machine where you are signed in, with "
                + "\(commandLine("node params get NODE \"Local Control.POP\"")), and give the proof here with --pop-file FILE"
        case .nodeInAccount: "once the board is in your account, use \(commandLine("node params"))"
        case .anyOtherTransport: "use --transport ble or softap"
        case .backend: "describe your cloud with --backend FILE"
        case .espressifTools:
            "use --python to name a Python that has Espressif's tools, such as the Python of ESP-IDF or of a virtual environment"
        case .macAddress: "give the board's MAC address with --mac"
        case .flashAddress: "name the flash address of the partition fctry with --flash-address"
        case .otherRedirect:
            "choose another --redirect, or set the redirect URI with \(commandLine("profile set --relay-url")) or --scheme-redirect"
        case .signIn: "sign in with \(Self.login)"
        case .storedSession: "look at the session with \(commandLine("account status"))"
        case .cloudAnswer: "look at the cloud's answer with \(commandLine("account curl -- -i /v1/user2"))"
        case .deploymentSettings: "check the settings with \(commandLine("profile show"))"
        case .certificateAuthorities: "give a file of trusted certificates with --ca-file"
        case .signInMode(let provider, let modes):
            "sign in with "
                + modes.map { commandLine("login --provider \(provider) --mode \($0)") }.joined(separator: " or ")
        case .forgottenPending:
            "give up unfinished mappings of earlier runs with \(commandLine("provision --forget-pending"))"
        case .signInPage: "sign in with \(Self.login) --browser"
        case .pastedAddress: "paste the address with \(Self.login) --paste"
        case .otherCallbackPort: "choose a port with \(Self.login) --callback-port"
        case .baseURL: "give the base URL with \(Self.login) --base-url"
        case .clientID: "give the client id with \(Self.login) --client-id"
        case .clientSecret: "give the client's secret with \(Self.login) --client-secret-file"
        case .parameter(let name): "give \(name) with \(Self.login) --set \(name)=…"
        case .secretParameter(let name): "give the secret with \(Self.login) --secret-file \(name)=FILE"
        case .gateCredentials:
            "give the name and password for that server with \(Self.login) --gate-user and --gate-password-file"
        case .applicationID: "give the application's id with \(Self.login) --app-id"
        case .redirectURI: "give the redirect URI with \(Self.login) --redirect-uri"
        case .rememberedSettings(let names):
            names.first.map {
                "change such a setting with \(Self.login) --set \($0.onOneLine)=VALUE (an empty value removes the setting)"
            } ?? "give other values with \(Self.login)"
        case .knownAccount: "see \(commandLine("account list"))"
        case .updateState(let node):
            "see the update's progress with \(commandLine("node params get \(node.onOneLine.asShellWord)"))"
        case .updateJob(let node, let job):
            "see the update's progress with "
                + commandLine("node update status \(node.onOneLine.asShellWord) --job \(job.onOneLine.asShellWord)")
        case .updateJobs(let node):
            "then start the update with \(commandLine("node update start \(node.onOneLine.asShellWord)"))"
        case .knownNode: "see \(commandLine("node list"))"
        case .otherNodeName(let node):
            "give one of them another name with \(commandLine("node rename \(node.onOneLine.asShellWord) NAME"))"
        case .knownGroup: "see \(commandLine("group list"))"
        case .knownAutomation: "see \(commandLine("automation list"))"
        case .knownCommand: "give the request id from the output of \(commandLine("node command send"))"
        case .resumedBatch(let batch):
            "continue the batch with \(commandLine("batch resume \(batch)")), or begin another batch with --again"
        case .retriedBatch(let batch):
            "try the failed boards again with \(commandLine("batch retry \(batch)")), or begin another batch with --again"
        case .begunLedger:
            "check --ledger and RAINKIT_LEDGER, or begin a batch with \(commandLine("batch run FILE"))"
        case .knownBatch: "list the batches with \(commandLine("batch status --all"))"
        case .originalBatchFile:
            "give the original file with --secrets, or begin another batch with \(commandLine("batch run FILE"))"
        case .otherParent: "name another group with --parent"
        case .sharedGroups: "see \(commandLine("group share list"))"
        case .scheduleTime: "give --at HH:MM, or --in TIME"
        case .scheduleDays: "give --days or --date with --at"
        case .laterSchedule: "give the schedule another time with \(commandLine("node schedule edit"))"
        case .modelNode: "use --like BOARD to name the board whose copy is right"
        case .repairedCopies:
            "run the command edit with --repair or --add-board to send the schedule or scene to the board"
        case .valuesOfNode: "add the board with --add-board BOARD and BOARD:DEVICE.PARAM=VALUE"
        case .accountName: "give the account your own name with --account"
        case .knownDeployment: "see \(commandLine("profile list"))"
        case .removedDeployment: "remove that profile with \(commandLine("profile remove"))"
        case .knownProvider: "see \(commandLine("account providers"))"
        case .fileStore: "keep the session in a file with \(Self.login) --store file"
        case .exportedSession: "export a new session with \(commandLine("account export"))"
        case .brokerCredentials: "give the name and the password with --user and --password-file"
        case .brokerAuthorities: "give a file of trusted certificates with --broker-ca"
        case .brokerClientCertificate: "give the certificate and its key with --client-cert and --client-key"
        }
    }

    /// The text for a command that has the option already: another value, or nil if nothing is left to suggest.
    ///
    /// - Returns: ``option`` if none of its options are given.
    func option(beside given: GivenOptionNames) -> String? {
        let (options, other): ([String], String?) =
            switch self {
            case .proofOfPossession, .localProof: (["pop", "pop-file", "pop-stdin"], nil)
            case .securityUserName: (["username"], "give another user name with --username")
            case .networkName: (["ssid", "ssid-hex"], nil)
            case .networkPassword: (["passphrase", "passphrase-file", "passphrase-stdin"], nil)
            case .openNetwork: (["open"], nil)
            case .withoutMapping: (["no-mapping"], nil)
            case .moreTime: (["timeout"], "allow more time with a longer --timeout")
            case .waiting: (["wait"], nil)
            case .boardName(let names):
                (["device-name"], Self.choice("choose another board with --device-name", names))
            case .port(let paths): (["port"], Self.choice("name another port with --port", paths))
            case .accessPointPassword: (["ap-password-file"], "give another password with --ap-password-file")
            case .host: (["device-host"], "give another address with --device-host HOST or HOST:PORT")
            case .localHost: (["host"], "give another address with --host HOST or HOST:PORT")
            case .anyOtherTransport: (["transport"], "use another --transport")
            case .backend: (["backend"], "describe your cloud in another file with --backend FILE")
            case .espressifTools: (["python"], "name another Python with --python")
            case .certificateAuthorities: (["ca-file"], "name another file of certificates with --ca-file")
            case .brokerCredentials: (["password-file"], "check the name and the password")
            case .brokerAuthorities: (["broker-ca"], "name another file of certificates with --broker-ca")
            case .brokerClientCertificate:
                (["client-cert"], "give another certificate with --client-cert and --client-key")
            case .modelNode: (["like"], "name another board with --like BOARD")
            case .forgottenPending: (["forget-pending"], nil)
            default: ([], nil)
            }
        return options.contains(where: given.contains) ? other : option
    }

    /// The command that has the options for an account, even if another command has failed.
    private static var login: String { commandLine(NamedProvider.ofThisCommand?.signIn ?? "login") }

    private static func choice(_ words: String, _ names: [String]) -> String {
        names.isEmpty ? words : "\(words) \(names.map(\.onOneLine.asShellWord).joined(separator: " or "))"
    }
}

extension String {
    /// The message, followed by a sentence that says what to type, if there is a remedy.
    func withAdvice(_ remedies: [Remedy], given: GivenOptionNames = .ofThisCommand) -> String {
        let advice = remedies.compactMap { $0.option(beside: given) }
        return advice.isEmpty ? self : "\(self) \(advice.joined(separator: ", or ").asSentence)"
    }
}

/// The names of this command's options, which advice does not suggest again.
struct GivenOptionNames: Sendable {
    private let names: Set<String>

    static var ofThisCommand: GivenOptionNames { GivenOptionNames(arguments: Invocation.current.arguments) }

    init(arguments: some Collection<String>) {
        names = Set(
            arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map {
                // The official client's spellings have underscores.
                String($0.dropFirst(2).prefix { $0 != "=" }).replacing("_", with: "-")
            })
    }

    /// - Parameter name: without the hyphens in front.
    func contains(_ name: String) -> Bool { names.contains(name) }
}

/// The identity provider of this command, for sentences about the next command.
struct NamedProvider: Sendable, Equatable {
    /// The name for `--provider`, perhaps with an environment after it: `spid`, `spid-stage`.
    let name: String

    /// The provider of this run's arguments and environment; nil for RainMaker.
    static var ofThisCommand: NamedProvider? { Invocation.current.provider }

    /// The option takes precedence over the variable, as in the commands; nil for RainMaker.
    init?(arguments: some Collection<String>, variable: String?) {
        let words = arguments.prefix { $0 != "--" }
        var named = variable.flatMap { $0.isEmpty ? nil : $0 }
        for (word, next) in zip(words, words.dropFirst().map(Optional.some) + [nil]) {
            if word == "--provider" { named = next ?? named }
            if word.hasPrefix("--provider=") { named = String(word.dropFirst("--provider=".count)) }
        }
        guard let named, named != "rainmaker", !named.isEmpty else { return nil }
        name = named
    }

    /// The command that signs in there again. Other settings are remembered.
    var signIn: String {
        for definition in ProviderRegistry.builtIn.entries.map(\.definition) {
            for environment in (definition.environments ?? [:]).keys
            where environment != definition.defaultEnvironment && definition.name(in: environment) == name {
                return "login --provider \(definition.id) --environment \(environment)"
            }
        }
        return "login --provider \(name.asShellWord)"
    }

    /// The command that shows the provider's own pages; nil for a built-in provider without a page that helps after this error.
    func pages(after code: AccountError.Code) -> String? {
        let builtIn = ProviderRegistry.builtIn.entries.first { $0.definition.id == name }
        if let builtIn {
            let pages = Set((builtIn.definition.links ?? [:]).keys)
            guard code == .passwordResetRequired ? pages.contains("forgot") : !pages.subtracting(["forgot"]).isEmpty
            else { return nil }
        }
        return "account providers \(name.asShellWord)"
    }
}
