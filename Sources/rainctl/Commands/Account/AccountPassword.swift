// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

struct AccountPassword: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Change your password, or reset a forgotten one.",
        subcommands: [AccountPasswordChange.self, AccountPasswordReset.self])
}

struct AccountPasswordChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "change", abstract: "Change your password. All your sessions end, including this one.",
        discussion: """
            Example: rainctl account password change --password-file old.txt \\
                         --new-password-file new.txt
            """)

    @OptionGroup var password: PasswordOptions

    @OptionGroup var newPassword: NewPasswordOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try checkStandardInput(password.passwordStdin, newPassword.newPasswordStdin) }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "password changes")
        let user = try await account.session.userName()
        let old = try password.read(context, within: time)
        let new = try newPassword.read(context, within: time)
        try await time.run { try await rainMaker.changePassword(from: old, to: new) }
        context.output.result(PasswordChangedResult(profile: account.name, userName: user))
    }
}

/// The password was changed, and all sessions have ended.
struct PasswordChangedResult: ConfirmingResult {
    let profile: String
    let userName: String

    var text: String {
        "The password is changed and all your sessions have ended. Sign in: \(commandLine("login \(userName.asShellWord)"))"
    }
}

struct AccountPasswordReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "reset", abstract: "Set a new password with a code that the cloud sends to you.",
        discussion: """
            Example: rainctl account password reset me@example.com

            If you give no code, the cloud first sends a code. If rainctl cannot ask for this code, run the command again with \
            --code-stdin.
            """)

    @Argument(help: "Your user name.")
    var user: String

    @OptionGroup var code: CodeOptions

    @OptionGroup var newPassword: NewPasswordOptions

    @OptionGroup var locale: LocaleOption

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try checkStandardInput(code.codeStdin, newPassword.newPasswordStdin) }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount(for: "password resets")
        let (user, locale) = (user, locale.locale)
        if !code.isGiven {
            try await time.run {
                try await rainMaker.requestPasswordReset(user, locale: locale)
            }
        }
        guard let entered = try code.read(sentTo: user, within: time, context) else {
            return context.output.result(
                PasswordResetResult(profile: account.name, userName: user, isReset: false))
        }
        let new = try newPassword.read(context, within: time)
        try await code.entering(entered, sentTo: user, within: time, context) {
            try await rainMaker.resetPassword(user, to: new, code: $0)
        }
        context.output.result(PasswordResetResult(profile: account.name, userName: user, isReset: true))
    }
}

/// A forgotten password's reset, done or waiting for the code that was sent.
struct PasswordResetResult: CommandResult {
    let profile: String
    let userName: String
    let reset: Bool
    let next: String?

    init(profile: String, userName: String, isReset: Bool) {
        (self.profile, self.userName, reset) = (profile, userName, isReset)
        next =
            isReset
            ? nil : commandLine("account password reset \(userName.asShellWord) --code-file FILE --new-password-stdin")
    }

    var isProse: Bool { true }

    var text: String {
        let user = userName.onOneLine
        guard let next else {
            return "The new password is set. Sign in: \(commandLine("login \(userName.asShellWord)"))"
        }
        return "A code was sent to \(user). To set the new password with this code, run: \(next)"
    }
}
