// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct NodeRename: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give a board another name.",
        discussion: "Example: rainctl node rename Light 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Argument(help: "Its new name.")
    var name: String

    @Flag(help: "Wait until the board has reported the name.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        // `MAX_NAME_LEN` of the apps; firmware keeps what it is given.
        guard (1...64).contains(name.utf8.count), name.withoutControls == name, !name.isBlank else {
            throw ValidationError("A name has 1 to 64 bytes, no control characters, and not spaces alone.")
        }
    }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let client = try context.rainMakerClient()
        let choice = NodeChoice(client: client)
        let old = node
        let found = try await time.run { try await choice.node(old) }
        let configuration = try found.described()
        guard let path = configuration.nameParameter else {
            throw CommandFailure(
                .badData, reason: "no_name_parameter",
                message:
                    "\(found.id.rawValue.onOneLine) has no parameter for a name (esp.param.name): its firmware cannot be renamed."
            )
        }
        let change = ParameterChange(path, .string(name))
        do throws(ParameterError) { try configuration.check([change]) } catch {
            throw CommandFailure(error, at: found)
        }
        let check = NameCheck(client: client, output: context.output)
        let names = [found.id: name]
        try await time.run { try await check.check(names) }
        let setter = ParameterSetter(
            cloud: try client.rainMakerNodes(), wait: wait ? time.leftForWaiting : nil)
        let outcomes = try await time.run { try await setter.set([(found, [change])]) }
        try ParamsSetResult(outcomes).tell(context)
    }
}

/// Whether boards are still found by the names that they are to have.
struct NameCheck {
    let client: RainKitClient
    let output: Output

    /// Refuses a name that is another board's node id (`name_taken`): who gives it would reach the other board. One that another board is
    /// called by, as boards of one firmware are from the start, is a warning.
    func check(_ names: [NodeID: String]) async throws {
        guard !names.isEmpty else { return }
        var others: [String: NodeID] = [:]
        var owner: NodeID?
        try await client.eachNode { other in
            let called = (names[other.id] ?? other.displayName)?.lowercased()
            for (id, name) in names where id != other.id {
                if other.id.rawValue == name { owner = other.id }
                if called == name.lowercased() { others[name] = other.id }
            }
        }
        if let owner {
            throw CommandFailure(
                .badData, reason: "name_taken",
                message: """
                    \(owner.rawValue.onOneLine) is the node id of another board, which would be meant by this name: give another one. \
                    Nothing was changed.
                    """)
        }
        for (name, other) in others.sorted(by: { $0.key < $1.key }) {
            output.warn(
                "\(other.rawValue.onOneLine) is called \(name.onOneLine), too: only their node ids tell them apart.",
                reason: "name_taken")
        }
    }
}
