// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import IdentityProviders
import RainAccount
import RainCore
import RainKit

extension Login {
    /// Signs in to an identity provider by its definition. The grant determines what is asked for, never the provider's name.
    func signIn(
        to provider: String, _ time: TimeBudget, _ context: Context, _ events: EventStream
    ) async throws -> LoginResult {
        do {
            return try await signIn(at: provider, time, context, events)
        } catch {
            guard let cause = error as? AccountError ?? (error as? RainKitError)?.account else { throw error }
            throw cause.recalling(recalledSettings(at: provider, context))
        }
    }

    private func signIn(
        at provider: String, _ time: TimeBudget, _ context: Context, _ events: EventStream
    ) async throws -> LoginResult {
        let entry = try context.providerDefinitions.entry(provider)
        try context.warnOfUnusedDefinition(of: provider)
        let definition = entry.definition
        let (grant, mode) = try way(at: definition, context)
        if let whyNot = definition.capabilities.first(where: { $0.grant == grant })?.whyNot {
            throw AccountError(
                .unsupported, message: "\(definition.displayName) does not support this sign-in: \(whyNot)")
        }
        var settings = try settings(for: definition, context)
        if settings.clientSecretFile == nil, definition.client?.secretFile == nil {
            let names = [definition.client?.secretEnvironment, RememberedProviders.Settings.clientSecretVariable]
            let used = names.compactMap(\.self).first { context.variable($0) != nil }
            Invocation.current.note { $0.clientSecretVariable = used }
        }
        settings.mode = mode ?? definition.modes?.first { definition.grant(ofMode: $0) == grant }
        let name = definition.name(in: settings.environment)
        let asksForUser = [.password, .basic, .cookie].contains(grant)
        let newcomer = try context.newcomer(user, at: name, isWanted: asksForUser)
        let user = asksForUser ? try userName(newcomer, context) : nil
        var store = try storing.choice(context)
        // A password is stored only on request. If nothing is to be stored, no store is tried.
        if [.basic, .cookie].contains(grant), !otherProvider.saveCredentials, store != .kind(.memory) {
            store = .kind(.memory)
            let end = Invocation.current.request == nil ? "ends with this command" : "ends when the server stops"
            context.output.say("note: The session \(end). To keep it, store the password with --save-credentials.")
        }
        let client = try context.client(
            provider: ProviderSelection(
                definition.id, settings: settings.withSecrets(for: definition, environment: context.environment),
                challenges: otherProvider.challenge.resolver(context)), account: newcomer.account)
        // Another process may be changing this session.
        let place = store
        let access = try await time.run {
            try await client.newAccount(user: user, in: place, savingCredentials: otherProvider.saveCredentials)
        }
        let result = try await events.following(access.session) {
            try await signIn(by: grant, settings, user: user, client, access, time, context, events)
        }
        context.tellPlace(of: access.newSession)
        context.tellAccountInUse(after: access.newSession)
        try client.remember(settings, as: name, for: access.newSession)
        return .signedIn(SignedInResult(result, access))
    }

    private func signIn(
        by grant: GrantName, _ settings: RememberedProviders.Settings, user: String?,
        _ client: RainKitClient, _ access: AccountAccess, _ time: TimeBudget, _ context: Context, _ events: EventStream
    ) async throws -> UserInfo {
        switch grant {
        case .authorizationCode where code.isGiven:
            // An app has requested the code for its backend, which is this client.
            let redirectURI = otherProvider.redirectURI ?? settings.parameters?["redirectURI"]
            let code = try code.required(sentTo: "this client", within: time, context)
            let credentials = SignInCredentials.authorizationCode(
                code, redirectURI: redirectURI ?? "", codeVerifier: nil)
            return try await time.run { try await access.session.signIn(credentials) }
        case .authorizationCode, .implicit:
            let browser = try BrowserSignIn(web, context, within: timeout.duration, events: events)
            return try await client.signIn(
                with: try browser.method(grant, redirectURI: otherProvider.redirectURI), to: access)
        case .deviceCode:
            return try await time.run {
                try await client.signIn(
                    with: .deviceCode {
                        events.writer?.note("page_shown")
                        show($0, context.output)
                    }, to: access)
            }
        default:
            var triesLeft = user == nil ? 1 : passwordTries(context)
            while true {
                let credentials = try credentials(grant, user: user, time, context)
                do {
                    return try await time.run { try await access.session.signIn(credentials) }
                } catch let error as AccountError where error.code == .invalidCredentials && triesLeft > 1 {
                    triesLeft -= 1
                    context.screen.say(error.message.asSentence)
                }
            }
        }
    }

    private func credentials(
        _ grant: GrantName, user: String?, _ time: TimeBudget, _ context: Context
    ) throws -> SignInCredentials {
        switch grant {
        case .clientCredentials: return .clientCredentials
        case .assertion:
            if let file = otherProvider.assertionFile { return .assertion(try secret(file, "assertion", time)) }
            guard let name = otherProvider.thirdParty, let file = otherProvider.thirdPartyTokenFile else {
                throw CommandFailure(
                    .usage, reason: "missing_assertion",
                    message:
                        "No assertion was given: use --assertion-file FILE, or --third-party NAME with --third-party-token-file FILE."
                )
            }
            return .thirdParty(
                ThirdPartyToken(
                    provider: name, token: try secret(file, "third party's token", time),
                    expires: otherProvider.thirdPartyExpires?.moment(from: SystemWallClock().now),
                    applicationID: otherProvider.applicationID ?? ""))
        default: return .password(user: user ?? "", password: try password.read(context, within: time))
        }
    }

    private func secret(_ file: String, _ name: String, _ time: TimeBudget) throws(CommandFailure) -> Secret {
        let secret =
            file == "-"
            ? try SecretSource.standardInput(name: name, within: time.left)
            : try SecretSource.contents(of: file, name: name, within: time.left)
        guard secret.isEmpty else { return secret }
        let place = file == "-" ? "standard input" : file.onOneLine
        throw CommandFailure(.usage, reason: "empty_secret", message: "The \(name) is empty (\(place)).")
    }

    /// Returns the grant, and the provider's own name for it. The named mode decides, then the other options, then the provider's default.
    private func way(at definition: ProviderDefinition, _ context: Context) throws -> (GrantName, mode: String?) {
        if let mode = otherProvider.mode {
            if let grant = definition.grant(ofMode: mode) { return (grant, mode) }
            let general: [String: GrantName] = [
                "browser": .authorizationCode, "implicit": .implicit, "device": .deviceCode, "password": .password,
                "client-credentials": .clientCredentials, "assertion": .assertion,
            ]
            if let grant = general[mode] { return (grant, nil) }
            let names = general.keys.sorted() + (definition.modes ?? [])
            throw CommandFailure(
                .usage, reason: "unknown_mode",
                message:
                    "\(definition.displayName) has no mode \"\(mode.onOneLine)\"; it has \(names.joined(separator: ", "))."
            )
        }
        if code.isGiven { return (.authorizationCode, nil) }
        if otherProvider.deviceCode { return (.deviceCode, nil) }
        if otherProvider.thirdParty != nil || otherProvider.assertionFile != nil { return (.assertion, nil) }
        let isUserGiven = user != nil || password.isGiven
        if let mode = definition.modes?.first, let grant = definition.grant(ofMode: mode), !web.isWanted,
            !(grant.isInBrowser && isUserGiven)
        {
            return (grant, mode)
        }
        if web.isWanted { return (definition.usualBrowserGrant, nil) }
        let has = { (grant: GrantName) in definition.grants?[grant.rawValue] != nil }
        if isUserGiven { return (has(.password) || !has(.basic) ? .password : .basic, nil) }
        return (
            [.authorizationCode, .implicit, .deviceCode, .password, .clientCredentials].first(where: has)
                ?? .authorizationCode,
            nil
        )
    }

    /// Returns the settings given now, in addition to those of the last sign-in.
    private func settings(for definition: ProviderDefinition, _ context: Context) throws -> RememberedProviders.Settings
    {
        let given = try otherProvider.settings(context, for: definition.id)
        let remembered = try RememberedProviders(state: context.folders.state).load()
        var settings = remembered[definition.name(in: given.environment)] ?? .init(provider: definition.id)
        if settings.update(with: given, for: definition) {
            context.output.say(
                "note: The stored secret for \(definition.displayName) belongs to another client or another address, so it is not used."
            )
        }
        return settings
    }

    /// The settings that an earlier sign-in remembered and this one was not given.
    private func recalledSettings(at provider: String, _ context: Context) -> [RecalledSetting] {
        guard let definition = try? context.providerDefinitions.entry(provider).definition,
            let given = try? otherProvider.settings(context, for: provider),
            let remembered = try? RememberedProviders(state: context.folders.state).load()
        else { return [] }
        return remembered[definition.name(in: given.environment)]?.recalled(beside: given) ?? []
    }

    private func show(_ authorization: DeviceAuthorization, _ output: Output) {
        let complete =
            authorization.verificationURIComplete.map { " (or open \($0), which already contains the code)" } ?? ""
        // The sign-in cannot continue without it, so it is printed even with `--quiet`.
        output.tell(
            "Open \(authorization.verificationURI) on any device and enter the code \(authorization.userCode)\(complete)"
                .withoutControls + "\n",
            page: SignInPage(
                url: authorization.verificationURI, userCode: authorization.userCode,
                completeURL: authorization.verificationURIComplete))
    }
}

/// The options for signing in to an identity provider other than RainMaker.
struct ProviderSignInOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sign in at this provider: spid, liferay, oclc, oidc, neo, or one that you have defined. To list providers, run rainctl account providers.",
            valueName: "name"))
    var provider: String?

    @Option(
        help: ArgumentHelp(
            "Sign in with this mode: browser, implicit, device, password, client-credentials, assertion, or a mode of this provider.",
            valueName: "mode"))
    var mode: String?

    @Option(help: ArgumentHelp("Use this environment of the provider, such as stage.", valueName: "name"))
    var environment: String?

    @Option(name: .customLong("base-url"), help: ArgumentHelp("Use this base URL of the provider.", valueName: "url"))
    var base: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("Use this client id at the provider.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp("Read the client's secret from this file, now and in later commands.", valueName: "file"),
        completion: .file())
    var clientSecretFile: String?

    @Option(help: ArgumentHelp("Request these scopes, separated by spaces.", valueName: "scope"))
    var scope: String?

    @Option(
        help: ArgumentHelp("Set a parameter of the provider, as name=value (repeatable).", valueName: "setting"))
    var set: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read a secret of the provider from a file, as name=file (repeatable).", valueName: "setting"))
    var secretFile: [String] = []

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("Use this redirect URI. It must be registered at the provider.", valueName: "uri"))
    var redirectURI: String?

    @Flag(help: "Sign in on another device: rainctl shows a code to enter there.")
    var deviceCode = false

    @Option(help: ArgumentHelp("Sign in with a token of this third party, such as facebook.", valueName: "provider"))
    var thirdParty: String?

    @Option(
        help: ArgumentHelp("Read the third party's token from a file (- for standard input).", valueName: "file"),
        completion: .file())
    var thirdPartyTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Set the time at which the third party's token expires: a date such as 2030-01-01T12:00:00Z, or a time from now, such as 60m.",
            valueName: "time"))
    var thirdPartyExpires: EndArgument?

    @Option(
        name: .customLong("app-id"),
        help: ArgumentHelp(
            "Use this application id. The third party must have issued the token to this application.", valueName: "id")
    )
    var applicationID: String?

    @Option(
        help: ArgumentHelp("Read a signed assertion from a file (- for standard input).", valueName: "file"),
        completion: .file())
    var assertionFile: String?

    @Flag(
        help:
            "Also store the password. rainctl keeps sessions of Liferay's modes basic and cookie only with this option."
    )
    var saveCredentials = false

    @OptionGroup var challenge: ChallengeOptions

    var waitsForPerson: Bool { deviceCode || ["browser", "implicit", "device"].contains(mode) }

    /// The options that were given, besides `--provider` itself.
    var given: [String] {
        let all: [(name: String, isGiven: Bool)] = [
            ("--mode", mode != nil), ("--environment", environment != nil), ("--base-url", base != nil),
            ("--client-id", clientID != nil), ("--client-secret-file", clientSecretFile != nil),
            ("--scope", scope != nil), ("--set", !set.isEmpty), ("--secret-file", !secretFile.isEmpty),
            ("--redirect-uri", redirectURI != nil), ("--device-code", deviceCode),
            ("--third-party", thirdParty != nil), ("--third-party-token-file", thirdPartyTokenFile != nil),
            ("--third-party-expires", thirdPartyExpires != nil), ("--app-id", applicationID != nil),
            ("--assertion-file", assertionFile != nil), ("--save-credentials", saveCredentials),
            ("--gate-user", challenge.gateUser != nil), ("--gate-password-file", challenge.gatePasswordFile != nil),
        ]
        return all.filter(\.isGiven).map(\.name)
    }

    /// The option, then the environment; nil for RainMaker.
    func name(_ context: Context) -> String? {
        context.providerName(provider)
    }

    func validate(_ web: BrowserOptions) throws {
        for setting in set + secretFile where setting.firstIndex(of: "=").map({ $0 > setting.startIndex }) != true {
            throw ValidationError("--set and --secret-file take name=value, not \"\(setting)\".")
        }
        if deviceCode, web.isWanted || mode != nil {
            throw ValidationError("--device-code needs no browser and no --mode: omit these options.")
        }
        if environment != nil, base != nil {
            throw ValidationError("--environment and --base-url both set the base URL: give only one of them.")
        }
        if thirdParty != nil, thirdPartyTokenFile == nil {
            throw ValidationError(
                "--third-party needs the token of the third party: give --third-party-token-file FILE, or - for standard input."
            )
        }
        if thirdPartyExpires != nil, thirdParty == nil {
            throw ValidationError(
                "--third-party-expires works only with --third-party.")
        }
        if thirdParty != nil, assertionFile != nil {
            throw ValidationError("Give --third-party or --assertion-file, but not both.")
        }
    }

    /// The settings that later commands also need.
    func settings(_ context: Context, for provider: String) throws(CommandFailure) -> RememberedProviders.Settings {
        var settings = RememberedProviders.Settings(provider: provider)
        settings.environment = environment
        settings.base = base
        settings.clientID = clientID
        settings.clientSecretFile = try clientSecretFile.map { file throws(CommandFailure) in try absolute(file) }
        settings.scope = scope.map { $0.split(separator: " ").map(String.init) }
        var parameters: [String: String] = [:]
        for setting in set {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[String(parts[0])] = String(parts[1])
        }
        settings.parameters = parameters.isEmpty ? nil : parameters
        for setting in secretFile {
            let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            settings.secretFiles = (settings.secretFiles ?? [:]).merging([
                String(parts[0]): try absolute(String(parts[1]))
            ]) { $1 }
        }
        return settings
    }

    /// Returns an absolute path, because later commands may run in another folder.
    private func absolute(_ path: String) throws(CommandFailure) -> String {
        guard let found = absolutePath(path) else {
            throw CommandFailure(
                .badData,
                message:
                    "The path of the client secret's file, \(path.onOneLine), is not absolute: later commands cannot find the file."
            )
        }
        return found
    }
}

/// The end of something, on the command line: a date and time of day in UTC (`2030-01-01T12:00:00Z`), or the time until then.
enum EndArgument: ExpressibleByArgument, Equatable {
    case at(UnixTime)
    case after(Duration)

    init?(argument: String) {
        if let duration = DurationArgument(argument: argument)?.duration {
            self = .after(duration)
        } else if let time = UnixTime(utc: argument) {
            self = .at(time)
        } else {
            return nil
        }
    }

    func moment(from now: UnixTime) -> UnixTime {
        switch self {
        case .at(let time): time
        case .after(let duration): now + duration / .seconds(1)
        }
    }
}

/// User name and password for a server in front of the provider that asks for them, such as a proxy.
struct ChallengeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Use this user name if a proxy in front of the provider asks for one.", valueName: "name"))
    var gateUser: String?

    @Option(
        help: ArgumentHelp("Read the password for the proxy in front of the provider from a file.", valueName: "file"),
        completion: .file())
    var gatePasswordFile: String?

    /// Answers with the given values, or asks the user. A second challenge is not answered, because the password was wrong.
    func resolver(_ context: Context) throws(CommandFailure) -> any ChallengeResolver {
        let password = try gatePasswordFile.map { file throws(CommandFailure) in
            try SecretSource.contents(of: file, name: "password for the proxy in front of the provider")
        }
        return OneAnswer(user: gateUser, password: password, screen: context.mayAsk ? context.screen : nil)
    }
}

private struct OneAnswer: ChallengeResolver {
    let user: String?
    let password: Secret?
    /// Nil if nobody can be asked.
    let screen: Screen?

    func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer {
        guard challenge.previousFailureCount == 0 else { return .performDefaultHandling }
        if let user, let password { return .useCredential(user: user, password: password) }
        guard let screen else { return .performDefaultHandling }
        let place = (challenge.realm ?? challenge.host).onOneLine
        return await screen.asking {
            var (user, password) = (user, password)
            if user == nil { user = await screen.ask("User name for \(place): ") }
            guard let user, !user.isEmpty else { return .cancel }
            if password == nil { password = await screen.askSecret("Password for \(place): ") }
            guard let password else { return .cancel }
            return .useCredential(user: user, password: password)
        }
    }
}
