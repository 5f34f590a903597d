// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeScene: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scene", abstract: "Sets of values that a board keeps under a name.",
        subcommands: [SceneList.self, SceneAdd.self, SceneEdit.self, SceneRemove.self, SceneActivate.self])
}

/// A command for scenes.
protocol SceneCommand: EntryCommand {}
extension SceneCommand {
    static var service: ListService { .scenes }
}

struct SceneList: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List a board's scenes.",
        discussion: "Example: rainctl node scene list 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    var wait: Bool { false }

    func result(_ scene: CloudScene) async throws -> EntryListResult {
        let place = try await place(scene)
        return EntryListResult(place.node.id, place.node.entries(of: Self.service) ?? [], member: "scenes")
    }
}

struct SceneAdd: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Keep values under a name.",
        discussion: "Example: rainctl node scene add 'Kitchen lamp' --name Night Light.Power=off")

    @Argument(help: .node)
    var node: String

    @Argument(help: ArgumentHelp("What is to have which value.", valueName: "path=value"))
    var values: [String]

    @Option(help: "What you call it.")
    var name: String

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try GivenValue.validate(values) }

    func result(_ scene: CloudScene) async throws -> EntryResult { try await add(name, values, trigger: nil, scene) }
}

struct SceneEdit: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a scene.",
        discussion: "Example: rainctl node scene edit 'Kitchen lamp' Night --name Late")

    @Argument(help: .node)
    var node: String

    @Argument(help: "The scene: its id, or its name.")
    var scene: String

    @Argument(help: ArgumentHelp("What is to have which value, instead of what was.", valueName: "path=value"))
    var values: [String] = []

    @Option(help: "What you call it from now on.")
    var name: String?

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        guard name != nil || !values.isEmpty else { throw ValidationError("Say what is to change.") }
    }

    func result(_ place: CloudScene) async throws -> EntryResult {
        try await edit(scene, name, values, trigger: nil, place)
    }
}

struct SceneRemove: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take a scene away.",
        discussion: "Example: rainctl node scene remove 'Kitchen lamp' Night")

    @Argument(help: .node)
    var node: String

    @Argument(help: "The scene: its id, or its name.")
    var scene: String

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ place: CloudScene) async throws -> EntryResult { try await change(.remove, scene, place) }
}

struct SceneActivate: SceneCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Have a board set a scene's values.",
        discussion: "Example: rainctl node scene activate 'Kitchen lamp' Night")

    @Argument(help: .node)
    var node: String

    @Argument(help: "The scene: its id, or its name.")
    var scene: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    var wait: Bool { false }

    func result(_ place: CloudScene) async throws -> EntryResult { try await change(.activate, scene, place) }
}
