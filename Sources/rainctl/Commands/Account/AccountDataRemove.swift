// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountDataRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a key with its value.",
        discussion: "Example: rainctl account data remove theme")

    @Argument(help: "The key.")
    var key: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount()
        let key = key
        try await withTimeout(timeout.duration) { try await rainMaker.removeCustomData(key) }
        context.output.result(
            CustomDataChangeResult(change: .removed, profile: account.name, key: key))
    }
}
