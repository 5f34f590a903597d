// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "login", abstract: "Sign in, and keep the session for later commands.",
        discussion: """
            Example: rainctl login me@example.com --password-file password.txt
                     rainctl login --idp github
                     rainctl login --provider oidc --client-id app --device-code \\
                         --set issuer=https://id.example.com

            Some sign-ins also need a one-time code. rainctl asks for the code, or reads it with --code-stdin or --code-file. If rainctl \
            cannot ask for the code, finish the sign-in later with rainctl login USER --code-stdin.

            To see what each identity provider supports, run rainctl account providers.
            """)

    @Argument(help: "Your e-mail address, or your telephone number with + and the country code.")
    var user: String?

    @OptionGroup var password: PasswordOptions

    @Flag(help: "Sign in with a one-time code from the cloud instead of a password.")
    var oneTimeCode = false

    @OptionGroup var code: CodeOptions

    @Flag(help: "Sign in as a guest, without a name, if the deployment allows guests.")
    var guest = false

    @OptionGroup(title: "In a browser") var web: BrowserOptions

    @OptionGroup(title: "At another identity provider") var otherProvider: ProviderSignInOptions

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "Give up after this time, such as 500ms, 6s or 2m. (default: 60s; 5m in a browser)", valueName: "time"))
    var givenTimeout: DurationArgument?

    var timeout: DurationArgument {
        givenTimeout ?? DurationArgument(.seconds(web.isWanted || otherProvider.waitsForPerson ? 300 : 60))
    }

    @Option(help: ArgumentHelp("Print each event as a line of JSON when it happens.", valueName: "form"))
    var events: Provision.Events?

    @OptionGroup(title: "Session") var storing: StoreOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try checkStandardInput(password.passwordStdin, code.codeStdin)
        try otherProvider.validate(web)
        if guest, user != nil || oneTimeCode || password.isGiven || code.isGiven {
            throw ValidationError("A guest has no name, password or code: give --guest alone.")
        }
        if web.isWanted, user != nil || guest || oneTimeCode || password.isGiven || code.isGiven {
            throw ValidationError(
                "You choose the user in the browser: omit USER, the password and the code.")
        }
        if oneTimeCode, password.isGiven {
            throw ValidationError("--one-time-code replaces the password: give only one of them.")
        }
    }

    func run() async throws {
        var context = try Context(options)
        context.sharesAccounts = !storing.noSave
        try checkProviderOptions(context)
        // The user of a browser's sign-in may paste its last address at any time.
        if !web.isWanted { TypedInput.hideWhileWorking() }
        let events = EventStream(ofSignIn: context, events)
        events.writer?.note("started")
        var isSignedIn = false
        try await events.ending {
            let time = TimeBudget(timeout)
            if let provider = otherProvider.name(context) {
                return try await signIn(to: provider, time, context, events)
            }
            let newcomer = try context.newcomer(
                user, at: context.deployment().name, isWanted: !web.isWanted && !guest && !onlyFinishes)
            let client = try context.client(account: newcomer.account)
            let choice = try storing.choice(context)
            // Another process may be changing this session.
            let account = try await time.run { try await client.newAccount(user: newcomer.user, in: choice) }
            let result = try await events.following(account.session) {
                if web.isWanted { return try await signInThroughBrowser(context, client, account, events) }
                return try await signIn(newcomer, client, account, time, context)
            }
            context.tellPlace(of: account.newSession)
            context.tellAccountInUse(after: account.newSession)
            if case .signedIn = result { isSignedIn = true }
            return result
        }
        if isSignedIn, !options.json { context.tellNextStep() }
    }

    /// Throws `usage` for an option that this sign-in does not use: either RainMaker's or that of another identity provider.
    private func checkProviderOptions(_ context: Context) throws(CommandFailure) {
        guard let provider = otherProvider.name(context) else {
            guard let option = otherProvider.given.first else { return }
            throw CommandFailure(
                .usage, message: "\(option) needs --provider: the sign-in to RainMaker does not have this option.")
        }
        let own = [("--guest", guest), ("--one-time-code", oneTimeCode), ("--idp", web.idp != nil)]
        guard let option = own.first(where: \.1)?.0 else { return }
        throw CommandFailure(
            .usage,
            message: "\(option) is for the sign-in to RainMaker: \(provider.onOneLine) does not have this option.")
    }

    /// Whether the code is for a sign-in that an earlier command has started.
    private var onlyFinishes: Bool { code.isGiven && !oneTimeCode && !password.isGiven }

    func signIn(
        _ newcomer: SignInUser, _ client: RainKitClient, _ account: AccountAccess, _ time: TimeBudget,
        _ context: Context
    ) async throws -> LoginResult {
        if guest { return try await signIn(.guest, account, time) }
        if onlyFinishes { return try await answer(waitingChallenge(client), client, account, time, context) }
        let rule = { (name: String) throws(AccountError) in try RainMakerAccount.check(userName: name) }
        let question = "E-mail address or telephone number"
        var user = try userName(newcomer, context, question: "\(question): ", rule: rule)
        if oneTimeCode {
            let rainMaker = try account.rainMakerAccount(for: "sign-in with one-time codes")
            let challenge = try await time.run { [user] in try await rainMaker.requestOneTimeCode(for: user) }
            return try await answer(challenge, client, account, time, context)
        }
        var triesLeft = passwordTries(context)
        while true {
            let secret = try password.read(context, within: time)
            do {
                return try await signIn(.password(user: user, password: secret), account, time)
            } catch let error as AccountError {
                if let challenge = error.challenge {
                    return try await answer(challenge, client, account, time, context)
                }
                triesLeft -= 1
                guard error.code == .invalidCredentials else { throw error }
                guard triesLeft > 0 else { throw Self.refused(error, user, wasTyped: password.isAsked(context)) }
                context.screen.say(error.message.asSentence)
                // The user name may be mistyped too.
                guard newcomer.user == nil || newcomer.isTyped else { continue }
                user = try asked("\(question) (Enter for \(user.onOneLine)): ", otherwise: user, rule: rule)
            }
        }
    }

    /// The last refusal of a password. If the user has typed it, the message names the way to a new one.
    private static func refused(_ error: AccountError, _ user: String, wasTyped: Bool) -> any Error {
        guard wasTyped else { return error }
        var failure = CommandFailure(error)
        failure.message +=
            " If you have forgotten the password, set a new one with: "
            + commandLine("account password reset \(user.onOneLine.asShellWord)")
        return failure
    }

    /// Returns how often a password may be refused. A typed password may have been mistyped; one from a file is the same each time.
    func passwordTries(_ context: Context) -> Int {
        password.isAsked(context) && !options.isJSON && events == nil ? 3 : 1
    }

    private func signIn(
        _ credentials: SignInCredentials, _ account: AccountAccess, _ time: TimeBudget
    ) async throws -> LoginResult {
        let user = try await time.run { try await account.session.signIn(credentials) }
        return .signedIn(SignedInResult(user, account))
    }

    /// The sign-in of an earlier command that is waiting for its code.
    private func waitingChallenge(_ client: RainKitClient) throws -> SignInChallenge {
        if let challenge = try client.pendingSignIn.load(user: user) { return challenge }
        throw CommandFailure(
            .auth, reason: "no_pending_sign_in",
            message: "No sign-in\(user.map { " of \($0.onOneLine)" } ?? "") is waiting for a code. "
                + "To start a sign-in, run: \(commandLine("login \(user?.onOneLine.asShellWord ?? "USER") --one-time-code"))"
        )
    }

    /// Finishes a sign-in with the code that was sent. Until the cloud ends the sign-in, a later command can finish it too.
    private func answer(
        _ challenge: SignInChallenge, _ client: RainKitClient, _ account: AccountAccess, _ time: TimeBudget,
        _ context: Context
    ) async throws -> LoginResult {
        let pending = client.pendingSignIn
        try pending.save(challenge)
        let user = challenge.userName
        var triesLeft = code.isGiven ? 1 : 3
        while true {
            guard let code = try code.read(sentTo: user, within: time, context) else {
                return .waitsForCode(try pendingResult(user, account))
            }
            triesLeft -= 1
            do {
                let result = try await signIn(.oneTimeCode(challenge, code: code), account, time)
                pending.remove()
                return result
            } catch let error as AccountError {
                if error.code == .wrongCode, triesLeft > 0 {
                    context.output.warn(
                        error.message.asSentence.withAdvice(error.remedies), reason: "\(error.code)")
                    continue
                }
                if [.challengeExpired, .codeExpired, .signInFailed].contains(error.code) { pending.remove() }
                throw error
            }
        }
    }

    /// The result if nobody can be asked. After `--one-time-code` this is a success; after a password it is an error, because the user is
    /// not signed in.
    private func pendingResult(_ user: String, _ account: AccountAccess) throws -> SignInPendingResult {
        let next = commandLine("login \(user.asShellWord) --code-stdin")
        guard oneTimeCode else {
            throw CommandFailure(
                .auth, reason: "second_step_required",
                message: "The password is right, but the sign-in also needs the code that was sent. Run: \(next)")
        }
        return SignInPendingResult(profile: account.name, userName: user, next: next)
    }

    /// Returns the user if known. Otherwise it asks, up to three times if the answer cannot be a user name.
    func userName(
        _ newcomer: SignInUser, _ context: Context, question: String = "User name: ",
        rule: (String) throws(AccountError) -> Void = { _ in }
    ) throws(CommandFailure) -> String {
        if let known = newcomer.user {
            do throws(AccountError) { try rule(known) } catch { throw CommandFailure(error) }
            if user == nil {
                context.output.say("note: Signing in as \(known.onOneLine), the user of the chosen account.")
            }
            return known
        }
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_user",
                message: "No user was given. Run: \(commandLine("login USER --password-file FILE"))")
        }
        return try asked(question, otherwise: nil, rule: rule)
    }

    /// - Parameter standard: the answer for an empty line; nil if an empty line cancels the sign-in.
    private func asked(
        _ question: String, otherwise standard: String?, rule: (String) throws(AccountError) -> Void
    ) throws(CommandFailure) -> String {
        var triesLeft = 3
        while true {
            guard let answer = Screen.shared.blocking({ Terminal.ask(question) }), !answer.isEmpty || standard != nil
            else { throw CommandFailure(.cancelled, message: "Cancelled.") }
            if answer.isEmpty, let standard { return standard }
            do throws(AccountError) {
                try rule(answer)
                return answer
            } catch {
                triesLeft -= 1
                guard triesLeft > 0 else { throw CommandFailure(error) }
                Screen.shared.say(error.message.asSentence)
            }
        }
    }
}

extension Login {
    func signInThroughBrowser(
        _ context: Context, _ client: RainKitClient, _ account: AccountAccess, _ events: EventStream
    ) async throws -> LoginResult {
        let browser = try BrowserSignIn(web, context, within: timeout.duration, events: events)
        return .signedIn(SignedInResult(try await client.signIn(with: try browser.method(), to: account), account))
    }
}

/// The user who signs in.
struct SignInUser {
    /// The user, if known before anybody is asked.
    var user: String?
    /// Whether the user name was just typed, so that it may be mistyped.
    var isTyped = false
    /// The new account's name; nil for the user's name.
    var account: String?
}

extension Context {
    /// Returns the user who signs in, and the new account's name.
    ///
    /// Only `--account` gives a session another name than its user's. A name from the environment or a file selects an account, so its user
    /// signs in if no user is given. It never names the session of another user.
    ///
    /// - Parameters:
    ///   - user: as given.
    ///   - deployment: the name of the deployment or provider.
    ///   - isWanted: whether a user must be known: not in a browser, and not for a guest.
    func newcomer(_ user: String?, at deployment: String, isWanted: Bool) throws(AccountError) -> SignInUser {
        guard user == nil, isWanted, let name = accountName else {
            return SignInUser(user: user, account: options.account)
        }
        if let known = try accounts.known.load().entry(name, at: deployment), !known.userName.isEmpty {
            return SignInUser(user: known.userName, account: known.name)
        }
        return SignInUser(user: name.isUserName ? name : nil, account: options.account)
    }
}

extension Context {
    /// Tells which account commands use, if another one was in use before this sign-in.
    func tellAccountInUse(after session: NewAccountStore?) {
        guard let session, let other = session.otherAccount, let name = session.account?.key.account else { return }
        output.say("note: \(Self.accountNote(name, other, named: ProfileSettings.namedAccount(self)))")
    }

    /// - Parameters:
    ///   - name: the account that has signed in.
    ///   - named: the account that an option, a variable or a file names for commands.
    static func accountNote(
        _ name: String, _ other: NewAccountStore.OtherAccount, named: (name: String, origin: ProfileSettings.Origin)?
    ) -> String {
        if let named, let place = named.origin.place, named.name != name {
            return "Commands use the account \(named.name.onOneLine), because \(place) names it."
        }
        let use = { (account: String) in commandLine("account use \(account.onOneLine.asShellWord)") }
        return other.isStillInUse
            ? "Commands still use the account \(other.name.onOneLine), which you chose earlier. To use the account of this sign-in: \(use(name))"
            : "Commands now use this account instead of \(other.name.onOneLine). To go back: \(use(other.name))"
    }

    /// Names the next step to a user at a terminal.
    func tellNextStep() {
        guard StandardStreams.errIsTerminal else { return }
        output.say("Next: plug in a board, and run: \(commandLine("provision"))")
    }
}

extension String {
    /// Whether RainMaker accepts this as a user name.
    var isUserName: Bool { (try? RainMakerAccount.check(userName: self)) != nil }
}

/// The successful ends of `login`: the user is signed in, or a code was sent that a later command takes.
enum LoginResult: CommandResult {
    case signedIn(SignedInResult)
    case waitsForCode(SignInPendingResult)

    var text: String {
        switch self {
        case .signedIn(let result): result.text
        case .waitsForCode(let result): result.text
        }
    }

    var isProse: Bool { true }

    var confirmedLines: [Int] {
        switch self {
        case .signedIn(let result): result.confirmedLines
        case .waitsForCode: []
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .signedIn(let result): try result.encode(to: encoder)
        case .waitsForCode(let result): try result.encode(to: encoder)
        }
    }
}

extension SignedInResult: ConfirmingResult {
    var text: String { "Signed in as \(userName.onOneLine) (user id \(userID.onOneLine)).\(remark)" }
}

/// A sign-in that waits for the code that was sent.
struct SignInPendingResult: CommandResult {
    let profile: String
    let signedIn = false
    let userName: String
    let next: String

    var text: String { "A code was sent to \(userName.onOneLine). To sign in with the code, run: \(next)" }
}
