// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

extension Login {
    /// Signs in to an identity provider by its definition: what is asked for follows from the grant, never from the provider's name.
    func signIn(
        to provider: String, _ time: TimeBudget, _ context: Context, _ events: SignInEvents
    ) async throws -> LoginResult {
        do {
            return try await signIn(at: provider, time, context, events)
        } catch let error as AccountError {
            throw error.recalling(recalledSettings(at: provider, context))
        }
    }

    private func signIn(
        at provider: String, _ time: TimeBudget, _ context: Context, _ events: SignInEvents
    ) async throws -> LoginResult {
        let entry = try context.providerDefinitions.entry(provider)
        try context.warnOfUnusedDefinition(of: provider)
        let definition = entry.definition
        let (grant, mode) = try way(at: definition, context)
        if let whyNot = definition.capabilities.first(where: { $0.grant == grant })?.whyNot {
            throw AccountError(.unsupported, message: "\(definition.displayName) cannot do this: \(whyNot)")
        }
        var settings = try settings(for: definition, context)
        settings.mode = mode ?? definition.modes?.first { definition.grant(ofMode: $0) == grant }
        let name = definition.name(in: settings.environment)
        let asksForUser = [.password, .basic, .cookie].contains(grant)
        let newcomer = try context.newcomer(user, at: name, isWanted: asksForUser)
        let user = asksForUser ? try userName(newcomer, context) : nil
        var store = try storing.choice(context)
        // A password is stored only on request, and where nothing is to be stored no store is tried.
        if [.basic, .cookie].contains(grant), !otherProvider.saveCredentials, store != .kind(.memory) {
            store = .kind(.memory)
            context.output.say("note: The sign-in is tried and not kept; --save-credentials keeps the password.")
        }
        let client = try context.client(
            provider: ProviderSelection(
                definition.id, settings: settings.withSecrets(for: definition, environment: context.environment),
                challenges: otherProvider.challenge.resolver(context)), account: newcomer.account)
        // Another process may hold the place of the session.
        let place = store
        let access = try await time.run {
            try await client.newAccount(user: user, in: place, savingCredentials: otherProvider.saveCredentials)
        }
        let result = try await events.following(access.session) {
            try await signIn(by: grant, settings, user: user, client, access, time, context, events)
        }
        context.tellPlace(of: access.newSession)
        // What is not kept is not remembered either: an earlier session goes on with the settings that it was made with.
        if access.newSession?.outlivesProcess == true {
            try client.rememberedProviders.remember(settings, as: name)
        }
        return .signedIn(SignedInResult(result, access))
    }

    private func signIn(
        by grant: GrantName, _ settings: RememberedProviders.Settings, user: String?,
        _ client: RainKitClient, _ access: AccountAccess, _ time: TimeBudget, _ context: Context, _ events: SignInEvents
    ) async throws -> UserInfo {
        switch grant {
        case .authorizationCode where code.isGiven:
            // An app has asked for the code on behalf of its backend, which is this client.
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
                        events.pageShown()
                        show($0)
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
                    message: "No assertion given: use --assertion-file FILE, or --third-party NAME with its token.")
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
        file == "-"
            ? try SecretSource.standardInput(name: name, within: time.left)
            : try SecretSource.contents(of: file, name: name, within: time.left)
    }

    /// Which grant is meant, and the provider's own name for it: the mode that is named, else what the other options speak of, else what
    /// the provider usually does.
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
                    "\(definition.displayName) has no mode \"\(mode.onOneLine)\", but \(names.joined(separator: ", "))."
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

    /// What is given now, over what was given last time.
    private func settings(for definition: ProviderDefinition, _ context: Context) throws -> RememberedProviders.Settings
    {
        let given = try otherProvider.settings(context, for: definition.id)
        let remembered = try RememberedProviders(state: context.folders.state).load()
        var settings = remembered[definition.name(in: given.environment)] ?? .init(provider: definition.id)
        if settings.update(with: given, for: definition) {
            context.output.say(
                "note: The secret that is remembered for \(definition.displayName) is another client's, or for another address: it is not used."
            )
        }
        return settings
    }

    /// What an earlier sign-in has left behind and this one was not given.
    private func recalledSettings(at provider: String, _ context: Context) -> [RecalledSetting] {
        guard let definition = try? context.providerDefinitions.entry(provider).definition,
            let given = try? otherProvider.settings(context, for: provider),
            let remembered = try? RememberedProviders(state: context.folders.state).load()
        else { return [] }
        return remembered[definition.name(in: given.environment)]?.recalled(beside: given) ?? []
    }

    private func show(_ authorization: DeviceAuthorization) {
        let complete = authorization.verificationURIComplete.map { " (or at once: \($0))" } ?? ""
        // The sign-in cannot go on without it, so it is printed even with --quiet.
        StandardStreams.err(
            "Open \(authorization.verificationURI) on any device and enter the code \(authorization.userCode)\(complete)"
                .withoutControls + "\n")
    }
}

/// How to sign in to an identity provider other than RainMaker.
struct ProviderSignInOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sign in to spid, liferay, oclc, oidc, neo or a definition of your own (see: rainctl account providers).",
            valueName: "name"))
    var provider: String?

    @Option(
        help: ArgumentHelp(
            "The way in: browser, implicit, device, password, client-credentials, assertion, or one of the provider's own.",
            valueName: "mode"))
    var mode: String?

    @Option(help: ArgumentHelp("Which of the provider's systems, such as stage.", valueName: "name"))
    var environment: String?

    @Option(name: .customLong("base-url"), help: ArgumentHelp("The provider's base URL.", valueName: "url"))
    var base: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("This client's id at the provider.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp("Read the client's secret from this file, now and later.", valueName: "file"),
        completion: .file())
    var clientSecretFile: String?

    @Option(help: ArgumentHelp("What to ask for, separated by spaces.", valueName: "scope"))
    var scope: String?

    @Option(
        help: ArgumentHelp("One of the provider's parameters, as name=value; again for more.", valueName: "setting"))
    var set: [String] = []

    @Option(
        help: ArgumentHelp(
            "Where one of the provider's secrets is, as name=file; again for more.", valueName: "setting"))
    var secretFile: [String] = []

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp("Where the client is registered to be sent.", valueName: "uri"))
    var redirectURI: String?

    @Flag(help: "Sign in on another device: a code is shown to be entered there.")
    var deviceCode = false

    @Option(help: ArgumentHelp("Sign in with another provider's token, such as facebook's.", valueName: "provider"))
    var thirdParty: String?

    @Option(
        help: ArgumentHelp("Read that token from a file; - is standard input.", valueName: "file"), completion: .file())
    var thirdPartyTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "When that token ends: a date such as 2030-01-01T12:00:00Z, or the time from now: 3600, 60m.",
            valueName: "time"))
    var thirdPartyExpires: EndArgument?

    @Option(
        name: .customLong("app-id"), help: ArgumentHelp("The application that the token was given to.", valueName: "id")
    )
    var applicationID: String?

    @Option(
        help: ArgumentHelp("Read a signed assertion from a file; - is standard input.", valueName: "file"),
        completion: .file())
    var assertionFile: String?

    @Flag(help: "Keep a password, or cookies that are renewed with one; without this they serve this sign-in only.")
    var saveCredentials = false

    @OptionGroup var challenge: ChallengeOptions

    var waitsForPerson: Bool { deviceCode || ["browser", "implicit", "device"].contains(mode) }

    /// The flag, then the environment; nil for RainMaker.
    func name(_ context: Context) -> String? {
        context.providerName(provider)
    }

    func validate(_ web: BrowserOptions) throws {
        for setting in set + secretFile where setting.firstIndex(of: "=").map({ $0 > setting.startIndex }) != true {
            throw ValidationError("--set and --secret-file take name=value, and \"\(setting)\" is none.")
        }
        if deviceCode, web.isWanted || mode != nil {
            throw ValidationError("--device-code needs no browser here and no --mode: it goes without.")
        }
        if thirdParty != nil, thirdPartyTokenFile == nil {
            throw ValidationError("--third-party wants its token: --third-party-token-file FILE, - for standard input.")
        }
        if thirdPartyExpires != nil, thirdParty == nil {
            throw ValidationError(
                "--third-party-expires is the end of a third party's token: it goes with --third-party.")
        }
        if thirdParty != nil, assertionFile != nil {
            throw ValidationError("--third-party and --assertion-file exclude each other.")
        }
    }

    /// The settings that a later command needs too.
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

    /// Later commands may run in another folder.
    private func absolute(_ path: String) throws(CommandFailure) -> String {
        guard let found = absolutePath(path) else {
            throw CommandFailure(
                .badData, message: "The client secret's file \(path.onOneLine) cannot be found again later.")
        }
        return found
    }
}

/// When something ends, on the command line: a date and time of day in UTC (`2030-01-01T12:00:00Z`), or the time until then.
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

/// User name and password for a server in front of the provider, such as a proxy, that asks for them.
struct ChallengeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Your name at the server in front, if it asks.", valueName: "name"))
    var gateUser: String?

    @Option(
        help: ArgumentHelp("Read the password for that server from a file.", valueName: "file"), completion: .file())
    var gatePasswordFile: String?

    /// Answers with what was given, or with what a person types. A second challenge is not answered: the password was wrong.
    func resolver(_ context: Context) throws(CommandFailure) -> any ChallengeResolver {
        let password = try gatePasswordFile.map { file throws(CommandFailure) in
            try SecretSource.contents(of: file, name: "password for the server in front")
        }
        return OneAnswer(user: gateUser, password: password, screen: context.mayAsk ? context.screen : nil)
    }
}

private struct OneAnswer: ChallengeResolver {
    let user: String?
    let password: Secret?
    /// Nil where no one can be asked.
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
