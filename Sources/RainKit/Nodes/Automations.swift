// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// A condition of an automation: the value that a node reports, compared with another one.
public struct AutomationCondition: Sendable, Equatable {
    /// How the two values are compared.
    public enum Comparison: String, Sendable, CaseIterable {
        /// The node reports this value.
        case equal = "=="
        /// The node reports another value.
        case notEqual = "!="
        /// The node reports a smaller number.
        case less = "<"
        /// The node reports a larger number.
        case greater = ">"
        /// The node reports this number or a smaller one.
        case lessOrEqual = "<="
        /// The node reports this number or a larger one.
        case greaterOrEqual = ">="
    }

    /// The parameter of the node.
    public var path: ParameterPath
    /// Only numbers have an order.
    public var comparison: Comparison
    /// The value that the reported one is compared with.
    public var value: JSONValue

    public init(_ path: ParameterPath, _ comparison: Comparison, _ value: JSONValue) {
        self.path = path
        self.comparison = comparison
        self.value = value
    }

    /// The event as the cloud takes it. Throws for a value that the parameter never has.
    fileprivate func event(by configuration: NodeConfiguration) throws(ParameterError) -> JSONValue {
        let compared = try configuration.comparison(path, comparison.rawValue, value)
        return ["params": [compared].json, "check": .string(comparison.rawValue)]
    }
}

/// What an automation does: when a node reports something, the cloud sets values at nodes.
///
/// In a change of an automation, what is nil or empty stays as it is.
public struct AutomationRule: Sendable {
    /// The node that reports. A new rule needs it, unless ``occasion`` is given or ``document`` has the events.
    public var reporter: Node?
    /// The weather or daylight that sets off the automation, in place of a node.
    public var occasion: AutomationOccasion?
    /// What the node has to report.
    public var conditions: [AutomationCondition]
    /// The values that are set, node by node.
    public var actions: [(node: Node, changes: [ParameterChange])]
    /// Whether one of several conditions is enough; all have to hold otherwise.
    public var isAnyEnough: Bool?
    /// Whether the cloud acts on each report, and not only when the conditions begin to hold.
    public var retriggers: Bool?
    /// Other members, as the cloud takes them. The properties above replace members with the same names.
    public var document: JSONValue?

    public init(
        reporter: Node? = nil, conditions: [AutomationCondition] = [],
        actions: [(node: Node, changes: [ParameterChange])] = [], isAnyEnough: Bool? = nil, retriggers: Bool? = nil,
        document: JSONValue? = nil, occasion: AutomationOccasion? = nil
    ) {
        self.occasion = occasion
        self.reporter = reporter
        self.conditions = conditions
        self.actions = actions
        self.isAnyEnough = isAnyEnough
        self.retriggers = retriggers
        self.document = document
    }
}

extension RainKitClient {
    /// Returns the user's automations, or those that a node sets off.
    ///
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func automations(of node: Node? = nil) async throws -> [Automation] {
        try await asking { cloud throws(AccountError) in try await cloud.automations(of: node?.id) }
    }

    /// Returns the automation with this id or name. Names match without regard to upper and lower case.
    ///
    /// - Throws: `RainKitError`: `no_such_automation`; `several_automations` for a name that several have.
    public func automation(named name: String) async throws -> Automation {
        let all = try await automations()
        if let exact = all.first(where: { $0.id == name }) { return exact }
        let found = all.filter { $0.name.lowercased() == name.lowercased() }
        if found.count == 1 { return found[0] }
        if found.isEmpty {
            throw RainKitError(
                .request(.other, reason: "no_such_automation"),
                message: "There is no automation \(name.asGiven).".because(of: name.givenNameRemark),
                remedies: [.knownAutomation])
        }
        throw RainKitError(
            .request(.usage, reason: "several_automations"),
            message: "Several automations are called \(name.onOneLine): use an id, "
                + found.prefix(20).map(\.id.onOneLine).joined(separator: " or ") + ".")
    }

    /// Creates an automation, and returns its id.
    ///
    /// ```swift
    /// let opened = AutomationCondition(ParameterPath(component: "Door", parameter: "Open"), .equal, true)
    /// let light = ParameterChange(ParameterPath(component: "Light", parameter: "Power"), true)
    /// let rule = AutomationRule(reporter: door, conditions: [opened], actions: [(lamp, [light])])
    /// let id = try await kit.createAutomation("Door light", rule)
    /// ```
    ///
    /// The cloud takes conditions that never hold and values that no node takes. So all of them, those of a document too, are checked by what
    /// the nodes have reported of themselves.
    ///
    /// - Throws: `RainKitError`: `usage` for a blank name or an incomplete rule; the codes of `ParameterError`; the cloud's refusals.
    public func createAutomation(_ name: String, _ rule: AutomationRule) async throws -> String {
        try Self.checkAutomationName(name)
        let hasTrigger = rule.occasion != nil || (rule.reporter != nil && !rule.conditions.isEmpty)
        guard rule.document != nil || (hasTrigger && !rule.actions.isEmpty) else {
            throw RainKitError.usage(
                "A rule needs a trigger (a condition at a node, weather or daylight) and values to set.")
        }
        let members = try await members(of: rule, with: [.init("name", .string(name))], changing: nil)
        return try await asking { cloud throws(AccountError) in try await cloud.createAutomation(.object(members)) }
    }

    /// Changes an automation. Values that are nil or empty stay as they are.
    ///
    /// If another node is to report, the conditions that stay are checked for it.
    ///
    /// - Parameter isEnabled: whether the automation acts.
    /// - Throws: `RainKitError`, as ``createAutomation(_:_:)`` does.
    public func changeAutomation(
        _ automation: Automation, name: String? = nil, isEnabled: Bool? = nil, rule: AutomationRule = AutomationRule()
    ) async throws {
        var settings: [JSONValue.Member] = []
        if let name {
            try Self.checkAutomationName(name)
            settings.append(.init("name", .string(name)))
        }
        if let isEnabled { settings.append(.init("enabled", .bool(isEnabled))) }
        let members = try await members(of: rule, with: settings, changing: automation)
        try await asking { cloud throws(AccountError) in
            try await cloud.changeAutomation(automation.id, .object(members))
        }
    }

    /// Removes an automation.
    ///
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func removeAutomation(_ automation: Automation) async throws {
        try await asking { cloud throws(AccountError) in try await cloud.removeAutomation(automation.id) }
    }

    /// - Throws: `usage` for a blank name.
    package static func checkAutomationName(_ name: String) throws(RainKitError) {
        if name.isBlank { throw .usage("An automation's name must not be blank.") }
    }

    /// All members to send. Members that are given replace those of the rule's document.
    private func members(
        of rule: AutomationRule, with settings: [JSONValue.Member], changing known: Automation?
    ) async throws(RainKitError) -> [JSONValue.Member] {
        if let problem = rule.document.flatMap(AutomationCheck.problem(of:)) {
            throw RainKitError(.request(.badData, reason: "bad_rule"), message: problem)
        }
        let given = settings + (try rule.members(changing: known))
        let others = (rule.document?.members ?? []).filter { member in
            !given.contains { $0.name == member.name }
        }
        let check = AutomationCheck(client: self)
        do {
            return try await check.members(others, of: known, reportedBy: rule.reporter) + given
        } catch {
            throw RainKitError(wrapping: error)
        }
    }
}

extension AutomationRule {
    /// The members of the rule without its document, checked by what the nodes have reported of themselves.
    /// - Parameter known: the automation that is changed.
    func members(changing known: Automation?) throws(RainKitError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let occasion {
            guard reporter == nil, conditions.isEmpty else {
                throw .usage("A rule needs exactly one trigger: a node, the weather, or daylight.")
            }
            guard occasion.count > 0 else { throw .usage("A rule for the weather needs a condition.") }
            members += occasion.members
            if occasion.count > 1, isAnyEnough == nil { members.append(.init("event_operator", "and")) }
        } else if let reporter {
            let configuration = try reporter.described()
            var events: [JSONValue] = []
            do throws(ParameterError) {
                for condition in conditions { events.append(try condition.event(by: configuration)) }
            } catch {
                throw RainKitError(error, at: reporter.shownName)
            }
            if events.isEmpty, known?.document["event_type"] == "node_params" {
                _ = try AutomationCheck.events(known?.document["events"]?.array ?? [], at: reporter)
            }
            members.append(.init("event_type", "node_params"))
            members.append(.init("node_id", .string(reporter.id.rawValue)))
            if !events.isEmpty { members.append(.init("events", .array(events))) }
            if events.count > 1, isAnyEnough == nil { members.append(.init("event_operator", "and")) }
        } else if !conditions.isEmpty {
            throw .usage("A condition needs the node that reports the value.")
        }
        if let isAnyEnough, (occasion?.count ?? conditions.count) != 1 {
            members.append(.init("event_operator", isAnyEnough ? "or" : "and"))
        }
        var checked: [JSONValue] = []
        for (node, changes) in actions {
            let configuration = try node.described()
            do throws(ParameterError) {
                checked.append([
                    "node_id": .string(node.id.rawValue), "params": try configuration.checked(changes).json,
                ])
            } catch {
                throw RainKitError(error, at: node.shownName)
            }
        }
        if !checked.isEmpty { members.append(.init("actions", .array(checked))) }
        if let retriggers { members.append(.init("retrigger", .bool(retriggers))) }
        return members
    }
}

/// Checks the members of a document by what its nodes have reported of themselves.
private struct AutomationCheck {
    let client: RainKitClient

    /// Returns a sentence about a member that the cloud refuses in every rule; nil without one. The cloud's own answer names no member.
    static func problem(of document: JSONValue) -> String? {
        if let type = document["event_type"]?.unlessNull {
            let kinds = ["node_params", "weather", "daylight"]
            guard let text = type.string else {
                return "The member event_type of the rule must be a text, but is \(type.kind)."
            }
            guard kinds.contains(text) else {
                return
                    "The member event_type of the rule is \"\(text.onOneLine)\", but must be node_params, weather or daylight."
            }
        }
        for name in ["events", "actions"] {
            guard let value = document[name]?.unlessNull else { continue }
            guard let list = value.array else {
                return "The member \(name) of the rule must be a list, but is \(value.kind). Put it in [ ]."
            }
            if let other = list.first(where: { $0.members == nil }) {
                return "The member \(name) of the rule must be a list of objects, but has \(other.kind)."
            }
        }
        for event in document["events"]?.array ?? [] {
            guard let check = event["check"]?.unlessNull else { continue }
            let known = AutomationCondition.Comparison.allCases.map(\.rawValue)
            guard let text = check.string, known.contains(text) else {
                let shown = check.string.map { "\"\($0.onOneLine)\"" } ?? check.kind
                return "The member check of an event is \(shown), but must be one of \(known.joined(separator: " "))."
            }
        }
        return nil
    }

    /// Returns the members with the values as nodes take them. Members that are not about parameters of nodes are left to the cloud.
    ///
    /// - Parameters:
    ///   - known: the automation that is changed. It has what the document leaves out.
    ///   - node: the node that reports, if the document does not name it.
    func members(
        _ members: [JSONValue.Member], of known: Automation?, reportedBy node: Node?
    ) async throws -> [JSONValue.Member] {
        let document = JSONValue.object(members)
        let kind = document["event_type"] ?? known?.document["event_type"]
        let id = document["node_id"]?.string ?? known?.document["node_id"]?.string
        // Another node is to report, and the conditions stay.
        if let moved = document["node_id"]?.string, document["events"] == nil, kind == "node_params",
            let events = known?.document["events"]?.array
        {
            _ = try Self.events(events, at: try await client.node(named: moved))
        }
        var checked: [JSONValue.Member] = []
        for member in members {
            var value = member.value
            switch (member.name, value.array) {
            case ("events", let events?) where node != nil || kind == "node_params":
                var reporter = node
                if reporter == nil, let id { reporter = try await client.node(named: id) }
                if let reporter { value = .array(try Self.events(events, at: reporter)) }
            case ("actions", let actions?): value = .array(try await self.actions(actions))
            default: break
            }
            checked.append(.init(member.name, value))
        }
        return checked
    }

    /// Throws if the node does not have a parameter that is compared, or has it in a form that cannot be compared so.
    static func events(_ events: [JSONValue], at node: Node) throws(RainKitError) -> [JSONValue] {
        let configuration = try node.described()
        var checked: [JSONValue] = []
        for event in events {
            guard let params = event["params"], let compared = [ParameterChange](params) else {
                checked.append(event)
                continue
            }
            do throws(ParameterError) {
                var changes: [ParameterChange] = []
                for change in compared {
                    changes.append(
                        try configuration.comparison(change.path, event["check"]?.string ?? "==", change.value))
                }
                checked.append(event.replacing("params", with: changes.json))
            } catch {
                throw RainKitError(error, at: node.shownName)
            }
        }
        return checked
    }

    private func actions(_ actions: [JSONValue]) async throws -> [JSONValue] {
        var nodes: [String: Node] = [:]
        var checked: [JSONValue] = []
        for action in actions {
            guard let id = action["node_id"]?.string, let params = action["params"],
                let changes = [ParameterChange](params)
            else {
                checked.append(action)
                continue
            }
            let node: Node
            if let known = nodes[id] { node = known } else { node = try await client.node(named: id) }
            nodes[id] = node
            let configuration = try node.described()
            do throws(ParameterError) {
                checked.append(action.replacing("params", with: try configuration.checked(changes).json))
            } catch {
                throw RainKitError(error, at: node.shownName)
            }
        }
        return checked
    }
}

extension JSONValue {
    fileprivate func replacing(_ name: String, with value: JSONValue) -> JSONValue {
        .object((members ?? []).map { $0.name == name ? Member(name, value) : $0 })
    }
}
