// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainKit

extension Remedy {
    /// The text to type, as a part of a sentence such as "Give the base URL with --base-url."
    var option: String {
        switch self {
        case .proofOfPossession: "give the proof of possession with --pop-file"
        case .securityUserName: "give the user name with --username"
        case .anySecurity: "omit --sec-ver to follow the board"
        case .acceptedSecurity(let version):
            "if you are sure that this is the right board, accept it with --sec-ver \(version)"
        case .otherTransport: "choose another transport with --transport ble or softap"
        case .accessPoint: "if the board has its own access point, reach it there with --transport softap"
        case .networkName: "name the network with rainctl provision --ssid"
        case .networkPassword: "give the Wi-Fi password with --passphrase-file"
        case .openNetwork: "join it with --open"
        case .claimService: "remove the profile and name the claim service with rainctl profile add --claim-url"
        case .claimOverCable: "claim the board with rainctl device claim --host"
        case .boardLog: "see the board's log with rainctl device monitor --restart"
        case .withoutMapping: "set up only the Wi-Fi with rainctl provision --no-mapping"
        case .moreTime: "allow more time with --timeout"
        case .waiting: "wait for it with --wait"
        case .boardName(let names): Self.choice("choose the board with --device-name", names)
        case .port(let paths): Self.choice("name the port with --port", paths)
        case .accessPointPassword: "give the password of the board's own network with --ap-password-file"
        case .host: "give it with --device-host HOST or HOST:PORT"
        case .localHost: "give the address with --host HOST or HOST:PORT"
        case .localProof(isInCloud: false): "give it with --pop-file FILE"
        case .localProof(isInCloud: true):
            "sign in to get it from the cloud, or where you are signed in, copy it from rainctl node params get NODE "
                + "\"Local Control.POP\" and give it with --pop-file FILE"
        case .nodeInAccount: "once it is in your account, use rainctl node params"
        case .anyOtherTransport: "use --transport ble or softap"
        case .backend: "describe it with --backend FILE"
        case .espressifTools:
            "name a Python that has Espressif's tools with --python (ESP-IDF's own, or that of a virtual environment)"
        case .macAddress: "give the board's MAC address with --mac"
        case .flashAddress: "name the address of its partition fctry with --flash-address"
        case .otherRedirect:
            "choose another --redirect, or remove the profile and add it with rainctl profile add --relay-url or --scheme-redirect"
        case .signIn: "sign in with \(Self.login)"
        case .storedSession: "look at the session with rainctl account status"
        case .cloudAnswer: "look at the cloud's answer with rainctl account curl -- -i /v1/user2"
        case .deploymentSettings: "check the settings with rainctl profile show"
        case .certificateAuthorities: "name a file of certificates to trust with --ca-file"
        case .signInMode(let provider, let modes):
            "sign in with "
                + modes.map { "rainctl login --provider \(provider) --mode \($0)" }.joined(separator: " or ")
        case .forgottenPending: "give up unconfirmed mappings of earlier runs with rainctl provision --forget-pending"
        case .signInPage: "sign in with \(Self.login) --browser"
        case .pastedAddress: "paste the address with \(Self.login) --paste"
        case .otherCallbackPort: "choose a port with \(Self.login) --callback-port"
        case .baseURL: "give the base URL with \(Self.login) --base-url"
        case .clientID: "give the client id with \(Self.login) --client-id"
        case .clientSecret: "give the client's secret with \(Self.login) --client-secret-file"
        case .parameter(let name): "give \(name) with \(Self.login) --set \(name)=…"
        case .secretParameter(let name): "give it with \(Self.login) --secret-file \(name)=FILE"
        case .gateCredentials:
            "give the name and password for that server with \(Self.login) --gate-user and --gate-password-file"
        case .applicationID: "give the application's id with \(Self.login) --app-id"
        case .redirectURI: "give the redirect URI with \(Self.login) --redirect-uri"
        case .rememberedSettings(let names):
            names.first.map {
                "change such a setting with \(Self.login) --set \($0.onOneLine)=VALUE (an empty value forgets it)"
            } ?? "give other values with \(Self.login)"
        case .knownAccount: "see rainctl account list"
        case .updateState(let node): "see its progress with rainctl node params get \(node.onOneLine.asShellWord)"
        case .knownNode: "see rainctl node list"
        case .knownGroup: "see rainctl group list"
        case .knownAutomation: "see rainctl automation list"
        case .knownCommand: "give the request id that is shown by rainctl node command send"
        case .otherParent: "name another group with --parent"
        case .sharedGroups: "see rainctl group share list"
        case .scheduleTime: "give --at HH:MM, or --in TIME"
        case .scheduleDays: "give --days or --date with --at"
        case .laterSchedule: "give it another time with rainctl node schedule edit"
        case .accountName: "give the account your own name with --account"
        case .knownDeployment: "see rainctl profile list"
        case .removedDeployment: "remove it with rainctl profile remove"
        case .knownProvider: "see rainctl account providers"
        case .fileStore: "keep the session in a file with \(Self.login) --store file"
        case .exportedSession: "export a new session with rainctl account export"
        }
    }

    /// The command that has the options for an account, even if another command has failed.
    private static var login: String { "rainctl \(NamedProvider.ofThisCommand?.signIn ?? "login")" }

    private static func choice(_ words: String, _ names: [String]) -> String {
        names.isEmpty ? words : "\(words) \(names.map(\.onOneLine.asShellWord).joined(separator: " or "))"
    }
}

extension String {
    /// The message, followed by a sentence that says what to type, if there is a remedy.
    func withAdvice(_ remedies: [Remedy]) -> String {
        remedies.isEmpty ? self : "\(self) \(remedies.map(\.option).joined(separator: ", or ").asSentence)"
    }
}

/// The identity provider of this command, for sentences about the next command.
struct NamedProvider: Sendable, Equatable {
    /// The name for `--provider`, perhaps with an environment after it: `spid`, `spid-stage`.
    let name: String

    /// The provider of the process's arguments and environment; nil for RainMaker.
    static let ofThisCommand = NamedProvider(
        arguments: CommandLine.arguments.dropFirst(), variable: getenv("RAINKIT_PROVIDER").map { String(cString: $0) })

    /// Whether the environment names the provider, and no option does.
    static var isFromVariable: Bool {
        ofThisCommand != nil && NamedProvider(arguments: CommandLine.arguments.dropFirst(), variable: nil) == nil
    }

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
