// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountConfirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confirm", abstract: "Confirm a new account with the code that was sent.",
        discussion: "Example: rainctl account confirm me@example.com --code-stdin")

    @Argument(help: "The user name of the sign-up.")
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
