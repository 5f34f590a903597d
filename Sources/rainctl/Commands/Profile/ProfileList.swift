import ArgumentParser
import RainJSON
import RainKit

struct ProfileList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the deployments; the one in use has a star.",
        discussion: "Example: rainctl profile list")

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let content = try context.deploymentFile.load()
        let entries = content.all.map { deployment in
            JSONValue.object([
                .init("name", .string(deployment.name)), .init("base_url", .string(deployment.base.text)),
                .init("current", .bool(deployment.name == content.currentName)),
            ])
        }
        let lines = content.all.map { deployment in
            "\(deployment.name == content.currentName ? "*" : " ") \(deployment.name)  \(deployment.base)"
        }
        context.output.result([.init("profiles", .array(entries))], text: lines.joined(separator: "\n"))
    }
}
