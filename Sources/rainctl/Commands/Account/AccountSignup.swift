// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit

struct AccountSignup: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "signup", abstract: "Create an account, and confirm it with the code that the cloud sends to you.",
        discussion: """
            Example: rainctl account signup me@example.com --password-file password.txt

            If rainctl cannot ask for the code, confirm the account later with rainctl account confirm USER.
            """)

    @Argument(help: "Your e-mail address, or your telephone number with + and the country code.")
    var user: String

    @OptionGroup var password: PasswordOptions

    @OptionGroup var code: CodeOptions

    @OptionGroup var locale: LocaleOption

    @Option(help: ArgumentHelp("Mark the account with this tag (repeatable).", valueName: "key:value"))
    var tag: [String] = []

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try checkStandardInput(password.passwordStdin, code.codeStdin) }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "new accounts")
        let (user, locale) = (user, locale.locale)
        let password = try password.readNew(context, within: time)
        try await time.run {
            try await rainMaker.signUp(user, password: password, locale: locale)
        }
        try await Confirmation(user: user, tags: tag, code: code, time: time).orNext(account, context)
    }
}

struct AccountConfirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "confirm", abstract: "Confirm a new account with the code that the cloud sent to you.",
        discussion: "Example: rainctl account confirm me@example.com --code-stdin")

    @Argument(help: "The user name that you signed up with.")
    var user: String

    @OptionGroup var code: CodeOptions

    @Option(help: ArgumentHelp("Mark the account with this tag (repeatable).", valueName: "key:value"))
    var tag: [String] = []

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let entered = try code.required(sentTo: user, within: time, context)
        try await Confirmation(user: user, tags: tag, code: code, time: time).confirm(entered, account, context)
    }
}

/// The second half of a sign-up: entering the code that was sent, now or in a later command.
struct Confirmation {
    let user: String
    let tags: [String]
    let code: CodeOptions
    let time: TimeBudget

    /// Confirms with a code that is given or typed. Without a code, prints the command that takes it later.
    func orNext(_ account: AccountAccess, _ context: Context) async throws {
        guard let entered = try code.read(sentTo: user, within: time, context) else {
            return context.output.result(
                ConfirmationResult(profile: account.name, userName: user, isConfirmed: false))
        }
        try await confirm(entered, account, context)
    }

    func confirm(_ entered: Secret, _ account: AccountAccess, _ context: Context) async throws {
        try await confirmOnly(entered, account, context)
        context.output.result(
            ConfirmationResult(profile: account.name, userName: user, isConfirmed: true))
    }

    /// Confirms without printing a result.
    func confirmOnly(_ entered: Secret, _ account: AccountAccess, _ context: Context) async throws {
        let (user, tags) = (user, tags)
        let rainMaker = try account.rainMakerAccount(for: "new accounts")
        do {
            try await code.entering(entered, sentTo: user, within: time, context) {
                try await rainMaker.confirmSignUp(user, code: $0, tags: tags)
            }
        } catch let error as AccountError where [.wrongCode, .codeExpired].contains(error.code) {
            var failure = CommandFailure(error)
            let word = user.onOneLine.asShellWord
            failure.message +=
                " Enter the code with \(commandLine("account confirm \(word)")), or request another code with: "
                + commandLine("account resend \(word)")
            throw failure
        }
    }
}

/// A new account, confirmed or waiting for the code that was sent.
struct ConfirmationResult: CommandResult {
    let profile: String
    let userName: String
    let confirmed: Bool
    let next: String?

    init(profile: String, userName: String, isConfirmed: Bool) {
        (self.profile, self.userName, confirmed) = (profile, userName, isConfirmed)
        next = isConfirmed ? nil : Self.next(userName)
    }

    /// The command that takes the code.
    static func next(_ userName: String) -> String {
        commandLine("account confirm \(userName.asShellWord) --code-stdin")
    }

    var isProse: Bool { true }

    var text: String {
        let user = userName.onOneLine
        guard let next else {
            return "The account of \(user) is confirmed. Sign in: \(commandLine("login \(userName.asShellWord)"))"
        }
        return "A code was sent to \(user). To confirm the account, run: \(next)"
    }
}

struct AccountResend: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "resend", abstract: "Ask the cloud to send the sign-up code again.",
        discussion: "Example: rainctl account resend me@example.com --password-file password.txt")

    @Argument(help: "The user name that you signed up with.")
    var user: String

    @OptionGroup var password: PasswordOptions

    @OptionGroup var locale: LocaleOption

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "new accounts")
        let (user, locale) = (user, locale.locale)
        // For the cloud, this is the same sign-up again, so it needs the password again.
        let password = try password.read(context, within: time)
        try await time.run {
            try await rainMaker.resendSignUpCode(user, password: password, locale: locale)
        }
        context.output.result(CodeResentResult(profile: account.name, userName: user))
    }
}

/// The code of a sign-up was sent again.
struct CodeResentResult: CommandResult {
    let profile: String
    let userName: String
    let next: String

    init(profile: String, userName: String) {
        (self.profile, self.userName, next) = (profile, userName, ConfirmationResult.next(userName))
    }

    var isProse: Bool { true }

    var text: String { "A new code was sent to \(userName.onOneLine). To confirm the account, run: \(next)" }
}
