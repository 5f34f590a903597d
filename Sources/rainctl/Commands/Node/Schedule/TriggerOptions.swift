// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The options for the time of a schedule.
struct TriggerOptions: ParsableArguments {
    // Lists, because ArgumentParser keeps only the last value of an option that is not a list.
    @Option(help: ArgumentHelp("Act at this time of day, in the board's time zone.", valueName: "hh:mm"))
    var at: [String] = []

    @Option(
        help: ArgumentHelp(
            "Act on these days: daily, once, or a list such as mon-fri or sat,sun. A new schedule without --days or --date acts once.",
            valueName: "days"))
    var days: [String] = []

    @Option(
        help: ArgumentHelp(
            "Act on this date: 2026-12-24, or 12-24 for every year (not with --days).", valueName: "date"))
    var date: [String] = []

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("Act once, after this time, such as 30m, 12h or 2d (at most 365d).", valueName: "time"))
    var delay: [SpanArgument] = []

    var isGiven: Bool { !at.isEmpty || !days.isEmpty || !date.isEmpty || !delay.isEmpty }

    /// Returns the time that the options give; nil if none is given.
    ///
    /// Throws a `ValidationError` for options that cannot be read or that exclude each other.
    func time() throws -> ScheduleTime? {
        guard isGiven else { return nil }
        if let delay = delay.last {
            guard at.isEmpty, days.isEmpty, date.isEmpty else {
                throw ValidationError("--in cannot be combined with --at, --days or --date.")
            }
            let seconds = delay.duration.components.seconds
            guard (1...31_536_000).contains(seconds) else {
                throw ValidationError("--in takes a time from 1 second to 365 days.")
            }
            return .after(seconds: Int(seconds))
        }
        guard days.isEmpty || date.isEmpty else {
            throw ValidationError("Give --days or --date, but not both.")
        }
        do { return try ScheduleTime(at: at.last, days: days.last, date: date.last) } catch {
            throw ValidationError(CommandFailure(error).message)
        }
    }

    /// Checks only what is given. An edit takes missing parts from the schedule.
    func validate() throws {
        for (option, count) in [("at", at.count), ("days", days.count), ("date", date.count), ("in", delay.count)] {
            guard count <= 1 else {
                throw ValidationError(
                    "--\(option) is given \(count) times, but a schedule has one time. Add a schedule for each time.")
            }
        }
        _ = try time()
    }
}
