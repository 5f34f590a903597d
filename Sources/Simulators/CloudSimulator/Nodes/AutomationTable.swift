// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What users want to happen when a node reports something: events, and what is then set at which nodes.
struct AutomationTable: Codable, Sendable, Equatable {
    struct Automation: Codable, Sendable, Equatable {
        var id: String
        var owner: String
        /// As the user gave it: name, event_type, events, actions and what else there is.
        var document: JSONValue
        /// Whether its events held when they were last looked at: it acts when they begin to.
        var holds = false
    }

    /// The simulator's own bound.
    static let maximum = 1000

    private(set) var all: [Automation] = []

    func list(of user: String) -> [Automation] { all.filter { $0.owner == user } }
    func find(_ id: String, of user: String) -> Automation? { all.first { $0.id == id && $0.owner == user } }

    mutating func put(_ automation: Automation) -> Bool {
        if let index = all.firstIndex(where: { $0.id == automation.id }) {
            all[index] = automation
            return true
        }
        guard all.count < Self.maximum else { return false }
        all.append(automation)
        return true
    }

    mutating func remove(_ id: String) { all.removeAll { $0.id == id } }
    mutating func removeAll(of user: String) { all.removeAll { $0.owner == user } }

    /// A node has these values now.
    ///
    /// - Returns: what is to be set, where: the actions of those whose events hold now and did not before, or that act each time.
    mutating func observe(_ node: String, _ params: JSONValue?) -> [(owner: String, node: String, values: JSONValue)] {
        var actions: [(owner: String, node: String, values: JSONValue)] = []
        for index in all.indices where all[index].document["node_id"]?.string == node {
            let automation = all[index]
            let holds = automation.holds(params)
            all[index].holds = holds
            guard holds, !automation.holds || automation.document["retrigger"]?.bool == true,
                automation.document["enabled"]?.bool != false
            else { continue }
            for action in automation.document["actions"]?.array ?? [] {
                guard let target = action["node_id"]?.string, let values = action["params"] else { continue }
                actions.append((automation.owner, target, values))
            }
        }
        return actions
    }
}

extension AutomationTable.Automation {
    /// `{"params":{"Light":{"Power":true}},"check":"=="}` each, all of them or, with `event_operator` `or`, one.
    fileprivate func holds(_ params: JSONValue?) -> Bool {
        let events = document["events"]?.array ?? []
        guard !events.isEmpty else { return false }
        return document["event_operator"]?.string == "or"
            ? events.contains { Self.holds($0, params) } : events.allSatisfy { Self.holds($0, params) }
    }

    private static func holds(_ event: JSONValue, _ params: JSONValue?) -> Bool {
        let check = event["check"]?.string ?? "=="
        let wanted = (event["params"]?.members ?? []).flatMap { device in
            (device.value.members ?? []).map { (params?[device.name]?[$0.name], $0.value) }
        }
        return !wanted.isEmpty && wanted.allSatisfy { value, bound in value.map { compare($0, check, bound) } ?? false }
    }

    private static func compare(_ value: JSONValue, _ check: String, _ bound: JSONValue) -> Bool {
        switch check {
        case "==": return value == bound || value.double.map { $0 == bound.double } ?? false
        case "!=": return value != bound
        default: break
        }
        guard let value = value.double, let bound = bound.double else { return false }
        switch check {
        case "<": return value < bound
        case ">": return value > bound
        case "<=": return value <= bound
        case ">=": return value >= bound
        default: return false
        }
    }
}
