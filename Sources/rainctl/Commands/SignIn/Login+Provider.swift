// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore

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
