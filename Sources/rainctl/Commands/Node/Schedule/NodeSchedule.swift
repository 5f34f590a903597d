// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct NodeSchedule: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule", abstract: "What a board does at which time, also without the internet.",
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

struct ScheduleList: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List a board's schedules.",
        discussion: "Example: rainctl node schedule list 'Kitchen lamp'")

    @Argument(help: .node)
    var node: String

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    var wait: Bool { false }

    func result(_ scene: CloudScene) async throws -> EntryListResult {
        let place = try await place(scene)
        return EntryListResult(place.node.id, place.node.entries(of: Self.service) ?? [], member: "schedules")
    }
}

struct ScheduleAdd: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Have a board do something at a time.",
        discussion: """
            Example: rainctl node schedule add 'Kitchen lamp' --name Evening --at 19:30 --days mon-fri Light.Power=on

            The board acts by its own clock, in the time zone that is set at it (Time.TZ).
            """)

    @Argument(help: .node)
    var node: String

    @Argument(help: ArgumentHelp("What is to have which value then.", valueName: "path=value"))
    var values: [String]

    @Option(help: "What you call it.")
    var name: String

    @OptionGroup(title: "When") var trigger: TriggerOptions

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        guard let words = trigger.words else { throw ValidationError("Say when: --at HH:MM, or --in TIME.") }
        _ = try words.trigger(at: .earliest)
    }

    func result(_ scene: CloudScene) async throws -> EntryResult {
        try await add(name, values, trigger: trigger.words, scene)
    }
}

struct ScheduleEdit: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change a schedule.",
        discussion: """
            Example: rainctl node schedule edit 'Kitchen lamp' Evening --at 20:00

            What is not given stays as the board has reported it last: with --at alone the days or the date, with --days or --date alone \
            the time of day. Give --wait, or the whole time, where another edit follows.
            """)

    @Argument(help: .node)
    var node: String

    @Argument(help: "The schedule: its id, or its name.")
    var schedule: String

    @Argument(help: ArgumentHelp("What is to have which value then, instead of what was.", valueName: "path=value"))
    var values: [String] = []

    @Option(help: "What you call it from now on.")
    var name: String?

    @OptionGroup(title: "When") var trigger: TriggerOptions

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try GivenValue.validate(values)
        guard trigger.isGiven || name != nil || !values.isEmpty else { throw ValidationError("Say what is to change.") }
    }

    func result(_ scene: CloudScene) async throws -> EntryResult {
        try await edit(schedule, name, values, trigger: trigger.words, scene)
    }
}

struct ScheduleRemove: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take a schedule away.",
        discussion: "Example: rainctl node schedule remove 'Kitchen lamp' Evening")

    @Argument(help: .node)
    var node: String

    @Argument(help: "The schedule: its id, or its name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> EntryResult { try await change(.remove, schedule, scene) }
}

struct ScheduleEnable: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Have a schedule act again.",
        discussion: "Example: rainctl node schedule enable 'Kitchen lamp' Evening")

    @Argument(help: .node)
    var node: String

    @Argument(help: "The schedule: its id, or its name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> EntryResult { try await change(.enable, schedule, scene) }
}

struct ScheduleDisable: ScheduleCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Keep a schedule from acting.",
        discussion: "Example: rainctl node schedule disable 'Kitchen lamp' Evening")

    @Argument(help: .node)
    var node: String

    @Argument(help: "The schedule: its id, or its name.")
    var schedule: String

    @Flag(help: "Wait until the board has reported it.")
    var wait = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(30))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func result(_ scene: CloudScene) async throws -> EntryResult { try await change(.disable, schedule, scene) }
}
