// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

struct AccountPasswordReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Set a new password with a code that is sent to you.",
        discussion: """
            Example: rainctl account password reset me@example.com

            Without --code-stdin or --code-file a code is sent first; with one of them it is not. Where nobody can be asked, \
            the same command with the code finishes it.
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
        let rainMaker = try account.rainMakerAccount()
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
