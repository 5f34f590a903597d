// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainJSON
import RainKit

/// A command on one of the lists that boards keep themselves: schedules and scenes.
protocol EntryCommand: CloudCommand {
    static var service: ListService { get }

    var node: String { get }
    var wait: Bool { get }
}

extension EntryCommand {
    static var noun: String { service == .schedules ? "schedule" : "scene" }

    /// The board, and where it keeps the list. Throws `no_service` where its firmware has none: nothing is sent then.
    func place(
        _ scene: CloudScene
    ) async throws -> (node: Node, configuration: NodeConfiguration, path: ParameterPath, maximum: Int?) {
        let name = node
        let found = try await scene.time.run { try await scene.choice.node(name) }
        let configuration = try found.described()
        guard let list = configuration.list(of: Self.service) else {
            throw CommandFailure(
                .badData, reason: "no_service",
                message:
                    "\(found.shownName) has no \(Self.noun)s: its firmware does not have the service \(Self.service.type)."
            )
        }
        return (found, configuration, list.path, list.maximum)
    }

    /// The entry of that id or name. Throws `no_such_entry`, with those that there are.
    func entry(_ name: String, at node: Node) throws(CommandFailure) -> ServiceEntry {
        let all = node.entries(of: Self.service) ?? []
        let found =
            all.filter { $0.id == name }.first.map { [$0] } ?? all.filter { $0.name.lowercased() == name.lowercased() }
        if found.count == 1 { return found[0] }
        let list = (found.isEmpty ? all : found).prefix(20).map { "\($0.id) (\($0.name))".onOneLine }
            .joined(separator: ", ")
        throw CommandFailure(
            found.isEmpty ? .badData : .usage, reason: found.isEmpty ? "no_such_entry" : "several_entries",
            message: found.isEmpty
                ? "\(node.shownName) has no \(Self.noun) \(name.onOneLine); it has \(list.isEmpty ? "none" : list)."
                : "Several \(Self.noun)s are called \(name.onOneLine): use an id, \(list).")
    }

    /// Sends the change, and waits for the board's report where that is wanted.
    func carryOut(
        _ operation: ServiceOperation, _ id: String, _ change: ServiceEntryChange = ServiceEntryChange(),
        at node: Node, _ path: ParameterPath, _ scene: CloudScene
    ) async throws -> EntryResult {
        let setter = ParameterSetter(cloud: scene.cloud, wait: wait ? scene.time.leftForWaiting : nil)
        let wanted = change.change(operation, id, at: path)
        let service = Self.service
        let outcomes = try await scene.time.run {
            try await setter.set([(node, [wanted])]) { known in
                let entry = known.entries(of: service)?.first { $0.id == id }
                return entry.isAsWanted(operation, change)
            }
        }
        if let untold = outcomes.first?.untold {
            var failure = CommandFailure(untold)
            failure.message +=
                " The cloud has sent the \(Self.noun) to \(node.shownName), and did not say what became of it: "
                + "rainctl node \(Self.noun) list \(node.id.rawValue.asShellWord) shows that."
            failure.result = EntryResult(
                node: node.id, noun: Self.noun, id: id, operation: operation, isReported: false)
            throw failure
        }
        let isReported = outcomes.first?.isReported
        guard isReported != false else {
            throw CommandFailure(
                .deadline,
                message:
                    "The cloud has sent it, and \(node.shownName) has not reported the \(Self.noun) in time (--timeout): is the board online, and its list full?"
            )
        }
        return EntryResult(
            node: node.id, noun: Self.noun, id: id, operation: operation, isReported: isReported ?? false,
            changesTime: change.trigger != nil)
    }
}

extension ServiceEntry? {
    /// Whether it is what the change was to make of it.
    fileprivate func isAsWanted(_ operation: ServiceOperation, _ change: ServiceEntryChange) -> Bool {
        switch operation {
        case .remove: return self == nil
        case .enable: return self?.isEnabled == true
        case .disable: return self?.isEnabled == false
        // What an activated scene sets is seen at the values.
        case .activate: return self != nil
        case .add, .edit:
            guard let entry = self else { return false }
            return change.name.map { $0 == entry.name } ?? true
                && change.trigger.map { $0 == entry.trigger } ?? true
                && change.action.map { entry.action.isReport(of: $0) } ?? true
        }
    }
}

extension Node {
    /// What the user calls it, or its id.
    var shownName: String { (displayName ?? id.rawValue).onOneLine }
}

extension EntryCommand {
    /// A new entry. Throws `list_full` where the board says how many it keeps, and has as many.
    func add(
        _ name: String, _ values: [String], trigger: TriggerWords?, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let known = place.node.entries(of: Self.service) ?? []
        if let maximum = place.maximum, known.count >= maximum {
            throw CommandFailure(
                .badData, reason: "list_full",
                message: "\(place.node.shownName) keeps \(maximum) \(Self.noun)s, and has as many: remove one first.")
        }
        var id = ""
        // As the apps and the official client make them: four hex digits.
        repeat {
            id = RainKitTools().randomBytes(2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased() }
                .joined()
        } while known.contains { $0.id == id }
        let trigger = try await read(trigger, at: place.node, scene)
        let change = try checked(name, values, trigger, place)
        warnOfTimeZone(place.node, trigger, scene.context)
        return try await carryOut(.add, id, change, at: place.node, place.path, scene)
    }

    func edit(
        _ wanted: String, _ name: String?, _ values: [String], trigger: TriggerWords?, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let entry = try entry(wanted, at: place.node)
        let trigger = try await read(trigger, of: entry, at: place.node, scene)
        var change = try checked(name, values, trigger, place)
        change.replacedTrigger = entry.document["triggers"]?.array?.first
        warnOfTimeZone(place.node, trigger, scene.context)
        return try await carryOut(.edit, entry.id, change, at: place.node, place.path, scene)
    }

    func change(
        _ operation: ServiceOperation, _ wanted: String, _ scene: CloudScene
    ) async throws -> EntryResult {
        let place = try await place(scene)
        let entry = try entry(wanted, at: place.node)
        if operation == .enable { try await checkIsToCome(entry, at: place.node, scene) }
        return try await carryOut(operation, entry.id, at: place.node, place.path, scene)
    }

    /// Throws `usage` for a schedule that would not act any more: the board would switch it on all the same.
    private func checkIsToCome(_ entry: ServiceEntry, at node: Node, _ scene: CloudScene) async throws {
        let triggers = entry.triggers
        guard !triggers.isEmpty, triggers.allSatisfy({ $0.isOver(at: .latest) }) else { return }
        var isOver = triggers.allSatisfy { $0.isOver(at: .earliest) }
        if !isOver, let now = await now(of: node, scene) { isOver = triggers.allSatisfy { $0.isOver(at: now) } }
        guard isOver else { return }
        throw CommandFailure(
            .usage,
            message: """
                \(entry.name.onOneLine) (\(triggers.map(\.words).joined(separator: ", ").onOneLine)) would never act: that is over. Give it \
                another time with rainctl node schedule edit.
                """)
    }

    /// What the board's clock shows, where that is known.
    private func now(of node: Node, _ scene: CloudScene) async -> ClockReading? {
        await BoardClock(environment: scene.context.environmentOfPrograms)
            .reading(of: node, within: min(scene.time.left, .seconds(5)))
    }

    /// What the words mean for this board: of `entry` stays what they leave out.
    ///
    /// Throws `usage` for what would never act, and `several_triggers` where a change of one would drop the others.
    private func read(
        _ words: TriggerWords?, of entry: ServiceEntry? = nil, at node: Node, _ scene: CloudScene
    ) async throws -> ScheduleTrigger? {
        guard let words else { return nil }
        if let entry, entry.triggers.count > 1 {
            throw CommandFailure(
                .badData, reason: "several_triggers",
                message: """
                    \(entry.name.onOneLine) acts at several times (\(entry.triggers.map(\.words).joined(separator: ", ").onOneLine)), of \
                    which a change would drop all but one: remove it, and add a schedule for each.
                    """)
        }
        do {
            let trigger = try words.trigger(after: entry?.trigger, at: .earliest)
            // Only about a day is the board's zone needed.
            guard trigger.isOver(at: .latest) else { return trigger }
            guard let now = await now(of: node, scene) else { return trigger }
            return try words.trigger(after: entry?.trigger, at: now)
        } catch let error as ValidationError {
            throw CommandFailure(.usage, message: error.message)
        }
    }

    private func checked(
        _ name: String?, _ values: [String], _ trigger: ScheduleTrigger?,
        _ place: (node: Node, configuration: NodeConfiguration, path: ParameterPath, maximum: Int?)
    ) throws(CommandFailure) -> ServiceEntryChange {
        do throws(ParameterError) {
            let changes = try GivenValue.changes(values, by: place.configuration)
            // `nil` alone would be JSON's null.
            let change = ServiceEntryChange(
                name: name, trigger: trigger, action: changes.isEmpty ? Optional.none : changes.json)
            try change.check(by: place.configuration, Self.service)
            return change
        } catch {
            throw CommandFailure(error, at: place.node)
        }
    }

    /// A board without a time zone acts by UTC, which nobody expects of 07:30.
    private func warnOfTimeZone(_ node: Node, _ trigger: ScheduleTrigger?, _ context: Context) {
        switch trigger {
        case .weekly, .date: break
        case .after, .other, nil: return
        }
        guard let zone = node.timeZone, zone.name.isEmpty else { return }
        context.output.warn(
            "\(node.shownName) has no time zone yet, and takes the time for UTC: rainctl node params set \(node.id.rawValue.asShellWord) "
                + "\("\(zone.path)=Europe/Berlin".asShellWord)", reason: "no_time_zone")
    }
}

/// The schedules or scenes of a board.
struct EntryListResult: CommandResult {
    private var members = NamedMembers()
    private(set) var text: String

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    /// - Parameter member: `schedules` or `scenes`.
    init(_ node: NodeID, _ entries: [ServiceEntry], member: String) {
        members.add("node_id", node.rawValue)
        // As the board has reported them, so that nothing is lost to whoever reads and writes them.
        members.add(member, entries.map(\.document))
        text =
            entries.isEmpty
            ? "There are no \(member)."
            : entries.map { entry in
                let state = entry.isEnabled.map { $0 ? "  on " : "  off" } ?? ""
                let times = entry.triggers.map(\.words).joined(separator: "; ")
                let when = times.isEmpty ? "" : "  \(times)"
                let values = ([ParameterChange](entry.action) ?? []).map { "\($0.path)=\($0.value.shown)" }
                return "\(entry.id)\(state)  \(entry.name)\(when)  \(values.joined(separator: " "))".onOneLine
            }.joined(separator: "\n")
    }
}

/// What was done to a schedule or a scene.
struct EntryResult: CommandResult {
    let nodeID: String
    let id: String
    let operation: String
    /// `reported` by the board, or `sent` by the cloud.
    let state: String
    private let noun: String
    private let changesTime: Bool

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case id, operation, state
    }

    init(
        node: NodeID, noun: String, id: String, operation: ServiceOperation, isReported: Bool, changesTime: Bool = false
    ) {
        nodeID = node.rawValue
        self.id = id
        self.operation = operation.rawValue
        self.noun = noun
        self.changesTime = changesTime
        state = isReported ? "reported" : "sent"
    }

    var text: String {
        var end = state == "reported" ? "the board has it" : "sent by the cloud; the board has not answered yet"
        // The cloud knows the old time until then, and the next edit would begin with that.
        if state == "sent", operation == ServiceOperation.edit.rawValue, changesTime {
            end +=
                ". Until it has, an edit of a part of the time keeps the rest of the old one: "
                + "give --wait, or the whole time"
        }
        return "\(noun) \(id): \(operation), \(end)".onOneLine
    }
}

/// What a board's clock shows now, by the time zone that is set at it.
struct BoardClock {
    /// For the program that is asked.
    let environment: [String: String]

    /// Nil where the board has no parameter for a zone, or one with a zone that this machine does not know.
    func reading(of node: Node, within limit: Duration) async -> ClockReading? {
        guard let zone = node.timeZone else { return nil }
        if zone.name.isEmpty {
            // Firmware takes the time for UTC then, unless it has the zone in POSIX's form, which is not read here.
            return zone.isElsewhere ? nil : ClockReading(hoursEast: 0)
        }
        return await reading(in: zone.name, within: limit)
    }

    /// By date(1): a zone of another place cannot be asked for in this process, whose threads share one.
    func reading(in zone: String, within limit: Duration) async -> ClockReading? {
        let isName =
            zone.utf8.count <= 64 && zone.first != "/" && !zone.contains("..")
            && zone.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        // date takes a name that it does not know for UTC.
        guard isName, access("/usr/share/zoneinfo/\(zone)", R_OK) == 0 else { return nil }
        let program = ChildProgram(environment: environment.merging(["TZ": ":\(zone)", "LC_ALL": "C"]) { $1 })
        guard let outcome = try? await program.run(["date", "+%Y-%m-%d %H:%M"], within: limit), outcome.isSuccess else {
            return nil
        }
        return ClockReading(String(outcome.output.prefix { !$0.isNewline }))
    }
}

extension Node {
    /// The zone that is set at the board's time service: its name, the path of the parameter, and whether another parameter has a zone; nil
    /// where there is no such parameter.
    var timeZone: (name: String, path: ParameterPath, isElsewhere: Bool)? {
        let services = NodeConfiguration(configuration)?.components.filter { $0.type == "esp.service.time" } ?? []
        guard let service = services.first,
            let zone = service.parameters.first(where: { $0.type == "esp.param.tz" })
        else { return nil }
        let values = parameters?[service.name]
        let posix = service.parameters.first { $0.type == "esp.param.tz_posix" }
        return (
            values?[zone.name]?.string ?? "", ParameterPath(component: service.name, parameter: zone.name),
            posix.flatMap { values?[$0.name]?.string }?.isEmpty == false
        )
    }
}

extension ServiceEntry {
    /// All of them: the apps make schedules with several.
    var triggers: [ScheduleTrigger] { (document["triggers"]?.array ?? []).map { ScheduleTrigger($0) } }
}
