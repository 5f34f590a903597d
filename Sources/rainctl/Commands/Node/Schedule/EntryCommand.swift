// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit
import RainMaker

/// A command for the lists that boards keep themselves: schedules and scenes. Its result depends on the number of boards.
protocol EntryCommand: AsyncParsableCommand {
    static var service: ListService { get }

    var options: GlobalOptions { get }
    var timeout: DurationArgument { get }

    func result(_ scene: CloudScene) async throws -> any CommandResult
}

extension EntryCommand {
    static var noun: String { service.noun }

    func run() async throws {
        let context = try Context(options, list: (self as? any ListCommand)?.format)
        let client = try context.rainMakerClient()
        let scene = CloudScene(
            context: context, client: client, cloud: try client.rainMakerNodes(), time: TimeBudget(timeout))
        let made = try await context.screen.waiting("Asking the cloud") { try await result(scene) }
        context.output.result(made)
    }
}

/// A command that lists the entries of one board, of several, or of all boards in the account.
protocol EntryListCommand: EntryCommand, ListCommand {
    var node: String? { get }
}

extension EntryListCommand {
    func result(_ scene: CloudScene) async throws -> any CommandResult {
        let (names, service) = (node, Self.service)
        guard let names else {
            return try listed(try await scene.time.run { try await scene.client.entryGroups(of: service) }, scene)
        }
        let nodes = try await scene.time.run { try await scene.client.nodes(listed: names) }
        let entries = try nodes.map { try service == .schedules ? $0.schedules() : $0.scenes() }
        if nodes.count == 1 { return EntryListResult(nodes[0].id, entries[0], member: "\(Self.noun)s") }
        return try listed(EntryGroup.groups(of: service, at: nodes), scene)
    }

    private func listed(_ groups: [EntryGroup], _ scene: CloudScene) throws -> EntryGroupListResult {
        for group in groups where !group.isInSync { scene.warn(group) }
        return EntryGroupListResult(groups, of: Self.service)
    }
}

extension CloudScene {
    /// Warns about copies that differ, and names the command that repairs them.
    fileprivate func warn(_ group: EntryGroup) {
        let noun = group.service.noun
        let boards = group.copies.map(\.node.rawValue).joined(separator: ",")
        let isUnclear = (try? group.model()) == nil
        context.output.warn(
            "The \(noun) \(group.name) (\(group.id)) is out of sync: \(group.differenceText()). Repair it: ".onOneLine
                + commandLine(
                    "node \(noun) edit \(boards.asShellWord) \(group.id.asShellWord) --repair\(isUnclear ? " --like BOARD" : "")"
                ),
            reason: "out_of_sync")
    }
}

/// A command that changes an entry on one board or on several.
protocol EntryChangeCommand: EntryCommand {
    var node: String { get }
    var wait: Bool { get }
}

extension EntryChangeCommand {
    /// Finds the boards, changes their lists, and returns what they report about it.
    ///
    /// - Parameters:
    ///   - newName: the name that the entry gets.
    ///   - own: the id or name of an existing entry.
    ///   - isForSeveral: whether a single board is treated as several are.
    ///   - one: makes the change on the only board. Its last argument is how long to wait for the board's report.
    ///   - several: makes the change on several boards.
    func changing(
        _ scene: CloudScene, newName: String? = nil, own: String? = nil, isForSeveral: Bool = false,
        one: @escaping @Sendable (RainKitClient, Node, Duration?) async throws -> EntryOutcome,
        several: @escaping @Sendable (RainKitClient, [Node], Duration?) async throws -> [EntryOutcome]
    ) async throws -> any CommandResult {
        let names = node
        let found = try await scene.time.run { try await scene.client.nodes(listed: names) }
        if let newName {
            scene.warn(
                Self.noun, newName,
                among: EntryGroup.groups(of: Self.service, at: found).map { ($0.id, $0.name) }, own: own)
        }
        let report = ReportWait(isRequired: wait, for: found, scene.context, scene.time)
        guard found.count == 1, !isForSeveral else {
            let outcomes = try await scene.time.run { try await several(scene.client, found, report.limit) }
            return try told(outcomes.map(report.settled), found, scene)
        }
        let outcome = report.settled(
            try await scene.time.run { try await one(scene.client, found[0], report.limit) })
        return try told(outcome, found[0], scene)
    }

    private func told(_ outcome: EntryOutcome, _ node: Node, _ scene: CloudScene) throws -> EntryResult {
        scene.warnOfTimeZone(outcome, node.shownName)
        let result = EntryResult(outcome, noun: Self.noun, of: node.shownName)
        let what = EntryBoardsResult.sent(result.operation, "the \(Self.noun)")
        if let unknown = outcome.unknown {
            var failure = CommandFailure(unknown)
            failure.message +=
                " The cloud has sent \(what) to \(node.shownName), but did not show whether the board has it. To see the board's "
                + "list, run: \(commandLine("node \(Self.noun) list \(node.id.rawValue.asShellWord)"))"
            failure.result = result
            throw failure
        }
        guard outcome.isReported != false else {
            let why =
                outcome.seen.map { ": it \($0)." } ?? ". Check that the board is online and that its list is not full."
            throw CommandFailure(
                .deadline,
                message:
                    "The cloud has sent \(what), but \(node.shownName) has not reported it in time (--timeout)\(why)"
            )
        }
        return result
    }

    /// Prints the result, and throws if a board does not have the change.
    private func told(_ outcomes: [EntryOutcome], _ found: [Node], _ scene: CloudScene) throws -> EntryBoardsResult {
        let known = scene.client.rememberedNodes().map { ($0.id, $0.name ?? $0.id.rawValue) }
        var names = Dictionary(known) { first, _ in first }
        for node in found { names[node.id] = node.shownName }
        // Boards with one name are shown with their ids.
        let counts = Dictionary(grouping: outcomes) { names[$0.node]?.lowercased() ?? "" }.mapValues(\.count)
        for (id, name) in names where counts[name.lowercased()] ?? 0 > 1 { names[id] = "\(name) (\(id))" }
        for outcome in outcomes { scene.warnOfTimeZone(outcome, names[outcome.node] ?? outcome.node.rawValue) }
        let result = EntryBoardsResult(outcomes, noun: Self.noun, names: names)
        try result.tell(scene.context.output)
        return result
    }
}

extension CloudScene {
    fileprivate func warnOfTimeZone(_ outcome: EntryOutcome, _ board: String) {
        guard let zone = outcome.missingTimeZone, outcome.failure == nil else { return }
        context.output.warn(
            "\(board) has no time zone yet, so it reads the time as UTC. Set its time zone: "
                + commandLine(
                    "node params set \(outcome.node.rawValue.asShellWord) \("\(zone)=Europe/Berlin".asShellWord)"),
            reason: "no_time_zone")
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

        init(_ entry: ServiceEntry) {
            id = entry.id
            name = entry.name
            isEnabled = entry.isEnabled
            times = entry.triggers.map(\.description).joined(separator: "; ")
            values = ([ParameterChange](entry.action) ?? []).map { "\($0.path)=\($0.value.shown)" }
                .joined(separator: " ")
        }

        fileprivate var text: String { "\(start)  \(values)".onOneLine }

        /// The line without the values.
        fileprivate var start: String {
            let state = isEnabled.map { $0 ? "  on " : "  off" } ?? ""
            return "\(id)\(state)  \(name)\(times.isEmpty ? "" : "  \(times)")"
        }
    }
}

extension EntryListResult: ListResult {
    var table: ListTable {
        let times = member == "scenes" ? ["info"] : ["enabled", "triggers"]
        return ListTable(member: member, columns: ["id", "name"] + times + ["action"])
    }
}

extension EntryGroupListResult: CommandResult {
    var text: String {
        guard !groups.isEmpty else { return "There are no \(member)." }
        return groups.map { group in
            let boards = group.copies.map(\.nodeName).joined(separator: ", ")
            return "\(Self.line(group).start)  \(boards)\(group.isInSync ? "" : "  out of sync")".onOneLine
        }.joined(separator: "\n")
    }

    /// The copy that most boards have.
    static func line(_ group: EntryGroup) -> EntryListResult.Line {
        EntryListResult.Line(((try? group.model()) ?? group.copies[0]).entry)
    }
}

extension EntryGroupListResult: ListResult {
    var table: ListTable { ListTable(member: member, columns: ["id", "name", "in_sync", "differs", "node_ids"]) }
}

extension EntryResult: ConfirmingResult {
    var isProse: Bool { true }

    var confirmedLines: [Int] { message == nil ? [0] : [] }

    var text: String {
        if let message {
            let what = EntryBoardsResult.sent(operation, subject)
            return "\(board) \(message): the cloud has sent \(what), but the board may not get it".onOneLine
        }
        // The board reports the scene's values, and nothing of the scene.
        if operation == ServiceOperation.activate.rawValue { return "Sent \(subject) to \(board)".onOneLine }
        let line = "\(EntryBoardsResult.done(operation, subject)) \(board)"
        guard state == "sent" else { return line.onOneLine }
        var end = "; the board has not reported it yet"
        // Until then the cloud knows the old time, and the next edit would start from it.
        if operation == ServiceOperation.edit.rawValue, changesTime {
            end +=
                ". Until then, another edit of the time starts from the old time: use --wait, or give the whole time in each edit"
        }
        return "\(line)\(end)".onOneLine
    }
}

extension EntryBoardsResult: CommandResult {
    var isProse: Bool { true }

    var confirmedLines: [Int] {
        nodes.indices.filter { nodes[$0].state == "reported" || nodes[$0].state == "sent" && nodes[$0].message == nil }
    }

    var text: String { nodes.map(line).joined(separator: "\n") }

    private func line(_ entry: Entry) -> String {
        let board = entry.board
        let done = "\(Self.done(entry.operation, subject)) \(board)"
        let isActivated = entry.operation == ServiceOperation.activate.rawValue
        let what = Self.sent(entry.operation, subject)
        let line =
            switch entry.state {
            case "unchanged" where entry.operation == ServiceOperation.remove.rawValue:
                "\(board) does not have \(subject)"
            case "unchanged": "\(board) already has \(subject)"
            case "reported": done
            case "sent" where entry.isUntold: "Sent \(what) to \(board); it is not known whether the board has it"
            case "sent" where entry.message != nil:
                "\(board) \(entry.message ?? ""): the cloud has sent \(what), but the board may not get it"
            case "sent" where isActivated: "Sent \(subject) to \(board)"
            case "sent": "\(done); the board has not reported it yet"
            case "silent": "\(board) has not reported \(what) in time\(entry.message.map { "; it \($0)" } ?? "")"
            case "unknown": "\(board): it is not known whether the cloud has sent \(what)"
            default: "\(board) failed: \(entry.message ?? "")"
            }
        return line.onOneLine
    }

    /// The begin of a sentence about a change, up to the board: "Created schedule Evening on".
    fileprivate static func done(_ operation: String, _ subject: String) -> String {
        switch ServiceOperation(rawValue: operation) {
        case .add: "Created \(subject) on"
        case .remove: "Removed \(subject) from"
        case .enable: "Enabled \(subject) on"
        case .disable: "Disabled \(subject) on"
        case .edit, .activate, nil: "Changed \(subject) on"
        }
    }

    /// Throws if a board does not have the change, so that a script notices. The lines of all boards are printed before.
    func tell(_ output: Output) throws(CommandFailure) {
        guard let error = failure(hints) else { return }
        var failure = CommandFailure(error)
        // The message of an account's error is made from its parts.
        if error.account != nil { failure.message += others + hints.toRepair }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    private var hints: Hints {
        var hints = Hints()
        hints.timeLimit = " (--timeout)"
        let operations = Set(nodes.map(\.operation))
        // Nothing can be copied from boards that do not have it, and the same command again repairs the other changes.
        let done = nodes.filter { ["reported", "sent", "unchanged"].contains($0.state) }
        if let first = done.first,
            !operations.isDisjoint(with: [ServiceOperation.add.rawValue, ServiceOperation.edit.rawValue])
        {
            let kept = nodes.filter { $0.operation != ServiceOperation.remove.rawValue }
            let boards = kept.map(\.nodeID).joined(separator: ",")
            let like = done.count * 2 > kept.count ? "" : " --like \(first.nodeID.asShellWord)"
            hints.toRepair =
                " To send the \(noun) to the other boards later, run: "
                + commandLine("node \(noun) edit \(boards.asShellWord) \(id.asShellWord) --repair\(like)")
        }
        return hints
    }
}
