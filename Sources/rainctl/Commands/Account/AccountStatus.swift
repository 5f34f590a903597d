// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say who is signed in, from what is stored: nothing is sent.",
        discussion: "Example: rainctl account status --json")

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        context.output.result(SessionResult(account, try await account.session.status()))
    }
}
