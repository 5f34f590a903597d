// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

struct Whoami: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "whoami", abstract: "Ask the cloud for the signed-in user, and show the answer.",
        discussion: "Example: rainctl whoami --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @Flag(help: "Show the stored user, and do not ask the cloud.")
    var offline = false

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        context.output.result(try await result(account))
    }

    private func result(_ account: AccountAccess) async throws -> WhoamiResult {
        if offline { return WhoamiResult(try await account.session.storedUser(), at: account.name) }
        if let user = account.rainMaker {
            return WhoamiResult(try await withTimeout(timeout.duration) { try await user.user() }, at: account.name)
        }
        let user = try await withTimeout(timeout.duration) { try await account.session.user() }
        return WhoamiResult(user, at: account.name)
    }
}

extension WhoamiResult: CommandResult {}
