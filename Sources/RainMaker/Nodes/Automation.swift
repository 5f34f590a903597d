// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What the cloud does when a node reports something: events, and values that are then set at nodes.
public struct Automation: Sendable, Equatable {
    /// The cloud's id.
    public var id: String
    /// What the user calls it.
    public var name: String
    /// Whether it acts; true where the cloud does not say.
    public var isEnabled: Bool
    /// All that the cloud says of it: `event_type`, `node_id`, `events`, `actions` and what else there is.
    public var document: JSONValue

    /// An entry of `automation_trigger_actions`; nil without an id.
    init?(_ json: JSONValue) {
        guard let id = json["automation_id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        name = json["name"]?.string ?? ""
        isEnabled = json["enabled"]?.bool ?? true
        document = json
    }
}

extension RainMakerCloud {
    /// The user's automations, or those that a node sets off.
    ///
    /// - Throws: `malformedAnswer` for a list that does not end.
    public func automations(of node: NodeID? = nil) async throws(AccountError) -> [Automation] {
        var automations: [Automation] = []
        var bound = ListBound(of: "automations", bytes: ListBound.wholeBytes)
        let filter = node.map { [(name: "node_id", value: $0.rawValue)] } ?? []
        var start: [(name: String, value: String)] = []
        while true {
            let page = try await measuredCall(RainMakerCall(.get, Self.automationPath, query: filter + start))
            // Without any the cloud leaves the list out.
            let list = page.reply["automation_trigger_actions"]?.array ?? []
            try bound.count(list.count, bytes: page.bytes)
            automations += list.compactMap { Automation($0) }
            guard let next = page.reply["next_id"]?.string, !next.isEmpty else { return automations }
            try bound.count(next: next)
            start = [("start_id", next)]
        }
    }

    /// Makes an automation of a document with `name`, `event_type`, `events`, `actions` and, for `node_params`, `node_id`; returns its id.
    public func createAutomation(_ document: JSONValue) async throws(AccountError) -> String {
        let reply = try await call(RainMakerCall(.post, Self.automationPath, body: document))
        guard let id = reply["automation_id"]?.string, !id.isEmpty else { throw incomplete("automation_id", in: reply) }
        return id
    }

    /// Changes the members that are given, such as `{"enabled":false}`.
    public func changeAutomation(_ id: String, _ changes: JSONValue) async throws(AccountError) {
        try await call(RainMakerCall(.put, Self.automationPath, query: [("automation_id", id)], body: changes))
    }

    /// Removes an automation.
    public func removeAutomation(_ id: String) async throws(AccountError) {
        try await call(RainMakerCall(.delete, Self.automationPath, query: [("automation_id", id)]))
    }

    private static let automationPath = "user/node_automation"
}
