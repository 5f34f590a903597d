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

struct SceneList: SceneCommand, EntryListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List the scenes of a board, of several boards, or of all boards.",
        discussion: """
            Example: rainctl node scene list 'Kitchen lamp'

            If several boards have the same scene, rainctl shows the scene once. If the copies differ, rainctl prints a warning.
            """)

    @Argument(help: "One or more boards, by node id or name, separated by commas (default: all).", completion: .nodes)
    var node: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions
}

struct SceneAdd: SceneCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add", abstract: "Add a scene: a set of values with a name.",
        discussion: """
            Example: rainctl node scene add 'Kitchen lamp' --name Night Light.Power=off

            If you name several boards, each gets a copy of the scene, with the same id. A value such as Hall:Light.Power=on is only for \
            the board Hall.
            """)

    @Argument(help: .nodes, completion: .nodes)
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

    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let (name, values) = (name, BoardValues(values))
        return try await changing(scene, newName: name) { client, node, limit in
            let changes = try values.changes(at: [node])[node.id] ?? []
            return try await client.addScene(name, values: changes, at: node, waiting: limit)
        } several: { client, nodes, limit in
            try await client.addScene(name, values: try values.ofEach(of: nodes), waiting: limit)
        }
    }
}

struct SceneEdit: SceneCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "edit", abstract: "Change a scene.",
        discussion: """
            Example: rainctl node scene edit 'Kitchen lamp' Night --name Late

            If a board was offline during a change, its copy of the scene can differ. --repair then makes all copies equal. With --like, \
            you choose the right copy.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The scene: its id or name.")
    var scene: String

    @Argument(help: ArgumentHelp("The new values. They replace the scene's current values.", valueName: "path=value"))
    var values: [String] = []

    @Option(help: "The scene's new name.")
    var name: String?

    @OptionGroup(title: "Several boards") var copies: CopyOptions

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        try copies.validate(hasOtherChange: name != nil || !values.isEmpty)
        guard name != nil || !values.isEmpty || copies.isForSeveral else {
            throw ValidationError("Give a new name or new values.")
        }
    }

    func result(_ place: CloudScene) async throws -> any CommandResult {
        let (scene, name, values, copies) = (scene, name, BoardValues(values), copies)
        return try await changing(place, newName: name, own: scene, isForSeveral: copies.isForSeveral) {
            client, node, limit in
            let changes = try values.changes(at: [node])[node.id]
            return try await client.editScene(scene, name: name, values: changes, at: node, waiting: limit)
        } several: { client, nodes, limit in
            if copies.repair {
                try copies.checkRepair(of: nodes, "scene")
                return try await client.repairScene(
                    scene, at: nodes, like: try await copies.model(client), waiting: limit)
            }
            let change = try await copies.change(client, nodes, name: name, values)
            return try await client.editScene(scene, change, at: nodes, waiting: limit)
        }
    }
}

struct SceneRemove: SceneCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove a scene.",
        discussion: "Example: rainctl node scene remove 'Kitchen lamp' Night")

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The scene: its id or name.")
    var scene: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ place: CloudScene) async throws -> any CommandResult {
        let scene = scene
        return try await changing(place) { client, node, limit in
            try await client.removeScene(scene, at: node, waiting: limit)
        } several: { client, nodes, limit in
            try await client.removeScene(scene, at: nodes, waiting: limit)
        }
    }
}

struct SceneActivate: SceneCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "activate", abstract: "Activate a scene: set its values on the board.",
        discussion: "Example: rainctl node scene activate 'Kitchen lamp' Night")

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The scene: its id or name.")
    var scene: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    var wait: Bool { false }

    func result(_ place: CloudScene) async throws -> any CommandResult {
        let scene = scene
        return try await changing(place) { client, node, _ in
            try await client.activateScene(scene, at: node)
        } several: { client, nodes, _ in
            try await client.activateScene(scene, at: nodes)
        }
    }
}
