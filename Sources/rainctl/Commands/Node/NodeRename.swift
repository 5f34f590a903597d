// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeRename: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "rename", abstract: "Rename a board.",
        discussion: "Example: rainctl node rename Light 'Kitchen lamp'")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The new name.")
    var name: String

    @Flag(help: "Wait until the board has reported the name.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        do { try RainKitClient.checkNodeName(name) } catch { throw ValidationError(error.message) }
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let client = try context.rainMakerClient()
        let (old, name) = (node, name)
        let found = try await time.run { try await client.node(named: old) }
        let report = ReportWait(isRequired: wait, for: [found], context, time)
        let outcome = try await time.run { try await client.rename(found, to: name, waiting: report.limit) }
        if let clash = outcome.clash { context.output.warn(clash) }
        try ParamsSetResult(
            [report.settled(outcome.parameters)], names: [found.id.rawValue: found.shownName], newName: name
        )
        .tell(context)
    }
}

extension Output {
    func warn(_ clash: NodeNameClash) {
        warn(clash.description, reason: "name_taken")
    }
}
