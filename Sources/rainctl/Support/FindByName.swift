// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The board in the account that somebody names: by its node id, or by the name that the user gave it.
struct NodeChoice {
    let client: RainKitClient

    /// Throws `other` (`no_such_node`) where there is none, `usage` (`several_nodes`) where the name is that of several.
    func node(_ name: String) async throws -> Node {
        guard !name.isBlank else { throw Self.unnamed }
        do throws(AccountError) {
            return try await client.node(NodeID(name))
        } catch {
            // Only the cloud's own refusal says that no node has this id.
            guard [.unknownNode, .rejected, .malformedAnswer, .forbidden].contains(error.code) else { throw error }
        }
        var found: [Node] = []
        /// What was refused, or could not be read, above may be in the list.
        var exact: Node?
        let wanted = name.lowercased()
        try await client.eachNode { node in
            if node.id.rawValue == name { exact = node }
            if node.displayName?.lowercased() == wanted, found.count < 20 { found.append(node) }
        }
        if let exact { return exact }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw CommandFailure(
                .usage, reason: "several_nodes",
                message: "Several boards are called \(name.onOneLine): use a node id, "
                    + found.map(\.id.rawValue.onOneLine).joined(separator: " or ") + ".")
        }
        throw CommandFailure(
            .other, reason: "no_such_node",
            message: "There is no board \(name.onOneLine) in your account: rainctl node list shows those that are.")
    }

    /// Those that a list names, `ID,ID,…`, each once; or the one whose name has a comma.
    func nodes(_ names: String) async throws -> [Node] {
        do {
            return try await listed(names)
        } catch let failure as CommandFailure where failure.reason == "no_such_node" && names.contains(",") {
            guard let node = try? await node(names) else { throw failure }
            return [node]
        }
    }

    private func listed(_ names: String) async throws -> [Node] {
        var nodes: [Node] = []
        for name in names.split(separator: ",").map(String.init) {
            let node = try await node(name)
            if !nodes.contains(where: { $0.id == node.id }) { nodes.append(node) }
        }
        guard !nodes.isEmpty else { throw Self.unnamed }
        return nodes
    }

    private static var unnamed: CommandFailure {
        CommandFailure(.usage, message: "Name a board: rainctl node list shows them.")
    }
}

extension CommandFailure {
    /// What is wrong with values that were to be set, at which board.
    init(_ error: ParameterError, at node: Node) { self.init(error, of: node.shownName) }

    init(_ error: ParameterError, of name: String) {
        self.init(.badData, reason: "\(error.code)".snakeCased, message: "\(name): \(error.message)")
    }
}

extension Node {
    /// What it has said that it consists of.
    func described() throws(CommandFailure) -> NodeConfiguration {
        if let configuration = NodeConfiguration(configuration), !configuration.components.isEmpty {
            return configuration
        }
        throw CommandFailure(
            ParameterError(
                .noConfiguration,
                message: "The board has not told the cloud yet what it consists of: has it been online?"),
            at: self)
    }
}

/// The group that somebody names: by its id, or its name, sub-groups too.
struct GroupChoice {
    let cloud: RainMakerCloud

    /// Throws `other` (`no_such_group`) where there is none, `usage` (`several_groups`) where the name is that of several.
    func group(_ name: String) async throws -> NodeGroup {
        guard !name.isBlank else { throw Self.unnamed }
        var found: [NodeGroup] = []
        func look(_ groups: [NodeGroup]) {
            for group in groups {
                if group.id == name || group.name.lowercased() == name.lowercased() { found.append(group) }
                look(group.subgroups ?? [])
            }
        }
        look(try await cloud.groups(withSubgroups: true))
        if let exact = found.first(where: { $0.id == name }) { return exact }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw CommandFailure(
                .usage, reason: "several_groups",
                message: "Several groups are called \(name.onOneLine): use an id, "
                    + found.prefix(20).map(\.id.onOneLine).joined(separator: " or ") + ".")
        }
        do throws(AccountError) {
            // A cloud may leave out of its list what is shared from within another user's group.
            return try await cloud.group(name)
        } catch {
            guard [.unknownNode, .rejected, .forbidden].contains(error.code) else { throw error }
        }
        throw CommandFailure(
            .other, reason: "no_such_group",
            message: "There is no group \(name.onOneLine): rainctl group list shows those that are.")
    }

    /// Those that a list names, `NAME,NAME,…`, each once; or the one whose name has a comma.
    func groups(_ names: String) async throws -> [NodeGroup] {
        do {
            var groups: [NodeGroup] = []
            for name in names.split(separator: ",").map(String.init) {
                let group = try await group(name)
                if !groups.contains(where: { $0.id == group.id }) { groups.append(group) }
            }
            guard !groups.isEmpty else { throw Self.unnamed }
            return groups
        } catch let failure as CommandFailure where failure.reason == "no_such_group" && names.contains(",") {
            guard let group = try? await group(names) else { throw failure }
            return [group]
        }
    }

    private static var unnamed: CommandFailure {
        CommandFailure(.usage, message: "Name a group: rainctl group list shows them.")
    }
}
