// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct ProfileList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the deployments; the one in use has a star.",
        discussion: "Example: rainctl profile list")

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let content = try context.deploymentFile.load()
        let profiles = content.all.map { deployment in
            ProfileListResult.Entry(
                profile: deployment.name, baseURL: deployment.base.text, current: deployment.name == content.currentName
            )
        }
        context.output.result(ProfileListResult(profiles: profiles))
    }
}
