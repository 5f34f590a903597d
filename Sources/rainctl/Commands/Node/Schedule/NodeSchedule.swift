// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeSchedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule", abstract: "Manage schedules, which a board follows even without the internet.",
        subcommands: [
            ScheduleList.self, ScheduleAdd.self, ScheduleEdit.self, ScheduleRemove.self, ScheduleEnable.self,
            ScheduleDisable.self,
        ])
}

/// A command for schedules.
protocol ScheduleCommand: EntryCommand {}
extension ScheduleCommand {
    static var service: ListService { .schedules }
}

struct ScheduleList: ScheduleCommand, ListCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List a board's schedules.",
        discussion: "Example: rainctl node schedule list 'Kitchen lamp'")

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
        return EntryListResult(found.id, try found.schedules(), member: "schedules")
    }
}

struct ScheduleAdd: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a schedule: the board sets these values at a given time.",
        discussion: """
            Example: rainctl node schedule add 'Kitchen lamp' --name Evening \\
                         --at 19:30 --days mon-fri Light.Power=on

            The board uses its own clock, in the time zone that its parameter Time.TZ sets.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: ArgumentHelp("The values to set at that time.", valueName: "path=value"))
    var values: [String]

    @Option(help: "The schedule's name.")
    var name: String

    @OptionGroup(title: "When") var trigger: TriggerOptions

    @Flag(help: "Wait until the board has reported the schedule.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        guard let time = try trigger.time() else { throw ValidationError("Give a time: --at HH:MM or --in TIME.") }
        do { try time.checkForNewSchedule() } catch { throw ValidationError(CommandFailure(error).message) }
    }

    func result(_ scene: CloudScene) async throws -> EntryResult {
        let (name, values) = (name, values)
        guard let time = try trigger.time() else { throw ValidationError("Give a time: --at HH:MM or --in TIME.") }
        return try await changing(scene, newName: name) { client, node, limit in
            let values = try GivenValue.changes(values, at: node) ?? []
            return try await client.addSchedule(name, values: values, time: time, at: node, waiting: limit)
        }
    }
}

struct ScheduleEdit: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a schedule.",
        discussion: """
            Example: rainctl node schedule edit 'Kitchen lamp' Evening --at 20:00

            Parts of the time that you omit stay as the board last reported them. With --at alone, the days or the date stay. With --days \
            or --date alone, the time of day stays. If another edit follows, give --wait or the whole time.
            """)

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Argument(help: ArgumentHelp("New values; they replace the schedule's current ones.", valueName: "path=value"))
    var values: [String] = []

    @Option(help: "The schedule's new name.")
    var name: String?

    @OptionGroup(title: "When") var trigger: TriggerOptions

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        guard trigger.isGiven || name != nil || !values.isEmpty else {
            throw ValidationError("Give a new time, a new name or new values.")
        }
    }

    func result(_ scene: CloudScene) async throws -> EntryResult {
        let (schedule, name, values, time) = (schedule, name, values, try trigger.time())
        return try await changing(scene, newName: name, own: schedule) { client, node, limit in
            let values = try GivenValue.changes(values, at: node)
            return try await client.editSchedule(
                schedule, name: name, values: values, time: time, at: node, waiting: limit)
        }
    }
}

struct ScheduleRemove: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a schedule.",
        discussion: "Example: rainctl node schedule remove 'Kitchen lamp' Evening")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> EntryResult {
        let schedule = schedule
        return try await changing(scene) { client, node, limit in
            try await client.removeSchedule(schedule, at: node, waiting: limit)
        }
    }
}

struct ScheduleEnable: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Enable a schedule.",
        discussion: "Example: rainctl node schedule enable 'Kitchen lamp' Evening")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> EntryResult {
        let schedule = schedule
        return try await changing(scene) { client, node, limit in
            try await client.enableSchedule(schedule, at: node, waiting: limit)
        }
    }
}

struct ScheduleDisable: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Disable a schedule without removing it.",
        discussion: "Example: rainctl node schedule disable 'Kitchen lamp' Evening")

    @Argument(help: .node, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> EntryResult {
        let schedule = schedule
        return try await changing(scene) { client, node, limit in
            try await client.disableSchedule(schedule, at: node, waiting: limit)
        }
    }
}
