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
    /// Why the cloud did not send the change to the node; nil if it did. A call for one node throws this as an error.
    public var failure: String?
    /// The cloud's number for the failure.
    public var serverCode: Int?
    /// Whether it is not even known if the cloud has sent the change.
    public var isSendingUnknown = false
    /// Whether nothing was sent to the node, because it has what is wanted.
    public var isUnchanged = false

    public init(
        node: NodeID, id: String, name: String? = nil, operation: ServiceOperation, isReported: Bool? = nil,
        seen: String? = nil,
        unknown: AccountError? = nil, changesTime: Bool = false, missingTimeZone: ParameterPath? = nil,
        failure: String? = nil, serverCode: Int? = nil, isSendingUnknown: Bool = false, isUnchanged: Bool = false
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
        self.failure = failure
        self.serverCode = serverCode
        self.isSendingUnknown = isSendingUnknown
        self.isUnchanged = isUnchanged
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
    /// - Throws: `RainKitError`, as `removeSchedule` does; `usage` for a schedule whose date is over: it would never act.
    @discardableResult
    public func enableSchedule(
        _ schedule: String, at node: Node, waiting limit: Duration? = nil
    ) async throws -> EntryOutcome {
        try await change(.enable, schedule, in: .schedules, at: node, limit)
    }

    /// Keeps a schedule from acting.
    ///
    /// - Throws: `RainKitError`, as `removeSchedule` does.
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
    /// - Throws: `RainKitError`, as `removeScene` does.
    @discardableResult
    public func activateScene(_ scene: String, at node: Node) async throws -> EntryOutcome {
        try await change(.activate, scene, in: .scenes, at: node, nil)
    }
}

/// The parts of a schedule or a scene, with the time and the remarks that clients of the cloud's API write. Nil keeps a part.
package struct EntryChange: Sendable {
    package var name: String?
    package var values: [ParameterChange]?
    package var trigger: ScheduleTrigger?
    package var info: String?
    package var flags: UInt32?

    package init(name: String? = nil, info: String? = nil) { (self.name, self.info) = (name, info) }
}

extension RainKitClient {
    /// Returns an id that no entry of these nodes has, so that each can have the new entry under the same id.
    package func newEntryID(in service: ListService, of nodes: [Node]) -> String {
        let known = Set(nodes.flatMap { ($0.entries(of: service) ?? []).map(\.id) })
        return freeID(besides: known)
    }

    /// Changes a schedule or a scene, and does not wait for the node.
    ///
    /// - Parameters:
    ///   - entry: its id or name; the id of a new one.
    ///   - change: the parts of an entry that is added or edited.
    /// - Throws: `RainKitError`, as the calls for single operations do; `usage` for an id that another entry has.
    package func changeEntry(
        _ operation: ServiceOperation, _ entry: String, _ change: EntryChange, in service: ListService, at node: Node
    ) async throws -> EntryOutcome {
        switch operation {
        case .add: try await add(entry, change, to: service, at: node)
        case .edit: try await edit(entry, change, in: service, at: node)
        case .remove, .enable, .disable, .activate: try await self.change(operation, entry, in: service, at: node, nil)
        }
    }

    private func add(
        _ id: String, _ wanted: EntryChange, to service: ListService, at node: Node
    ) async throws(RainKitError) -> EntryOutcome {
        try node.checkRoom(for: service)
        guard node.entries(of: service)?.contains(where: { $0.id == id }) != true else {
            throw .usage("\(node.shownName) already has a \(service.noun) with the id \(id.onOneLine).")
        }
        guard (1...ListService.maximumID).contains(id.utf8.count) else {
            throw .usage("An id has 1 to \(ListService.maximumID) bytes.")
        }
        let change = try node.checked(wanted, service, try trigger(wanted.trigger, of: nil, at: node))
        return try await send(.add, id, named: wanted.name ?? "", change, in: service, at: node, nil)
    }

    private func edit(
        _ name: String, _ wanted: EntryChange, in service: ListService, at node: Node
    ) async throws(RainKitError) -> EntryOutcome {
        _ = try node.place(of: service)
        let entry = try node.entry(name, in: service)
        var change = try node.checked(wanted, service, try trigger(wanted.trigger, of: entry, at: node))
        change.replacedTrigger = entry.document["triggers"]?.array?.first
        return try await send(.edit, entry.id, named: wanted.name ?? entry.name, change, in: service, at: node, nil)
    }

    /// Checks a trigger for this node.
    private func trigger(
        _ trigger: ScheduleTrigger?, of entry: ServiceEntry?, at node: Node
    ) throws(RainKitError) -> ScheduleTrigger? {
        guard let trigger else { return nil }
        try trigger.check()
        try entry?.checkSingleTime()
        let clock = BoardClock(configuration.tools.clock)
        // Only within about a day of now the node's time zone makes a difference.
        let isOver =
            trigger.isOver(at: clock.earliest)
            || trigger.isOver(at: clock.latest) && clock.reading(of: node).map { trigger.isOver(at: $0) } == true
        guard !isOver else { throw .usage("A schedule \(trigger) would never act: that time has passed.") }
        return trigger
    }
}

extension ServiceEntry {
    /// Throws `several_triggers` for a schedule with several times.
    fileprivate func checkSingleTime() throws(RainKitError) {
        guard triggers.count > 1 else { return }
        let times = triggers.map(\.description).joined(separator: ", ").onOneLine
        throw RainKitError(
            .request(.badData, reason: "several_triggers"),
            message: """
                \(name.onOneLine) acts at several times (\(times)), but a change would keep only one of them. Remove \
                \(name.onOneLine), and add a schedule for each time.
                """)
    }
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

    func place(of service: ListService) throws(RainKitError) -> (path: ParameterPath, maximum: Int?) {
        if let list = try described().list(of: service) { return list }
        throw RainKitError(
            .request(.badData, reason: "no_service"),
            message:
                "\(shownName) has no \(service.noun)s: its firmware does not have the service \(service.type).")
    }

    /// Throws `list_full` if the node stores no more entries.
    func checkRoom(for service: ListService) throws(RainKitError) {
        guard let maximum = try place(of: service).maximum, entries(of: service)?.count ?? 0 >= maximum else { return }
        throw RainKitError(
            .request(.badData, reason: "list_full"),
            message: "\(shownName) already has \(maximum) \(service.noun)s, and has no room for more. Remove one first."
        )
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
        _ wanted: EntryChange, _ service: ListService, _ trigger: ScheduleTrigger?
    ) throws(RainKitError) -> ServiceEntryChange {
        try checked(wanted.name, wanted.values, trigger, service, info: wanted.info, flags: wanted.flags)
    }

    func checked(
        _ name: String?, _ values: [ParameterChange]?, _ trigger: ScheduleTrigger?, _ service: ListService,
        info: String? = nil, flags: UInt32? = nil
    ) throws(RainKitError) -> ServiceEntryChange {
        let configuration = try described()
        do throws(ParameterError) {
            let action = try values.map { values throws(ParameterError) in try configuration.checked(values).json }
            let change = ServiceEntryChange(name: name, trigger: trigger, action: action, info: info, flags: flags)
            try change.check(by: configuration, service)
            return change
        } catch {
            throw RainKitError(error, at: shownName)
        }
    }

    /// The parameter for the time zone, if the trigger depends on it and the node has no time zone.
    func missingTimeZone(for trigger: ScheduleTrigger?) -> ParameterPath? {
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
        try node.checkRoom(for: service)
        let id = newEntryID(in: service, of: [node])
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
        if operation == .enable { try checkIsToCome(entry, at: node) }
        return try await send(
            operation, entry.id, named: entry.name, ServiceEntryChange(), in: service, at: node, limit)
    }

    /// Returns an id of four hexadecimal digits, as the apps and the official client make them.
    private func freeID(besides known: Set<String>) -> String {
        var number = configuration.tools.randomBytes(2)
        while known.contains(Hex.text(number).uppercased()) {
            // The next number: it is free sooner or later, because nodes store few entries.
            number[1] &+= 1
            if number[1] == 0 { number[0] &+= 1 }
        }
        return Hex.text(number).uppercased()
    }

    /// Throws if a schedule's date is over. The node would enable it although it would never act.
    func checkIsToCome(_ entry: ServiceEntry, at node: Node) throws(RainKitError) {
        guard entry.isOver(by: BoardClock(configuration.tools.clock), at: node) else { return }
        let times = entry.triggers.map(\.description).joined(separator: ", ").onOneLine
        throw .usage(
            "\(entry.name.onOneLine) (\(times)) would never act: that time has passed.", remedies: [.laterSchedule])
    }

    /// Makes the trigger for this node. The missing parts of the time are taken from `entry`.
    func trigger(
        _ time: ScheduleTime?, of entry: ServiceEntry?, at node: Node
    ) throws(RainKitError) -> ScheduleTrigger? {
        guard let time else { return nil }
        try entry?.checkSingleTime()
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
    func shows(_ operation: ServiceOperation, _ change: ServiceEntryChange) -> Bool {
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
