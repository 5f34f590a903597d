// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainCore

struct AccountSignup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup", abstract: "Create an account, and confirm it with the code that is sent.",
        discussion: """
            Example: rainctl account signup me@example.com --password-file password.txt

            Where nobody can be asked and no code is given, rainctl account confirm USER does the second half.
            """)

    @Argument(help: "Your e-mail address, or telephone number with country code.")
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
        let rainMaker = try account.rainMakerAccount()
        let (user, locale) = (user, locale.locale)
        let password = try password.readNew(context, within: time)
        try await time.run {
            try await rainMaker.signUp(user, password: password, locale: locale)
        }
        try await Confirmation(user: user, tags: tag, code: code, time: time).orNext(account, context)
    }
}
