// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountDataGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of a key, or all of them.",
        discussion: "Example: rainctl account data get theme")

    @Argument(help: "The key; without it all values are printed.")
    var key: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount()
        let data = try await withTimeout(timeout.duration) { try await rainMaker.customData() }
        if let key {
            guard let entry = data[key] else {
                throw CommandFailure(
                    .other, reason: "no_such_key",
                    message: "There is no value under \"\(key.onOneLine)\": rainctl account data get lists them all.")
            }
            return context.output.result(CustomDataValueResult(entry))
        }
        context.output.result(CustomDataResult(data))
    }
}
