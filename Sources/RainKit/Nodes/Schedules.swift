// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// The outcome of a change of a schedule or scene.
public struct EntryOutcome: Sendable {
    /// The node that keeps the entry.
    public var node: NodeID
    /// The entry's id at its node.
    public var id: String
    /// The entry's name, as it is after the change; nil if it has none.
    public var name: String?
    /// What was done.
    public var operation: ServiceOperation
    /// Whether the node has reported the change; nil if nobody waited. A node that does not may be offline, or its list may be full.
    public var isReported: Bool?
    /// What is known of a node that has not reported the change, to be read behind its name: "is offline".
    public var seen: String?
    /// Why it is not known whether the node has reported the change: the cloud did not say. The cloud has sent it.
    public var unknown: AccountError?
    /// Whether the time of a schedule was changed. Until the node reports it, another edit of a part of the time begins with the old one.
    public var changesTime = false
    /// The parameter for the time zone of a node that has none yet, and so takes the time of day for UTC. Nil if the time does not depend on it.
    public var missingTimeZone: ParameterPath?

    public init(
        node: NodeID, id: String, name: String? = nil, operation: ServiceOperation, isReported: Bool? = nil,
        seen: String? = nil,
        unknown: AccountError? = nil, changesTime: Bool = false, missingTimeZone: ParameterPath? = nil
    ) {
        self.node = node
        self.id = id
        self.name = name
        self.operation = operation
        self.isReported = isReported
        self.seen = seen
        self.unknown = unknown
        self.changesTime = changesTime
        self.missingTimeZone = missingTimeZone
    }
}

/// Schedules, which nodes keep themselves: they act without the internet.
extension RainKitClient {
    /// Adds a schedule to a node.
    ///
    /// ```swift
    /// let on = ParameterChange(ParameterPath(component: "Light", parameter: "Power"), true)
    /// let evening = try ScheduleTime(at: "19:30", days: "mon-fri")
    /// try await kit.addSchedule("Evening", values: [on], time: evening, at: lamp, waiting: .seconds(10))
    /// ```
    ///
    /// Everything is checked by what the node has reported of itself, before anything is sent.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 bytes.
    ///   - values: what the node sets then.
    ///   - limit: how long to wait for the node to report the schedule; nil to return as soon as the cloud has sent it.
    /// - Throws: `RainKitError`: `no_service` for firmware without schedules; `list_full`; `usage` for a time that would never come; the codes
    ///   of `ParameterError`; the cloud's refusals.
    @discardableResult
    public func addSchedule(
        _ name: String, values: [ParameterChange], time: ScheduleTime, at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await add(name, values, time, to: .schedules, at: node, limit)
    }

    /// Changes a schedule. Values that are nil stay as the node has last reported them, and so do the missing parts of a time.
    ///
    /// - Parameter schedule: its id, or its name.
    /// - Throws: `RainKitError`, as ``addSchedule(_:values:time:at:waiting:)`` does; `no_such_entry`; `several_entries` for a name that several
    ///   schedules have; `several_triggers` for a new time of a schedule with several times, of which only one would stay.
    @discardableResult
    public func editSchedule(
        _ schedule: String, name: String? = nil, values: [ParameterChange]? = nil, time: ScheduleTime? = nil,
        at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await edit(schedule, name, values, time, in: .schedules, at: node, limit)
    }

    /// Removes a schedule from its node.
    ///
    /// - Parameter schedule: its id, or its name.
    /// - Throws: `RainKitError`: `no_service`, `no_such_entry`, `several_entries`; the cloud's refusals.
    @discardableResult
    public func removeSchedule(
        _ schedule: String, at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await change(.remove, schedule, in: .schedules, at: node, limit)
    }

    /// Lets a schedule act again.
    ///
    /// - Throws: `RainKitError`, as ``removeSchedule(_:at:waiting:)`` does; `usage` for a schedule whose date is over: it would never act.
    @discardableResult
    public func enableSchedule(
        _ schedule: String, at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await change(.enable, schedule, in: .schedules, at: node, limit)
    }

    /// Keeps a schedule from acting.
    ///
    /// - Throws: `RainKitError`, as ``removeSchedule(_:at:waiting:)`` does.
    @discardableResult
    public func disableSchedule(
        _ schedule: String, at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await change(.disable, schedule, in: .schedules, at: node, limit)
    }
}

/// Scenes: values that a node keeps under a name, and sets on request.
extension RainKitClient {
    /// Adds a scene to a node.
    ///
    /// - Parameters:
    ///   - name: 1 to 32 bytes.
    ///   - limit: how long to wait for the node to report the scene; nil to return as soon as the cloud has sent it.
    /// - Throws: `RainKitError`: `no_service` for firmware without scenes; `list_full`; the codes of `ParameterError`; the cloud's refusals.
    @discardableResult
    public func addScene(
        _ name: String, values: [ParameterChange], at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await add(name, values, nil, to: .scenes, at: node, limit)
    }

    /// Changes a scene. Values that are nil stay as they are.
    ///
    /// - Parameter scene: its id, or its name.
    /// - Throws: `RainKitError`, as ``addScene(_:values:at:waiting:)`` does; `no_such_entry`; `several_entries` for a name that several scenes have.
    @discardableResult
    public func editScene(
        _ scene: String, name: String? = nil, values: [ParameterChange]? = nil, at node: Node,
        waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await edit(scene, name, values, nil, in: .scenes, at: node, limit)
    }

    /// Removes a scene from its node.
    ///
    /// - Throws: `RainKitError`: `no_service`, `no_such_entry`, `several_entries`; the cloud's refusals.
    @discardableResult
    public func removeScene(
        _ scene: String, at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await change(.remove, scene, in: .scenes, at: node, limit)
    }

    /// Has a node set the values of a scene. The node reports the values, and nothing of the scene.
    ///
    /// - Throws: `RainKitError`, as ``removeScene(_:at:waiting:)`` does.
    @discardableResult
    public func activateScene(_ scene: String, at node: Node) async throws -> EntryOutcome {
        try await change(.activate, scene, in: .scenes, at: node, nil)
    }
}

extension ListService {
    fileprivate var noun: String { self == .schedules ? "schedule" : "scene" }
}

extension Node {
    /// Returns the schedules that the node has last reported.
    ///
    /// - Throws: `RainKitError`: `no_service` for firmware without schedules; `no_configuration` for a node that has not reported anything.
    public func schedules() throws -> [ServiceEntry] { try list(of: .schedules) }

    /// Returns the scenes that the node has last reported.
    ///
    /// - Throws: `RainKitError`: `no_service` for firmware without scenes; `no_configuration` for a node that has not reported anything.
    public func scenes() throws -> [ServiceEntry] { try list(of: .scenes) }

    private func list(of service: ListService) throws(RainKitError) -> [ServiceEntry] {
        _ = try place(of: service)
        return entries(of: service) ?? []
    }

    fileprivate func place(of service: ListService) throws(RainKitError) -> (path: ParameterPath, maximum: Int?) {
        if let list = try described().list(of: service) { return list }
        throw RainKitError(
            .request(.badData, reason: "no_service"),
            message:
                "\(shownName) has no \(service.noun)s: its firmware does not have the service \(service.type).")
    }

    /// The entry with this id or name.
    fileprivate func entry(_ name: String, in service: ListService) throws(RainKitError) -> ServiceEntry {
        let all = entries(of: service) ?? []
        if let exact = all.first(where: { $0.id == name }) { return exact }
        let found = all.filter { $0.name.lowercased() == name.lowercased() }
        if found.count == 1 { return found[0] }
        let list = (found.isEmpty ? all : found).prefix(20).map { "\($0.id) (\($0.name))".onOneLine }
            .joined(separator: ", ")
        if found.isEmpty {
            throw RainKitError(
                .request(.badData, reason: "no_such_entry"),
                message:
                    "\(shownName) has no \(service.noun) \(name.onOneLine): it has \(list.isEmpty ? "no \(service.noun)s" : list)."
            )
        }
        throw RainKitError(
            .request(.usage, reason: "several_entries"),
            message: "Several \(service.noun)s are called \(name.onOneLine): use an id, \(list).")
    }

    fileprivate func checked(
        _ name: String?, _ values: [ParameterChange]?, _ trigger: ScheduleTrigger?, _ service: ListService
    ) throws(RainKitError) -> ServiceEntryChange {
        let configuration = try described()
        do throws(ParameterError) {
            let action = try values.map { values throws(ParameterError) in try configuration.checked(values).json }
            let change = ServiceEntryChange(name: name, trigger: trigger, action: action)
            try change.check(by: configuration, service)
            return change
        } catch {
            throw RainKitError(error, at: shownName)
        }
    }

    /// The parameter for the time zone, if the trigger depends on it and the node has no time zone.
    fileprivate func missingTimeZone(for trigger: ScheduleTrigger?) -> ParameterPath? {
        switch trigger {
        case .weekly?, .date?: timeZone.flatMap { $0.name.isEmpty ? $0.path : nil }
        case .after?, .other?, nil: nil
        }
    }
}

extension RainKitClient {
    private func add(
        _ name: String, _ values: [ParameterChange], _ time: ScheduleTime?, to service: ListService, at node: Node,
        _ limit: Duration?
    ) async throws(RainKitError) -> EntryOutcome {
        let place = try node.place(of: service)
        let known = node.entries(of: service) ?? []
        if let maximum = place.maximum, known.count >= maximum {
            throw RainKitError(
                .request(.badData, reason: "list_full"),
                message:
                    "\(node.shownName) already has \(maximum) \(service.noun)s, and stores no more: remove one first.")
        }
        var id = ""
        // Four hexadecimal digits, as the apps and the official client make them.
        repeat {
            id = Hex.text(configuration.tools.randomBytes(2)).uppercased()
        } while known.contains { $0.id == id }
        let trigger = try trigger(time, of: nil, at: node)
        let change = try node.checked(name, values, trigger, service)
        return try await send(.add, id, named: name, change, in: service, at: node, limit)
    }

    private func edit(
        _ wanted: String, _ name: String?, _ values: [ParameterChange]?, _ time: ScheduleTime?,
        in service: ListService, at node: Node, _ limit: Duration?
    ) async throws(RainKitError) -> EntryOutcome {
        _ = try node.place(of: service)
        let entry = try node.entry(wanted, in: service)
        let trigger = try trigger(time, of: entry, at: node)
        var change = try node.checked(name, values, trigger, service)
        change.replacedTrigger = entry.document["triggers"]?.array?.first
        return try await send(.edit, entry.id, named: name ?? entry.name, change, in: service, at: node, limit)
    }

    private func change(
        _ operation: ServiceOperation, _ wanted: String, in service: ListService, at node: Node, _ limit: Duration?
    ) async throws(RainKitError) -> EntryOutcome {
        _ = try node.place(of: service)
        let entry = try node.entry(wanted, in: service)
        // The node would switch it on although it would never act.
        if operation == .enable, entry.isOver(by: BoardClock(configuration.tools.clock), at: node) {
            let times = entry.triggers.map(\.description).joined(separator: ", ").onOneLine
            throw .usage(
                "\(entry.name.onOneLine) (\(times)) would never act: that time has passed.", remedies: [.laterSchedule])
        }
        return try await send(
            operation, entry.id, named: entry.name, ServiceEntryChange(), in: service, at: node, limit)
    }

    /// Makes the trigger for this node. The missing parts of the time are taken from `entry`.
    private func trigger(
        _ time: ScheduleTime?, of entry: ServiceEntry?, at node: Node
    ) throws(RainKitError) -> ScheduleTrigger? {
        guard let time else { return nil }
        if let entry, entry.triggers.count > 1 {
            let times = entry.triggers.map(\.description).joined(separator: ", ").onOneLine
            throw RainKitError(
                .request(.badData, reason: "several_triggers"),
                message: """
                    \(entry.name.onOneLine) acts at several times (\(times)), but a change would keep only one of them. Remove \
                    \(entry.name.onOneLine), and add a schedule for each time.
                    """)
        }
        let clock = BoardClock(configuration.tools.clock)
        let trigger = try time.trigger(after: entry?.trigger, at: clock.earliest)
        // Only within about a day of now the node's time zone makes a difference.
        guard trigger.isOver(at: clock.latest), let now = clock.reading(of: node) else { return trigger }
        return try time.trigger(after: entry?.trigger, at: now)
    }

    /// Sends a change, and waits for the node's report of it.
    private func send(
        _ operation: ServiceOperation, _ id: String, named name: String, _ change: ServiceEntryChange,
        in service: ListService, at node: Node, _ limit: Duration?
    ) async throws(RainKitError) -> EntryOutcome {
        let path = try node.place(of: service).path
        let outcomes = try await setter(waiting: limit).set([(node, [change.change(operation, id, at: path)])]) {
            known in
            let entry = known.entries(of: service)?.first { $0.id == id }
            return entry.shows(operation, change)
        }
        return EntryOutcome(
            node: node.id, id: id, name: name.isEmpty ? nil : name, operation: operation,
            isReported: outcomes.first?.isReported,
            seen: outcomes.first?.seen, unknown: outcomes.first?.unknown, changesTime: change.trigger != nil,
            missingTimeZone: node.missingTimeZone(for: change.trigger))
    }
}

extension ServiceEntry {
    /// All times of a schedule. RainKit makes schedules with one, the apps with several.
    public var triggers: [ScheduleTrigger] { (document["triggers"]?.array ?? []).map { ScheduleTrigger($0) } }

    /// Whether none of its times comes any more.
    fileprivate func isOver(by clock: BoardClock, at node: Node) -> Bool {
        let triggers = triggers
        guard !triggers.isEmpty, triggers.allSatisfy({ $0.isOver(at: clock.latest) }) else { return false }
        if triggers.allSatisfy({ $0.isOver(at: clock.earliest) }) { return true }
        guard let now = clock.reading(of: node) else { return false }
        return triggers.allSatisfy { $0.isOver(at: now) }
    }
}

extension ServiceEntry? {
    /// Whether what the node reports shows that the change was made.
    fileprivate func shows(_ operation: ServiceOperation, _ change: ServiceEntryChange) -> Bool {
        switch operation {
        case .remove: return self == nil
        case .enable: return self?.isEnabled == true
        case .disable: return self?.isEnabled == false
        // An activated scene shows in the values that it sets.
        case .activate: return self != nil
        case .add, .edit:
            guard let entry = self else { return false }
            return change.name.map { $0 == entry.name } ?? true
                && change.trigger.map { $0 == entry.trigger } ?? true
                && change.action.map { entry.action.isReport(of: $0) } ?? true
        }
    }
}
