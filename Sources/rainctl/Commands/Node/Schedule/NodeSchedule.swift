// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeSchedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Manage schedules. A board follows its schedules even without internet access.",
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

struct ScheduleList: ScheduleCommand, EntryListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List the schedules of a board, of several boards, or of all boards.",
        discussion: """
            Example: rainctl node schedule list 'Kitchen lamp'

            If several boards have the same schedule, rainctl shows the schedule once. If the copies differ, rainctl prints a warning.
            """)

    @Argument(help: "One or more boards, by node id or name, separated by commas (default: all).", completion: .nodes)
    var node: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions
}

struct ScheduleAdd: ScheduleCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add", abstract: "Add a schedule: the board sets values at a given time.",
        discussion: """
            Example: rainctl node schedule add 'Kitchen lamp' --name Evening \\
                         --at 19:30 --days mon-fri Light.Power=on

            The board uses its own clock, in the time zone that its parameter Time.TZ sets. If you name several boards, each gets a copy \
            of the schedule, with the same id. A value such as Hall:Light.Power=on is only for the board Hall.
            """)

    @Argument(help: .nodes, completion: .nodes)
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

    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let (name, values) = (name, BoardValues(values))
        guard let time = try trigger.time() else { throw ValidationError("Give a time: --at HH:MM or --in TIME.") }
        return try await changing(scene, newName: name) { client, node, limit in
            let changes = try values.changes(at: [node])[node.id] ?? []
            return try await client.addSchedule(name, values: changes, time: time, at: node, waiting: limit)
        } several: { client, nodes, limit in
            try await client.addSchedule(name, values: try values.ofEach(of: nodes), time: time, waiting: limit)
        }
    }
}

struct ScheduleEdit: ScheduleCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "edit", abstract: "Change a schedule.",
        discussion: """
            Example: rainctl node schedule edit 'Kitchen lamp' Evening --at 20:00

            If you give only --at, the days or the date do not change. If you give only --days or --date, the time of day does not \
            change. rainctl takes these parts from the board's last report. Therefore, if you make several edits in a row, add --wait to \
            each edit.

            If a board was offline during a change, its copy of the schedule can differ. --repair then makes all copies equal. With --like, \
            you choose the right copy.
            """)

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Argument(
        help: ArgumentHelp("The new values. They replace the schedule's current values.", valueName: "path=value"))
    var values: [String] = []

    @Option(help: "The schedule's new name.")
    var name: String?

    @OptionGroup(title: "When") var trigger: TriggerOptions

    @OptionGroup(title: "Several boards") var copies: CopyOptions

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        try copies.validate(hasOtherChange: trigger.isGiven || name != nil || !values.isEmpty)
        guard trigger.isGiven || name != nil || !values.isEmpty || copies.isForSeveral else {
            throw ValidationError("Give a new time, a new name or new values.")
        }
    }

    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let (schedule, name, values, time) = (schedule, name, BoardValues(values), try trigger.time())
        let copies = copies
        return try await changing(scene, newName: name, own: schedule, isForSeveral: copies.isForSeveral) {
            client, node, limit in
            let changes = try values.changes(at: [node])[node.id]
            return try await client.editSchedule(
                schedule, name: name, values: changes, time: time, at: node, waiting: limit)
        } several: { client, nodes, limit in
            if copies.repair {
                try copies.checkRepair(of: nodes, "schedule")
                return try await client.repairSchedule(
                    schedule, at: nodes, like: try await copies.model(client), waiting: limit)
            }
            let change = try await copies.change(client, nodes, name: name, time: time, values)
            return try await client.editSchedule(schedule, change, at: nodes, waiting: limit)
        }
    }
}

struct ScheduleRemove: ScheduleCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove a schedule.",
        discussion: "Example: rainctl node schedule remove 'Kitchen lamp' Evening")

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let schedule = schedule
        return try await changing(scene) { client, node, limit in
            try await client.removeSchedule(schedule, at: node, waiting: limit)
        } several: { client, nodes, limit in
            try await client.removeSchedule(schedule, at: nodes, waiting: limit)
        }
    }
}

struct ScheduleEnable: ScheduleCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "enable", abstract: "Enable a schedule.",
        discussion: "Example: rainctl node schedule enable 'Kitchen lamp' Evening")

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let schedule = schedule
        return try await changing(scene) { client, node, limit in
            try await client.enableSchedule(schedule, at: node, waiting: limit)
        } several: { client, nodes, limit in
            try await client.enableSchedule(schedule, at: nodes, waiting: limit)
        }
    }
}

struct ScheduleDisable: ScheduleCommand, EntryChangeCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "disable", abstract: "Disable a schedule without removing it.",
        discussion: "Example: rainctl node schedule disable 'Kitchen lamp' Evening")

    @Argument(help: .nodes, completion: .nodes)
    var node: String

    @Argument(help: "The schedule: its id or name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported the change.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let schedule = schedule
        return try await changing(scene) { client, node, limit in
            try await client.disableSchedule(schedule, at: node, waiting: limit)
        } several: { client, nodes, limit in
            try await client.disableSchedule(schedule, at: nodes, waiting: limit)
        }
    }
}
