// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

/// What a group is to be.
struct GroupOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What applications make of it, such as home or room.", valueName: "type"))
    var type: String?

    @Option(help: ArgumentHelp("In your words.", valueName: "text"))
    var description: String?

    @Option(help: ArgumentHelp("The group that it is to be in, by id or name.", valueName: "group"))
    var parent: String?

    @Flag(inversion: .prefixedNo, help: "A board in it may be in no other such group.")
    var mutuallyExclusive: Bool?

    @Option(help: ArgumentHelp("A JSON object for applications.", valueName: "json"))
    var customData: String?

    func validate() throws {
        guard let customData else { return }
        guard (try? JSONValue(parsing: Array(customData.utf8)))?.members != nil else {
            throw ValidationError("--custom-data takes a JSON object.")
        }
    }

    func change(name: String?, _ scene: CloudScene) async throws -> NodeGroupChange {
        var parent: String?
        if let named = self.parent { parent = try await GroupChoice(cloud: scene.cloud).group(named).id }
        return NodeGroupChange(
            name: name, type: type, summary: description, parent: parent, isMutuallyExclusive: mutuallyExclusive,
            customData: customData.flatMap { try? JSONValue(parsing: Array($0.utf8)) })
    }

    static func check(name: String) throws {
        guard (2...256).contains(name.utf8.count), !name.isBlank else {
            throw ValidationError("A group's name has 2 to 256 bytes, and not spaces alone.")
        }
    }
}

struct GroupAdd: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make a group.",
        discussion: "Example: rainctl group add Kitchen --type room --parent Home --nodes 'Kitchen lamp'")

    @Argument(help: "What you call it, 2 to 256 characters.")
    var name: String

    @Option(help: ArgumentHelp("The boards to put in it, by id or name.", valueName: "node[,node…]"))
    var nodes: String?

    @OptionGroup(title: "What it is") var group: GroupOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try GroupOptions.check(name: name) }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (name, nodes, group) = (name, nodes, group)
        return try await scene.time.run {
            var ids: [NodeID] = []
            if let nodes { ids = try await scene.choice.nodes(nodes).map(\.id) }
            let id = try await scene.cloud.createGroup(try await group.change(name: name, scene), nodes: ids)
            return ActionResult("made: \(name.onOneLine), \(id.onOneLine)").with("group_id", id).with("name", name)
        }
    }
}

struct GroupEdit: CloudCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a group.",
        discussion: "Example: rainctl group edit Kitchen --name 'Big kitchen'")

    @Argument(help: .group)
    var group: String

    @Option(help: "What you call it from now on, 2 to 256 characters.")
    var name: String?

    @OptionGroup(title: "What it is") var changes: GroupOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        if let name { try GroupOptions.check(name: name) }
        guard
            name != nil || changes.type != nil || changes.description != nil || changes.parent != nil
                || changes.mutuallyExclusive != nil || changes.customData != nil
        else { throw ValidationError("Say what is to change.") }
    }

    func result(_ scene: CloudScene) async throws -> ActionResult {
        let (wanted, name, changes) = (group, name, changes)
        return try await scene.time.run {
            let group = try await GroupChoice(cloud: scene.cloud).group(wanted)
            try await scene.cloud.changeGroup(group.id, try await changes.change(name: name, scene))
            return ActionResult("changed: \((name ?? group.name).onOneLine)").with("group_id", group.id)
                .with("changed", true)
        }
    }
}
