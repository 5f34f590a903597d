// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountResend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend", abstract: "Have the code of a sign-up sent once more.",
        discussion: "Example: rainctl account resend me@example.com --password-file password.txt")

    @Argument(help: "The user name of the sign-up.")
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
        let rainMaker = try account.rainMakerAccount()
        let (user, locale) = (user, locale.locale)
        // For the cloud this is the same sign-up once more, so it needs the password again.
        let password = try password.read(context, within: time)
        try await time.run {
            try await rainMaker.resendSignUpCode(user, password: password, locale: locale)
        }
        context.output.result(CodeResentResult(profile: account.name, userName: user))
    }
}
