// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

struct GroupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group", abstract: "Manage groups of boards, such as a home and its rooms.",
        subcommands: [
            GroupList.self, GroupShow.self, GroupAdd.self, GroupEdit.self, GroupRemove.self, GroupAddNodes.self,
            GroupRemoveNodes.self, Shares<SharedGroups>.self,
        ])
}

struct GroupList: CloudCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List your groups and their subgroups.",
        discussion: "Example: rainctl group list")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> GroupListResult {
        GroupListResult(try await scene.time.run { try await scene.cloud.groups(withSubgroups: true) })
    }
}

struct GroupShow: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "show", abstract: "Show a group: its boards and its subgroups.",
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
                try await scene.cloud.group(try await scene.client.group(named: name).id)
            }, names: scene.boardNames)
    }
}

struct GroupRemove: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove a group and its subgroups. The boards stay in the account.",
        discussion: "Example: rainctl group remove Kitchen")

    @Argument(help: .group)
    var group: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let name = group
        let group = try await scene.time.run { try await scene.client.group(named: name) }
        if !yes {
            let words = "\(group.name) (\(group.id))".onOneLine
            try scene.confirm("Remove the group \(words)?", otherwise: "This removes the group \(words)")
        }
        try await scene.time.run { try await scene.cloud.removeGroup(group.id) }
        return ActionResult("Removed group \(group.name.onOneLine)").with("group_id", group.id).with("removed", true)
    }
}

struct GroupAddNodes: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add-nodes", abstract: "Add boards to a group.",
        discussion: "Example: rainctl group add-nodes Kitchen 'Kitchen lamp',Fan")

    @Argument(help: .group)
    var group: String

    @Argument(help: "The boards, by id or name, separated by commas.", completion: .nodes)
    var nodes: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, nodes) = (group, nodes)
        return try await scene.time.run {
            let group = try await scene.client.group(named: name)
            let outcome = try await scene.client.addNodes(listed: nodes, to: group)
            let (added, already) = (outcome.added.map(\.rawValue), outcome.already.map(\.rawValue))
            let words = [
                added.isEmpty ? nil : "Added \(scene.boardNames.list(added)) to group \(group.name)",
                already.isEmpty ? nil : "Already in group \(group.name): \(scene.boardNames.list(already))",
            ]
            return ActionResult(words.compactMap { $0?.onOneLine }.joined(separator: "\n"), isChange: !added.isEmpty)
                .with("group_id", group.id).with("added", added).with("already", already)
        }
    }
}

struct GroupRemoveNodes: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove-nodes", abstract: "Remove boards from a group. The boards stay in the account.",
        discussion: "Example: rainctl group remove-nodes Kitchen Fan")

    @Argument(help: .group)
    var group: String

    @Argument(help: "The boards, by id or name, separated by commas.", completion: .nodes)
    var nodes: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, nodes) = (group, nodes)
        return try await scene.time.run {
            let group = try await scene.client.group(named: name)
            let ids = try await scene.client.removeNodes(listed: nodes, from: group)
            return ActionResult(
                "Removed \(scene.boardNames.list(ids.map(\.rawValue))) from group \(group.name)".onOneLine
            )
            .with("group_id", group.id).with("removed", ids.map(\.rawValue))
        }
    }
}

extension ArgumentHelp {
    static var group: ArgumentHelp { "The group: its id or name." }
}

/// The properties of a group.
struct GroupOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Set the group's type, such as home or room, for applications.", valueName: "type"))
    var type: String?

    @Option(help: ArgumentHelp("Set a description.", valueName: "text"))
    var description: String?

    @Option(help: ArgumentHelp("Put the group into this parent group, by id or name.", valueName: "group"))
    var parent: String?

    @Flag(
        inversion: .prefixedNo, help: "Make this group exclusive: of all exclusive groups, a board can be in only one.")
    var mutuallyExclusive: Bool?

    @Option(
        help: ArgumentHelp("Store this JSON object with the group, for applications (custom_data).", valueName: "json"))
    var customData: String?

    @Option(
        help: ArgumentHelp(
            "Store this JSON object as the group's metadata, for applications (group_metadata).", valueName: "json"))
    var metadata: String?

    func validate() throws {
        do throws(CommandFailure) {
            if let customData { _ = try Payload.object(customData, option: "--custom-data") }
            if let metadata { _ = try Payload.object(metadata, option: "--metadata") }
        } catch {
            throw ValidationError(error.message)
        }
    }

    func change(name: String?, _ scene: CloudScene) async throws -> NodeGroupChange {
        var parent: String?
        if let named = self.parent { parent = try await scene.client.group(named: named).id }
        return NodeGroupChange(
            name: name, type: type, summary: description, parent: parent, isMutuallyExclusive: mutuallyExclusive,
            customData: try customData.map { try Payload.object($0, option: "--custom-data") },
            metadata: try metadata.map { try Payload.object($0, option: "--metadata") })
    }

    static func check(name: String) throws {
        guard (2...256).contains(name.utf8.count), !name.isBlank else {
            throw ValidationError("A group's name must have 2 to 256 bytes, and must not consist only of spaces.")
        }
    }
}

struct GroupAdd: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add", abstract: "Add a group.",
        discussion: "Example: rainctl group add Kitchen --type room --parent Home --nodes Lamp")

    @Argument(help: "The group's name, 2 to 256 bytes.")
    var name: String

    @Option(help: ArgumentHelp("Add these boards to the group, by id or name.", valueName: "node[,node…]"))
    var nodes: String?

    @OptionGroup(title: "Properties of the group") var group: GroupOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try GroupOptions.check(name: name) }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, nodes, group) = (name, nodes, group)
        return try await scene.time.run {
            var ids: [NodeID] = []
            if let nodes { ids = try await scene.client.nodes(listed: nodes).map(\.id) }
            try await scene.warn(groupName: name)
            let id = try await scene.cloud.createGroup(try await group.change(name: name, scene), nodes: ids)
            return ActionResult("Created group \(name.onOneLine) (\(id.onOneLine))").with("group_id", id).with(
                "name", name)
        }
    }
}

struct GroupEdit: CloudCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "edit", abstract: "Change a group.",
        discussion: "Example: rainctl group edit Kitchen --name 'Big kitchen'")

    @Argument(help: .group)
    var group: String

    @Option(help: "The group's new name, 2 to 256 bytes.")
    var name: String?

    @OptionGroup(title: "Properties of the group") var changes: GroupOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if let name { try GroupOptions.check(name: name) }
        guard
            name != nil || changes.type != nil || changes.description != nil || changes.parent != nil
                || changes.mutuallyExclusive != nil || changes.customData != nil || changes.metadata != nil
        else { throw ValidationError("Give a new name or an option of the group.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (wanted, name, changes) = (group, name, changes)
        return try await scene.time.run {
            let group = try await scene.client.group(named: wanted)
            let change = try await changes.change(name: name, scene)
            if let name { try await scene.warn(groupName: name, own: group.id) }
            try await scene.client.changeGroup(group, change)
            return ActionResult("Changed group \((name ?? group.name).onOneLine)").with("group_id", group.id)
                .with("changed", true)
        }
    }
}

/// Groups, with their subgroups indented.
struct GroupListResult: CommandResult {
    let groups: [Entry]

    struct Entry: Encodable, Sendable {
        let groupID: String
        let name: String
        let type: String?
        let groups: [Entry]

        init(_ group: NodeGroup) {
            groupID = group.id
            name = group.name
            type = group.type
            groups = (group.subgroups ?? []).map { Entry($0) }
        }

        fileprivate func lines(_ indent: String) -> [String] {
            [indent + "\(groupID)  \(name)\(type.map { " (\($0))" } ?? "")".onOneLine]
                + groups.flatMap { $0.lines(indent + "  ") }
        }
    }

    init(_ all: [NodeGroup]) { groups = all.map { Entry($0) } }

    var text: String {
        groups.isEmpty ? "There are no groups." : groups.flatMap { $0.lines("") }.joined(separator: "\n")
    }
}

extension GroupListResult: ListResult {
    var table: ListTable {
        ListTable(member: "groups", rows: .tree, columns: ["group_id", "name", "type", "parent_id"])
    }
}

/// One group.
struct GroupShowResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    /// - Parameter names: the names of its boards, for people.
    init(_ group: NodeGroup, names: ShownNames = ShownNames()) {
        values.add("group_id", label: "group", group.id)
        values.add("name", group.name)
        values.add("type", group.type)
        values.add("description", group.summary)
        values.add("parent", group.parent)
        let nodes = (group.nodes ?? []).map(\.rawValue)
        values.add(
            "nodes", nodes,
            line: nodes.isEmpty ? "no boards in it" : "boards: \(names.list(nodes))")
        values.add(memberOnly: "mutually_exclusive", group.isMutuallyExclusive)
        if let data = group.customData { values.add(memberOnly: "custom_data", data) }
        if let data = group.metadata { values.add(memberOnly: "group_metadata", data) }
        let list = GroupListResult(group.subgroups ?? [])
        values.add(memberOnly: "groups", list.groups)
        if !list.groups.isEmpty { values.add(line: "within it:\n" + list.text) }
    }
}
