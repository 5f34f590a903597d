// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainMaker

struct NodeList: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List the boards in your account.",
        discussion: """
            Example: rainctl node list --json
                     rainctl node list --tag room:kitchen
            """)

    @Option(
        help: ArgumentHelp("List only boards with this tag, such as room:kitchen (repeatable).", valueName: "tag"))
    var tag: [String] = []

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        // The cloud separates several tags by the word OR.
        for tag in tag where !NodeTags.isTag(tag) || tag.contains(" OR ") {
            throw ValidationError("\(tag.onOneLine) is not a tag. Write key:value, such as room:kitchen.")
        }
    }

    func run() async throws {
        let context = try Context(options, list: format)
        let client = try context.rainMakerClient()
        let (limit, tags) = (timeout.duration, tag)
        let list = try await context.screen.waiting("Asking the cloud") {
            try await withTimeout(limit) {
                var list = NodeListResult(nodes: [])
                try await client.eachNode(tagged: tags) { list.append($0) }
                return list
            }
        }
        context.output.result(list)
        // A note, because the result has one line for each board.
        if list.nodes.isEmpty, !options.isJSON {
            context.output.say(
                tags.isEmpty
                    ? "note: This account has no boards yet. To set one up: \(commandLine("provision"))"
                    : "note: No board has the tag \(tags.joined(separator: " or ").onOneLine).")
        }
        if !options.isJSON, let note = list.clashNote { context.output.say("note: \(note)") }
    }
}

extension NodeListResult: CommandResult {
    var text: String { nodes.map(\.line).joined(separator: "\n") }
}

extension NodeListResult.Entry {
    fileprivate var line: String {
        let state = connected.map { $0 ? "online" : "offline" } ?? "unknown"
        return "\(nodeID.onOneLine)  \(state)  \((name ?? "").onOneLine)"
    }
}

extension NodeListResult: ListResult {
    var table: ListTable { ListTable(member: "nodes", columns: ["node_id", "name", "model", "role", "connected"]) }
}

extension NodeListResult {
    /// A sentence about the first name that several boards have, since commands cannot use it; nil if each board has its own.
    var clashNote: String? {
        let named = Dictionary(grouping: nodes.filter { $0.name != nil }) { $0.name?.lowercased() ?? "" }
        guard let name = nodes.lazy.compactMap(\.name).first(where: { named[$0.lowercased(), default: []].count > 1 }),
            let boards = named[name.lowercased()]
        else { return nil }
        let ids = boards.prefix(5).map(\.nodeID.onOneLine).joined(separator: ", ")
        let rename = commandLine("node rename \(boards[0].nodeID.asShellWord) NAME")
        return "\(boards.count) boards are called \(name.onOneLine) (\(ids)). Use their ids, or rename one: \(rename)"
    }
}
