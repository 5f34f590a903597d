// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountVersions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions", abstract: "Ask the deployment which versions of its interface it speaks.",
        discussion: "Example: rainctl account versions --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client().account()
        let rainMaker = try account.rainMakerAccount()
        let versions = try await withTimeout(timeout.duration) { try await rainMaker.supportedVersions() }
        context.output.result(VersionsResult(profile: account.name, versions))
    }
}
