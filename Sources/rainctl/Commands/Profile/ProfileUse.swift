// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct ProfileUse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Use this deployment from now on.",
        discussion: "Example: rainctl profile use global")

    @Argument(help: "Its name.", completion: .profiles)
    var name: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        try context.deploymentFile.change { content throws(AccountError) in
            content.current = try content.deployment(named: name).name
        }
        context.output.result(ProfileChangeResult(change: .inUse, profile: name))
    }
}
