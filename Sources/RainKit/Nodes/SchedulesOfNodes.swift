// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// A change of a schedule or a scene on several nodes. Everything that is nil or empty stays as it is.
public struct EntryGroupChange: Sendable {
    /// The new name.
    public var name: String?
    /// The new time of a schedule. Its missing parts are those of the copy that most nodes have.
    public var time: ScheduleTime?
    /// The new values to set, for each node that gets others.
    public var values: [NodeID: [ParameterChange]]
    /// Nodes that get a copy. Without values of their own, they get those of the other nodes if these agree.
    public var added: [Node]
    /// Nodes that lose their copy.
    public var removed: [Node]
    /// The node whose copy is the model where the copies differ; nil for the copy that most nodes have.
    public var model: NodeID?

    public init(
        name: String? = nil, time: ScheduleTime? = nil, values: [NodeID: [ParameterChange]] = [:], added: [Node] = [],
        removed: [Node] = [], model: NodeID? = nil
    ) {
        self.name = name
        self.time = time
        self.values = values
        self.added = added
        self.removed = removed
        self.model = model
    }
}

/// Schedules that several nodes keep under one id.
///
/// The functions check everything for all nodes before anything is sent, and send it in calls of 25 nodes. Each returns an outcome for each
/// node. A node that failed does not keep the others from the change. An error is thrown if nothing was sent. A refusal of the cloud is
/// thrown if there is only one node to send to, or if it concerns all of them.
extension RainKitClient {
    /// Adds a schedule to several nodes, under one id that none of them has yet.
    ///
    /// ```swift
    /// let off = try lamp.change("Light.Power", to: false)
    /// let slow = try fan.change("Fan.Speed", to: 1)
    /// let night = try ScheduleTime(at: "23:00", days: "daily")
    /// try await kit.addSchedule("Night", values: [(lamp, [off]), (fan, [slow])], time: night)
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 32 bytes.
    ///   - values: the nodes, each once, and what each sets then.
    ///   - limit: how long to wait for all nodes together to report the schedule; nil to return as soon as the cloud has sent it.
    /// - Throws: `RainKitError`: `no_service`, `list_full`; `usage` for a node that is given twice, and for a time that would never come; the
    ///   codes of `ParameterError`; the cloud's refusals.
    @discardableResult
    public func addSchedule(
        _ name: String, values: [(node: Node, changes: [ParameterChange])], time: ScheduleTime,
        waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await add(name, values, time, to: .schedules, limit)
    }

    /// Changes a schedule on several nodes.
    ///
    /// - Parameters:
    ///   - schedule: its id, or its name.
    ///   - nodes: nodes that have a copy.
    /// - Throws: `RainKitError`, as ``addSchedule(_:values:time:waiting:)`` does. `no_such_entry` if a node has no copy; `several_entries` for
    ///   a name that schedules with different ids have; `several_triggers`. `id_taken` if a node has another schedule under the id.
    ///   `out_of_sync` if the copies differ so that none can be the model.
    @discardableResult
    public func editSchedule(
        _ schedule: String, _ change: EntryGroupChange, at nodes: [Node], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await edit(schedule, change, in: .schedules, at: nodes, limit)
    }

    /// Makes all copies of a schedule like one of them: sends it to the nodes that have no copy, or a copy that differs. The values to set are
    /// each node's own, and stay.
    ///
    /// - Parameters:
    ///   - schedule: its id, or its name.
    ///   - nodes: all nodes that are to have a copy.
    ///   - model: the node whose copy is right; nil for the copy that most nodes have.
    /// - Throws: `RainKitError`, as ``editSchedule(_:_:at:waiting:)`` does; `usage` if a node without a copy would get a delay, or if the
    ///   other nodes set different values.
    @discardableResult
    public func repairSchedule(
        _ schedule: String, at nodes: [Node], like model: NodeID? = nil, waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await repair(schedule, like: model, in: .schedules, at: nodes, limit)
    }

    /// Removes a schedule from several nodes. Nodes without a copy are left alone.
    ///
    /// - Throws: `RainKitError`: `no_service`; `no_such_entry` if no node has it; `several_entries`; `id_taken`; the cloud's refusals.
    @discardableResult
    public func removeSchedule(
        _ schedule: String, at nodes: [Node], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await change(.remove, schedule, in: .schedules, at: nodes, limit)
    }

    /// Lets a schedule act again on several nodes.
    ///
    /// - Throws: `RainKitError`: `no_service`; `no_such_entry` if a node has no copy; `several_entries`; `id_taken`; `usage` for a schedule
    ///   whose date is over; the cloud's refusals.
    @discardableResult
    public func enableSchedule(
        _ schedule: String, at nodes: [Node], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await change(.enable, schedule, in: .schedules, at: nodes, limit)
    }

    /// Keeps a schedule from acting on several nodes.
    ///
    /// - Throws: `RainKitError`: `no_service`; `no_such_entry` if a node has no copy; `several_entries`; `id_taken`; the cloud's refusals.
    @discardableResult
    public func disableSchedule(
        _ schedule: String, at nodes: [Node], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await change(.disable, schedule, in: .schedules, at: nodes, limit)
    }
}

/// Scenes that several nodes keep under one id.
extension RainKitClient {
    /// Adds a scene to several nodes, as ``addSchedule(_:values:time:waiting:)`` adds a schedule.
    @discardableResult
    public func addScene(
        _ name: String, values: [(node: Node, changes: [ParameterChange])], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await add(name, values, nil, to: .scenes, limit)
    }

    /// Changes a scene on several nodes, as ``editSchedule(_:_:at:waiting:)`` changes a schedule. The time of the change is not used.
    @discardableResult
    public func editScene(
        _ scene: String, _ change: EntryGroupChange, at nodes: [Node], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        var change = change
        change.time = nil
        return try await edit(scene, change, in: .scenes, at: nodes, limit)
    }

    /// Makes all copies of a scene like one of them, as ``repairSchedule(_:at:like:waiting:)`` does for schedules.
    @discardableResult
    public func repairScene(
        _ scene: String, at nodes: [Node], like model: NodeID? = nil, waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await repair(scene, like: model, in: .scenes, at: nodes, limit)
    }

    /// Removes a scene from several nodes. Nodes without a copy are left alone.
    ///
    /// - Throws: `RainKitError`: `no_service`; `no_such_entry` if no node has it; `several_entries`; `id_taken`; the cloud's refusals.
    @discardableResult
    public func removeScene(
        _ scene: String, at nodes: [Node], waiting limit: Duration? = nil
    ) async throws -> [EntryOutcome] {
        try await change(.remove, scene, in: .scenes, at: nodes, limit)
    }

    /// Has several nodes set their values of a scene. The nodes report the values, and nothing of the scene.
    ///
    /// - Throws: `RainKitError`: `no_service`; `no_such_entry` if a node has no copy; `several_entries`; `id_taken`; the cloud's refusals.
    @discardableResult
    public func activateScene(_ scene: String, at nodes: [Node]) async throws -> [EntryOutcome] {
        try await change(.activate, scene, in: .scenes, at: nodes, nil)
    }
}

// MARK: What is sent to which node

/// What one node is sent for an entry.
private struct EntryStep: Sendable {
    var node: Node
    var operation: ServiceOperation
    /// The elements of the list that the node is sent. It takes them in this order. Empty if the node has what is wanted.
    var elements: [JSONValue]
    var name: String
    var changesTime = false
    var missingTimeZone: ParameterPath?
    /// Whether the node's report shows that it has taken the elements.
    var isDone: @Sendable (ServiceEntry?) -> Bool

    /// The node has what is wanted.
    static func unchanged(_ node: Node, _ operation: ServiceOperation, _ name: String) -> EntryStep {
        EntryStep(node: node, operation: operation, elements: [], name: name) { _ in true }
    }

    /// One operation, with the members of a change.
    init(
        _ operation: ServiceOperation, _ id: String, named name: String, _ change: ServiceEntryChange, at node: Node,
        _ path: ParameterPath
    ) {
        self.init(
            node: node, operation: operation, elements: change.change(operation, id, at: path).value.array ?? [],
            name: name, changesTime: change.trigger != nil,
            missingTimeZone: node.missingTimeZone(for: change.trigger),
            isDone: { $0.shows(operation, change) })
    }

    init(
        node: Node, operation: ServiceOperation, elements: [JSONValue], name: String, changesTime: Bool = false,
        missingTimeZone: ParameterPath? = nil, isDone: @escaping @Sendable (ServiceEntry?) -> Bool
    ) {
        self.node = node
        self.operation = operation
        self.elements = elements
        self.name = name
        self.changesTime = changesTime
        self.missingTimeZone = missingTimeZone
        self.isDone = isDone
    }
}

extension EntryStep {
    /// Adds a copy of an entry to a node that has none. Firmware enables every new schedule, so a second element disables it.
    ///
    /// - Parameters:
    ///   - change: members that replace those of the model.
    ///   - action: what the node sets.
    static func copy(
        of model: ServiceEntry, _ change: ServiceEntryChange, action: JSONValue, to node: Node,
        _ service: ListService
    ) throws(RainKitError) -> EntryStep {
        try node.checkRoom(for: service)
        guard model.id.utf8.count <= ListService.maximumID else {
            throw RainKitError(
                .request(.badData, reason: "not_allowed"),
                message:
                    "The id \(model.id.onOneLine) has \(model.id.utf8.count) bytes; a board stores at most \(ListService.maximumID)."
            )
        }
        var wanted = model
        if let name = change.name { wanted.replace("name", .string(name)) }
        if let trigger = change.trigger { wanted.replace("triggers", [trigger.json]) }
        wanted.replace("action", action)
        try node.checkText(of: wanted, service)
        var elements = [
            wanted.element(.add, EntryGroup.Member.allCases, named: wanted.name, try wanted.copiedTriggers())
        ]
        let isDisabled = wanted.isEnabled == false && service == .schedules
        if isDisabled { elements.append(wanted.element(.disable, [], named: nil, nil)) }
        let zone = wanted.triggers.lazy.compactMap { node.missingTimeZone(for: $0) }.first
        return EntryStep(
            node: node, operation: .add, elements: elements, name: wanted.name, missingTimeZone: zone,
            isDone: { [wanted] in $0.map { $0.isLike(wanted) && $0.action.isReport(of: action) } ?? false })
    }

    /// Gives a node's copy the members of the model in which it differs.
    static func alignment(of copy: ServiceEntry, with model: ServiceEntry, at node: Node) throws(RainKitError)
        -> EntryStep
    {
        let differing = EntryGroup.Member.allCases.filter { !copy.agrees(with: model, in: $0) }
        let edited = differing.filter { $0 != .enabled }
        var elements: [JSONValue] = []
        if !edited.isEmpty {
            let triggers = edited.contains(.triggers) ? try model.copiedTriggers() : nil
            elements.append(
                model.element(.edit, edited, named: edited.contains(.name) ? model.name : nil, triggers))
        }
        var operation = ServiceOperation.edit
        if differing.contains(.enabled), let isEnabled = model.isEnabled {
            let switching: ServiceOperation = isEnabled ? .enable : .disable
            if edited.isEmpty { operation = switching }
            elements.append(model.element(switching, [], named: nil, nil))
        }
        let zone =
            edited.contains(.triggers) ? model.triggers.lazy.compactMap { node.missingTimeZone(for: $0) }.first : nil
        return EntryStep(
            node: node, operation: operation, elements: elements, name: model.name,
            changesTime: edited.contains(.triggers), missingTimeZone: zone,
            isDone: { $0?.isLike(model) ?? false })
    }
}

extension ServiceEntry {
    /// Whether a report agrees with the model in everything but the values to set.
    fileprivate func isLike(_ model: ServiceEntry) -> Bool {
        EntryGroup.Member.allCases.allSatisfy { agrees(with: model, in: $0) }
    }

    /// Returns an element of a node's list that has these members of the entry. A member that is absent is sent as the firmware's default.
    fileprivate func element(
        _ operation: ServiceOperation, _ members: [EntryGroup.Member], named name: String?, _ triggers: JSONValue?
    ) -> JSONValue {
        var all: [JSONValue.Member] = [.init("id", .string(id)), .init("operation", .string(operation.rawValue))]
        if let name { all.append(.init("name", .string(name))) }
        if let triggers { all.append(.init("triggers", triggers)) }
        if operation == .add { all.append(.init("action", action)) }
        func add(_ member: EntryGroup.Member, otherwise empty: JSONValue) {
            guard members.contains(member) else { return }
            let value = document[member.rawValue]?.unlessNull
            // A new entry begins with the defaults.
            if value != nil || operation == .edit { all.append(.init(member.rawValue, value ?? empty)) }
        }
        add(.info, otherwise: "")
        add(.flags, otherwise: 0)
        add(.validity, otherwise: ["start": 0, "end": 0])
        return .object(all)
    }

    /// The times in the form that another node takes; nil for a scene.
    ///
    /// - Throws: `usage` for a delay: it would begin again at the other node.
    fileprivate func copiedTriggers() throws(RainKitError) -> JSONValue? {
        guard let triggers = document["triggers"]?.array else { return nil }
        guard !self.triggers.contains(where: { if case .after = $0 { true } else { false } }) else {
            throw .usage(
                "\(name.onOneLine) acts once after a delay. On another board, the delay would start again: add a new schedule with another name instead."
            )
        }
        return .array(triggers.map { ScheduleTrigger.withoutNextTime($0) })
    }

    fileprivate mutating func replace(_ member: String, _ value: JSONValue) {
        let others = (document.members ?? []).filter { $0.name != member }
        document = .object(others + [.init(member, value)])
        switch member {
        case "name": name = value.string ?? name
        case "action": action = value
        case "triggers": trigger = triggers.first
        default: break
        }
    }
}

extension Node {
    /// Throws for texts of a copy that this node would cut off, and for values that it does not accept.
    fileprivate func checkText(of entry: ServiceEntry, _ service: ListService) throws(RainKitError) {
        let configuration = try described()
        do throws(ParameterError) {
            let change = ServiceEntryChange(
                name: entry.name, action: entry.action, info: entry.document["info"]?.string)
            try change.check(by: configuration, service)
        } catch {
            throw RainKitError(error, at: shownName)
        }
    }
}

// MARK: The changes

extension RainKitClient {
    private func add(
        _ name: String, _ values: [(node: Node, changes: [ParameterChange])], _ time: ScheduleTime?,
        to service: ListService, _ limit: Duration?
    ) async throws(RainKitError) -> [EntryOutcome] {
        let nodes = try Self.distinct(values.map(\.node), service)
        for node in nodes { try node.checkRoom(for: service) }
        let id = newEntryID(in: service, of: nodes)
        var steps: [EntryStep] = []
        for (node, changes) in zip(nodes, values.map(\.changes)) {
            guard !changes.isEmpty else {
                throw .usage("Give the values that \(node.shownName) sets, or values for all boards.")
            }
            let trigger = try trigger(time, of: nil, at: node)
            let change = try node.checked(name, changes, trigger, service)
            steps.append(EntryStep(.add, id, named: name, change, at: node, try node.place(of: service).path))
        }
        return try await send(steps, id, in: service, limit)
    }

    private func edit(
        _ wanted: String, _ change: EntryGroupChange, in service: ListService, at given: [Node], _ limit: Duration?
    ) async throws(RainKitError) -> [EntryOutcome] {
        let nodes = try Self.distinct(given, service)
        let group = try Self.group(wanted, in: service, at: nodes, everyNode: true)
        if change.model == nil { try group.checkIsOneEntry() }
        let removed = Set(change.removed.map(\.id))
        let added = change.added.isEmpty ? [] : try Self.distinct(change.added, service)
        try Self.check(change, nodes: Set(nodes.map(\.id)), added: added, removed: removed)

        // The missing parts of a time are the same for all nodes, so that the copies agree afterwards.
        var timeModel: ServiceEntry?
        if change.time?.isPartial == true { timeModel = try group.model(like: change.model, in: [.triggers]).entry }
        var steps: [EntryStep] = []
        for node in nodes {
            guard let copy = group.copies.first(where: { $0.node == node.id })?.entry else { continue }
            if removed.contains(node.id) {
                steps.append(
                    EntryStep(
                        .remove, group.id, named: copy.name, ServiceEntryChange(), at: node,
                        try node.place(of: service).path))
                continue
            }
            let values = change.values[node.id]
            guard change.name != nil || change.time != nil || values != nil else {
                steps.append(.unchanged(node, .edit, copy.name))
                continue
            }
            let old = timeModel ?? copy
            let trigger = try trigger(change.time, of: old, at: node)
            var edit = try node.checked(change.name, values, trigger, service)
            edit.replacedTrigger = old.document["triggers"]?.array?.first
            steps.append(
                EntryStep(
                    .edit, group.id, named: change.name ?? copy.name, edit, at: node, try node.place(of: service).path))
        }
        if !added.isEmpty {
            var members = EntryGroup.Member.allCases
            if change.name != nil { members.removeAll { $0 == .name } }
            if change.time != nil { members.removeAll { $0 == .triggers } }
            let model = try group.model(like: change.model, in: members)
            for node in added {
                let trigger = try trigger(change.time, of: timeModel ?? model.entry, at: node)
                let new = ServiceEntryChange(name: change.name, trigger: trigger)
                steps.append(try Self.copy(of: model, in: group, new, change.values[node.id], to: node))
            }
        }
        return try await send(steps, group.id, in: service, limit)
    }

    private func repair(
        _ wanted: String, like model: NodeID?, in service: ListService, at given: [Node], _ limit: Duration?
    ) async throws(RainKitError) -> [EntryOutcome] {
        let nodes = try Self.distinct(given, service)
        let group = try Self.group(wanted, in: service, at: nodes, everyNode: false)
        let model = try group.model(like: model, in: EntryGroup.Member.allCases)
        var steps: [EntryStep] = []
        for node in nodes {
            guard let copy = group.copies.first(where: { $0.node == node.id })?.entry else {
                steps.append(try Self.copy(of: model, in: group, ServiceEntryChange(), nil, to: node))
                continue
            }
            steps.append(
                copy.isLike(model.entry)
                    ? .unchanged(node, .edit, copy.name)
                    : try EntryStep.alignment(of: copy, with: model.entry, at: node))
        }
        return try await send(steps, group.id, in: service, limit)
    }

    private func change(
        _ operation: ServiceOperation, _ wanted: String, in service: ListService, at given: [Node], _ limit: Duration?
    ) async throws(RainKitError) -> [EntryOutcome] {
        let nodes = try Self.distinct(given, service)
        let group = try Self.group(wanted, in: service, at: nodes, everyNode: operation != .remove)
        try group.checkIsOneEntry()
        var steps: [EntryStep] = []
        for node in nodes {
            guard let copy = group.copies.first(where: { $0.node == node.id })?.entry else {
                steps.append(.unchanged(node, operation, group.name))
                continue
            }
            if operation == .enable { try checkIsToCome(copy, at: node) }
            steps.append(
                EntryStep(
                    operation, group.id, named: copy.name, ServiceEntryChange(), at: node,
                    try node.place(of: service).path))
        }
        return try await send(steps, group.id, in: service, limit)
    }

    /// Returns the nodes. Those with the same name are shown with their ids.
    ///
    /// - Throws: `usage` for no node, or for one that is given twice; `no_service`.
    private static func distinct(_ nodes: [Node], _ service: ListService) throws(RainKitError) -> [Node] {
        guard !nodes.isEmpty else { throw .unnamedNode }
        let nodes = nodes.toldApart
        var seen: Set<NodeID> = []
        for node in nodes {
            guard seen.insert(node.id).inserted else { throw .usage("\(node.shownName) is given twice.") }
            _ = try node.place(of: service)
        }
        return nodes
    }

    /// Returns the copies of the entry with this id or name.
    ///
    /// - Parameter everyNode: whether a node without a copy is an error.
    private static func group(
        _ wanted: String, in service: ListService, at nodes: [Node], everyNode: Bool
    ) throws(RainKitError) -> EntryGroup {
        let all = EntryGroup.groups(of: service, at: nodes)
        let named = all.filter { group in
            group.copies.contains { $0.entry.name.lowercased() == wanted.lowercased() }
        }
        let found = all.first { $0.id == wanted }.map { [$0] } ?? named
        guard found.count < 2 else {
            let list = found.prefix(20).map { group in
                "\(group.id) (\(group.name)) at \(group.copies.prefix(5).map(\.nodeName).joined(separator: ", "))"
                    .onOneLine
            }
            throw RainKitError(
                .request(.usage, reason: "several_entries"),
                message:
                    "Several \(service.noun)s are called \(wanted.onOneLine): use an id, \(list.joined(separator: "; "))."
            )
        }
        guard let group = found.first else {
            let list = all.prefix(20).map { "\($0.id) (\($0.name))".onOneLine }.joined(separator: ", ")
            throw RainKitError(
                .request(.badData, reason: "no_such_entry"),
                message:
                    "These boards have no \(service.noun) \(wanted.onOneLine): they have \(list.isEmpty ? "no \(service.noun)s" : list)."
            )
        }
        let lacking = nodes.filter { node in !group.copies.contains { $0.node == node.id } }
        guard everyNode, let first = lacking.first else { return group }
        let more = lacking.count == 1 ? "" : " and \(lacking.count - 1) more"
        throw RainKitError(
            .request(.badData, reason: "no_such_entry"),
            message: "\(first.shownName)\(more) \(lacking.count == 1 ? "has" : "have") no copy of \(group.shownName).",
            remedies: [.repairedCopies])
    }

    private static func check(
        _ change: EntryGroupChange, nodes: Set<NodeID>, added: [Node], removed: Set<NodeID>
    ) throws(RainKitError) {
        if let node = added.first(where: { nodes.contains($0.id) }) {
            throw .usage(
                "\(node.shownName) already has a copy of the schedule or scene. Name only boards without a copy.")
        }
        if let node = change.removed.first(where: { !nodes.contains($0.id) }) {
            throw .usage("\(node.shownName) cannot be removed, because it is not one of the boards of this change.")
        }
        guard removed.count < nodes.count || !added.isEmpty else {
            throw .usage(
                "This change would leave no board with the schedule or scene. Remove the schedule or scene itself instead."
            )
        }
        let known = nodes.subtracting(removed).union(added.map(\.id))
        if let node = change.values.keys.first(where: { !known.contains($0) }) {
            throw .usage(
                "You gave values for \(node.rawValue.onOneLine), but this board is not one that keeps or gets the schedule or scene."
            )
        }
    }

    /// - Parameter values: the node's own; nil for those of the other nodes, if these agree, or else of none.
    private static func copy(
        of model: EntryGroup.Copy, in group: EntryGroup, _ change: ServiceEntryChange, _ values: [ParameterChange]?,
        to node: Node
    ) throws(RainKitError) -> EntryStep {
        if let entry = node.entries(of: group.service)?.first(where: { $0.id == group.id }) {
            guard entry.isOther(than: model.entry) else {
                throw .usage(
                    "\(node.shownName) already has a copy of \(group.shownName), so it cannot be added. To change this copy, include the board in the list of boards."
                )
            }
            throw RainKitError(
                .request(.badData, reason: "id_taken"),
                message:
                    "\(node.shownName) already has another \(group.service.noun) with the id \(group.id.onOneLine): \(entry.shownText)."
            )
        }
        var action = model.entry.action
        if let values {
            action = try node.checked(nil, values, nil, group.service).action ?? action
        } else if let other = group.copies.first(where: { !$0.entry.action.isReport(of: action) }) {
            throw .usage(
                """
                \(node.shownName) cannot get its values for \(group.shownName) from the other boards, because \(model.nodeName) and \
                \(other.nodeName) have different values.
                """, remedies: [.valuesOfNode])
        }
        return try EntryStep.copy(of: model.entry, change, action: action, to: node, group.service)
    }

    /// Sends each node its elements, and waits for the reports.
    private func send(
        _ steps: [EntryStep], _ id: String, in service: ListService, _ limit: Duration?
    ) async throws(RainKitError) -> [EntryOutcome] {
        var wanted: [(node: Node, changes: [ParameterChange])] = []
        var isDone: [NodeID: @Sendable (ServiceEntry?) -> Bool] = [:]
        for step in steps where !step.elements.isEmpty {
            let path = try step.node.place(of: service).path
            wanted.append((step.node, [ParameterChange(path, .array(step.elements))]))
            isDone[step.node.id] = step.isDone
        }
        var outcomes: [NodeID: ParameterSetOutcome] = [:]
        if !wanted.isEmpty {
            let done = isDone
            let all = try await setter(waiting: limit).set(wanted) { known in
                done[known.id]?(known.entries(of: service)?.first { $0.id == id }) ?? true
            }
            for outcome in all { outcomes[outcome.node] = outcome }
        }
        return steps.map { step in
            let outcome = outcomes[step.node.id]
            return EntryOutcome(
                node: step.node.id, id: id, name: step.name.isEmpty ? nil : step.name, operation: step.operation,
                isReported: outcome?.isReported, seen: outcome?.seen, unknown: outcome?.unknown,
                changesTime: step.changesTime, missingTimeZone: step.missingTimeZone, failure: outcome?.failure,
                serverCode: outcome?.serverCode, isSendingUnknown: outcome?.isSendingUnknown ?? false,
                isUnchanged: step.elements.isEmpty)
        }
    }
}

extension ScheduleTime {
    /// Whether parts of the time are to be taken from the schedule.
    fileprivate var isPartial: Bool {
        switch self {
        case .after: false
        case .at(let minutes, let days): minutes == nil || days == nil
        }
    }
}
