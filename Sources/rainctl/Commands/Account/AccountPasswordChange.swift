// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountPasswordChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Change your password. Every session of yours ends, this one too.",
        discussion: "Example: rainctl account password change --password-file old.txt --new-password-file new.txt")

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
        let rainMaker = try account.rainMakerAccount()
        let user = try await account.session.userName()
        let old = try password.read(context, within: time)
        let new = try newPassword.read(context, within: time)
        try await time.run { try await rainMaker.changePassword(from: old, to: new) }
        context.output.result(PasswordChangedResult(profile: account.name, userName: user))
    }
}
