import ArgumentParser
import RainJSON
import RainKit

struct NodeList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the boards in your account.",
        discussion: "Example: rainctl node list --json")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.account()
        let nodes = try await withTimeout(timeout.duration) { try await account.cloud.nodes() }
        let entries = nodes.map { node in
            var members: [JSONValue.Member] = [.init("node_id", .string(node.id.rawValue))]
            if let name = node.name { members.append(.init("name", .string(name))) }
            if let model = node.model { members.append(.init("model", .string(model))) }
            if let role = node.role { members.append(.init("role", .string(role))) }
            if let connectivity = node.connectivity {
                members.append(.init("connected", .bool(connectivity.isConnected)))
            }
            return JSONValue.object(members)
        }
        let lines = nodes.map { node in
            let state = node.connectivity.map { $0.isConnected ? "online" : "offline" } ?? "unknown"
            return "\(node.id.rawValue.onOneLine)  \(state)  \((node.name ?? "").onOneLine)"
        }
        context.output.result([.init("nodes", .array(entries))], text: lines.joined(separator: "\n"))
    }
}
