// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import RainMaker

/// A command for the lists that boards keep themselves: schedules and scenes.
protocol EntryCommand: CloudCommand {
    static var service: ListService { get }

    var node: String { get }
    var wait: Bool { get }
}

extension EntryCommand {
    static var noun: String { service == .schedules ? "schedule" : "scene" }

    /// Finds the board, changes its list, and returns what the board reports about it.
    /// - Parameters:
    ///   - newName: the name that the entry gets.
    ///   - own: the id or name of an existing entry.
    ///   - change: makes the change. Its last argument is how long to wait for the board's report.
    func changing(
        _ scene: CloudScene, newName: String? = nil, own: String? = nil,
        _ change: @escaping @Sendable (RainKitClient, Node, Duration?) async throws -> EntryOutcome
    ) async throws -> EntryResult {
        let name = node
        let found = try await scene.time.run { try await scene.client.node(named: name) }
        if let newName, let entries = try? Self.service == .schedules ? found.schedules() : found.scenes() {
            scene.warn(Self.noun, newName, among: entries.map { ($0.id, $0.name) }, own: own)
        }
        let report = ReportWait(isRequired: wait, for: [found], scene.context, scene.time)
        let outcome = report.settled(
            try await scene.time.run { try await change(scene.client, found, report.limit) })
        if let zone = outcome.missingTimeZone {
            scene.context.output.warn(
                "\(found.shownName) has no time zone yet, so it reads the time as UTC. Set its time zone: "
                    + commandLine(
                        "node params set \(found.id.rawValue.asShellWord) \("\(zone)=Europe/Berlin".asShellWord)"),
                reason: "no_time_zone")
        }
        let result = EntryResult(outcome, noun: Self.noun, of: found.shownName)
        if let unknown = outcome.unknown {
            var failure = CommandFailure(unknown)
            failure.message +=
                " The cloud has sent the \(Self.noun) to \(found.shownName), but did not show whether the board has it: "
                + "\(commandLine("node \(Self.noun) list \(found.id.rawValue.asShellWord)")) shows the board's list."
            failure.result = result
            throw failure
        }
        guard outcome.isReported != false else {
            let why =
                outcome.seen.map { ": it \($0)." } ?? ". Check that the board is online and that its list is not full."
            throw CommandFailure(
                .deadline,
                message:
                    "The cloud has sent the \(Self.noun), but \(found.shownName) has not reported it in time (--timeout)\(why)"
            )
        }
        return result
    }
}

extension EntryListResult: CommandResult {
    var text: String { entries.isEmpty ? "There are no \(member)." : lines.map(\.text).joined(separator: "\n") }

    var lines: [Line] { entries.map { Line($0) } }

    /// What a person reads of an entry.
    struct Line: Sendable {
        let id: String
        let name: String
        /// Nil for scenes.
        let isEnabled: Bool?
        let times: String
        let values: String

        fileprivate init(_ entry: ServiceEntry) {
            id = entry.id
            name = entry.name
            isEnabled = entry.isEnabled
            times = entry.triggers.map(\.description).joined(separator: "; ")
            values = ([ParameterChange](entry.action) ?? []).map { "\($0.path)=\($0.value.shown)" }
                .joined(separator: " ")
        }

        fileprivate var text: String {
            let state = isEnabled.map { $0 ? "  on " : "  off" } ?? ""
            return "\(id)\(state)  \(name)\(times.isEmpty ? "" : "  \(times)")  \(values)".onOneLine
        }
    }
}

extension EntryListResult: ListResult {
    var table: ListTable {
        let times = member == "scenes" ? ["info"] : ["enabled", "triggers"]
        return ListTable(member: member, columns: ["id", "name"] + times + ["action"])
    }
}

extension EntryResult: ConfirmingResult {
    var isProse: Bool { true }

    var confirmedLines: [Int] { message == nil ? [0] : [] }

    var text: String {
        if let message {
            let what = operation == ServiceOperation.add.rawValue ? subject : "the change of \(subject)"
            return "\(board) \(message): the cloud has sent \(what), but the board may not get it".onOneLine
        }
        // The board reports the scene's values, and nothing of the scene.
        if operation == ServiceOperation.activate.rawValue { return "Sent \(subject) to \(board)".onOneLine }
        let done: (verb: String, place: String) =
            switch ServiceOperation(rawValue: operation) {
            case .add: ("Created", "on")
            case .remove: ("Removed", "from")
            case .enable: ("Enabled", "on")
            case .disable: ("Disabled", "on")
            case .edit, .activate, nil: ("Changed", "on")
            }
        let line = "\(done.verb) \(subject) \(done.place) \(board)"
        guard state == "sent" else { return line.onOneLine }
        var end = "; the board has not reported it yet"
        // Until then the cloud knows the old time, and the next edit would start from it.
        if operation == ServiceOperation.edit.rawValue, changesTime {
            end +=
                ". Until the board answers, an edit of a part of the time keeps the rest of the old time: give --wait, or the whole time"
        }
        return "\(line)\(end)".onOneLine
    }
}
