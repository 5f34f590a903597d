// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct GroupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group", abstract: "Groups of boards, such as a home and its rooms.",
        subcommands: [
            GroupList.self, GroupShow.self, GroupAdd.self, GroupEdit.self, GroupRemove.self, GroupAddNodes.self,
            GroupRemoveNodes.self, Shares<SharedGroups>.self,
        ])
}

struct GroupList: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List your groups, and those within them.",
        discussion: "Example: rainctl group list")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> GroupListResult {
        GroupListResult(try await scene.time.run { try await scene.cloud.groups(withSubgroups: true) })
    }
}

struct GroupShow: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a group: its boards, and the groups within it.",
        discussion: "Example: rainctl group show Kitchen")

    @Argument(help: .group)
    var group: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> GroupShowResult {
        let name = group
        return GroupShowResult(
            try await scene.time.run {
                try await scene.cloud.group(try await GroupChoice(cloud: scene.cloud).group(name).id)
            })
    }
}

struct GroupRemove: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a group and those within it; the boards stay.",
        discussion: "Example: rainctl group remove Kitchen")

    @Argument(help: .group)
    var group: String

    @Flag(help: "Do not ask whether you mean it.")
    var yes = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let name = group
        let group = try await scene.time.run { try await GroupChoice(cloud: scene.cloud).group(name) }
        if !yes {
            let words = "\(group.name) (\(group.id))".onOneLine
            try scene.confirm("Remove the group \(words)?", otherwise: "This removes the group \(words)")
        }
        try await scene.time.run { try await scene.cloud.removeGroup(group.id) }
        return ActionResult("removed: \(group.name.onOneLine)").with("group_id", group.id).with("removed", true)
    }
}

struct GroupAddNodes: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-nodes", abstract: "Put boards into a group.",
        discussion: "Example: rainctl group add-nodes Kitchen 'Kitchen lamp',Fan")

    @Argument(help: .group)
    var group: String

    @Argument(help: "The boards, by id or name: NODE[,NODE…].")
    var nodes: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, nodes) = (group, nodes)
        return try await scene.time.run {
            let group = try await GroupChoice(cloud: scene.cloud).group(name)
            let ids = try await scene.choice.nodes(nodes).map(\.id)
            let there = try await scene.cloud.group(group.id).nodes ?? []
            let new = ids.filter { !there.contains($0) }
            if !new.isEmpty { try await scene.cloud.addNodes(new, toGroup: group.id) }
            let (added, already) = (new.map(\.rawValue), ids.filter { there.contains($0) }.map(\.rawValue))
            let words = [
                added.isEmpty ? nil : "added to \(group.name): \(added.joined(separator: ", "))",
                already.isEmpty ? nil : "already in \(group.name): \(already.joined(separator: ", "))",
            ]
            return ActionResult(words.compactMap { $0?.onOneLine }.joined(separator: "\n"))
                .with("group_id", group.id).with("added", added).with("already", already)
        }
    }
}

struct GroupRemoveNodes: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove-nodes", abstract: "Take boards out of a group; they stay in the account.",
        discussion: "Example: rainctl group remove-nodes Kitchen Fan")

    @Argument(help: .group)
    var group: String

    @Argument(help: "The boards, by id or name: NODE[,NODE…].")
    var nodes: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, nodes) = (group, nodes)
        return try await scene.time.run {
            let group = try await GroupChoice(cloud: scene.cloud).group(name)
            let there = try await scene.cloud.group(group.id).nodes
            let ids = try await Self.ids(nodes, in: there ?? [], scene)
            if let there {
                let absent = ids.filter { !there.contains($0) }.map(\.rawValue).joined(separator: ", ")
                guard absent.isEmpty else {
                    throw CommandFailure(
                        .badData, reason: "not_in_group",
                        message: "Not in \(group.name.onOneLine): \(absent.onOneLine). Nothing was changed.")
                }
            }
            try await scene.cloud.removeNodes(ids, fromGroup: group.id)
            return ActionResult("taken out of \(group.name): \(ids.map(\.rawValue).joined(separator: ", "))".onOneLine)
                .with("group_id", group.id).with("removed", ids.map(\.rawValue))
        }
    }

    /// Those that a list names. A board that is not in the account any more may still be in the group, by its id.
    private static func ids(_ names: String, in group: [NodeID], _ scene: CloudScene) async throws -> [NodeID] {
        let parts = names.split(separator: ",").map(String.init)
        var ids: [NodeID] = []
        for id in parts.map({ NodeID($0) }) where group.contains(id) && !ids.contains(id) { ids.append(id) }
        let others = parts.filter { !group.contains(NodeID($0)) }
        guard !others.isEmpty || ids.isEmpty else { return ids }
        for id in try await scene.choice.nodes(others.joined(separator: ",")).map(\.id) where !ids.contains(id) {
            ids.append(id)
        }
        return ids
    }
}

extension ArgumentHelp {
    static var group: ArgumentHelp { "The group: its id, or its name." }
}
