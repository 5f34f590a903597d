// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainKit

extension Remedy {
    /// What to type, as a part of a sentence such as "Give the base URL with --base-url."
    var instruction: String {
        switch self {
        case .proofOfPossession: "give the proof of possession with --pop-file"
        case .securityUserName: "give the user name with --username"
        case .anySecurity: "leave --sec-ver away to follow the board"
        case .acceptedSecurity(let version):
            "if you are sure that it is the right board, accept it with --sec-ver \(version)"
        case .otherTransport: "choose another way to the board with --transport ble or softap"
        case .accessPoint: "where the board opens an access point of its own, reach it there with --transport softap"
        case .networkName: "name the network with rainctl provision --ssid"
        case .networkPassword: "give the Wi-Fi password with --passphrase-file"
        case .openNetwork: "join it with --open"
        case .claimService: "remove the profile and name the claim service with rainctl profile add --claim-url"
        case .claimOverCable: "claim the board with rainctl device claim --host"
        case .boardLog: "see what the board prints with rainctl device monitor --restart"
        case .withoutMapping: "set up the Wi-Fi alone with rainctl provision --no-mapping"
        case .moreTime: "give it longer with --timeout"
        case .waiting: "have it waited for with --wait"
        case .boardName(let names): Self.choice("choose the board with --device-name", names)
        case .port(let paths): Self.choice("name the port with --port", paths)
        case .accessPointPassword: "give the password of the board's own network with --ap-password-file"
        case .host: "give it with --device-host HOST or HOST:PORT"
        case .anyOtherTransport: "use --transport ble or softap"
        case .backend: "describe it with --backend FILE"
        case .otherRedirect:
            "choose another --redirect, or remove the profile and add it with rainctl profile add --relay-url or --scheme-redirect"
        case .signIn: "sign in with \(Self.login)"
        case .signInMode(let provider, let modes):
            "sign in with "
                + modes.map { "rainctl login --provider \(provider) --mode \($0)" }.joined(separator: " or ")
        case .forgottenPending: "give up what earlier runs left with rainctl provision --forget-pending"
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
        case .accountName: "give the account a name of yours with --account"
        case .knownDeployment: "see rainctl profile list"
        case .removedDeployment: "remove it with rainctl profile remove"
        case .knownProvider: "see rainctl account providers"
        case .fileStore: "keep the session in a file with \(Self.login) --store file"
        case .exportedSession: "export a new session with rainctl account export"
        }
    }

    /// The command that has the options for an account, also where another command has failed.
    private static var login: String { "rainctl \(NamedProvider.ofThisCommand?.signIn ?? "login")" }

    private static func choice(_ words: String, _ names: [String]) -> String {
        names.isEmpty ? words : "\(words) \(names.map(\.onOneLine.asShellWord).joined(separator: " or "))"
    }
}

extension String {
    /// Followed by a sentence that says what to type, where there is a remedy.
    func withAdvice(_ remedies: [Remedy]) -> String {
        remedies.isEmpty ? self : "\(self) \(remedies.map(\.instruction).joined(separator: ", or ").asSentence)"
    }
}

/// The identity provider that this command is about, for sentences that say what to run next.
struct NamedProvider: Sendable, Equatable {
    /// As `--provider` takes it, perhaps with an environment behind it: `spid`, `spid-stage`.
    let name: String

    /// What the process was started with; nil for RainMaker.
    static let ofThisCommand = NamedProvider(
        arguments: CommandLine.arguments.dropFirst(), variable: getenv("RAINKIT_PROVIDER").map { String(cString: $0) })

    /// The option before the variable, as commands themselves have it; nil for RainMaker.
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

    /// Signs in there again: the other settings are remembered.
    var signIn: String {
        for definition in ProviderRegistry.builtIn.entries.map(\.definition) {
            for environment in (definition.environments ?? [:]).keys
            where environment != definition.defaultEnvironment && definition.name(in: environment) == name {
                return "login --provider \(definition.id) --environment \(environment)"
            }
        }
        return "login --provider \(name.asShellWord)"
    }

    /// Tells the provider's own pages, where an address is confirmed or a password reset.
    var pages: String { "account providers \(name.asShellWord)" }
}
