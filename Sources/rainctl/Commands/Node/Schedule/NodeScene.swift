// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeScene: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scene", abstract: "Manage scenes: sets of values that a board stores under a name.",
        subcommands: [SceneList.self, SceneAdd.self, SceneEdit.self, SceneRemove.self, SceneActivate.self])
}

/// A command for scenes.
protocol SceneCommand: EntryCommand {}
extension SceneCommand {
    static var service: ListService { .scenes }
}

struct SceneList: SceneCommand, ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List a board's scenes.",
        discussion: "Example: rainctl node scene list 'Kitchen lamp'")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup var list: ListOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    var wait: Bool { false }

    func result(_ scene: CloudScene) async throws -> EntryListResult {
        let name = node
        let found = try await scene.time.run { try await scene.client.node(named: name) }
        return EntryListResult(found.id, try found.scenes(), member: "scenes")
    }
}

struct SceneAdd: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a scene: a set of values with a name.",
        discussion: "Example: rainctl node scene add 'Kitchen lamp' --name Night Light.Power=off")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: ArgumentHelp("The scene's values.", valueName: "path=value"))
    var values: [String]

    @Option(help: "The scene's name.")
    var name: String

    @Flag(help: "Wait until the board has reported the scene.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try GivenValue.validate(values) }

    func result(_ scene: CloudScene) async throws -> EntryResult {
        let (name, values) = (name, values)
        return try await changing(scene, newName: name) { client, node, limit in
            let values = try GivenValue.changes(values, at: node) ?? []
            return try await client.addScene(name, values: values, at: node, waiting: limit)
        }
    }
}

struct SceneEdit: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a scene.",
        discussion: "Example: rainctl node scene edit 'Kitchen lamp' Night --name Late")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The scene: its id or name.")
    var scene: String

    @Argument(help: ArgumentHelp("New values; they replace the scene's current ones.", valueName: "path=value"))
    var values: [String] = []

    @Option(help: "The scene's new name.")
    var name: String?

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        guard name != nil || !values.isEmpty else { throw ValidationError("Give a new name or new values.") }
    }

    func result(_ place: CloudScene) async throws -> EntryResult {
        let (scene, name, values) = (scene, name, values)
        return try await changing(place, newName: name, own: scene) { client, node, limit in
            let values = try GivenValue.changes(values, at: node)
            return try await client.editScene(scene, name: name, values: values, at: node, waiting: limit)
        }
    }
}

struct SceneRemove: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a scene.",
        discussion: "Example: rainctl node scene remove 'Kitchen lamp' Night")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The scene: its id or name.")
    var scene: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ place: CloudScene) async throws -> EntryResult {
        let scene = scene
        return try await changing(place) { client, node, limit in
            try await client.removeScene(scene, at: node, waiting: limit)
        }
    }
}

struct SceneActivate: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Set a scene's values on the board.",
        discussion: "Example: rainctl node scene activate 'Kitchen lamp' Night")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The scene: its id or name.")
    var scene: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    var wait: Bool { false }

    func result(_ place: CloudScene) async throws -> EntryResult {
        let scene = scene
        return try await changing(place) { client, node, _ in try await client.activateScene(scene, at: node) }
    }
}
