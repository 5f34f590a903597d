// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// An action of the cloud when a node reports something: the triggering events, and the values that the cloud then sets at nodes.
public struct Automation: Sendable, Equatable {
    /// The id in the cloud.
    public var id: String
    /// The user's name for the automation.
    public var name: String
    /// Whether it is enabled; true if the cloud does not say.
    public var isEnabled: Bool
    /// The cloud's whole description: `event_type`, `node_id`, `events`, `actions` and other members.
    public var document: JSONValue

    /// Reads an entry of `automation_trigger_actions`. Returns nil without an id.
    init?(_ json: JSONValue) {
        guard let id = json["automation_id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        name = json["name"]?.string ?? ""
        isEnabled = json["enabled"]?.bool ?? true
        document = json
    }
}

extension RainMakerCloud {
    /// Returns the user's automations, or those that one node triggers.
    ///
    /// - Throws: `malformedAnswer` for a list that does not end.
    public func automations(of node: NodeID? = nil) async throws(AccountError) -> [Automation] {
        var automations: [Automation] = []
        var bound = ListBound(of: "automations", bytes: ListBound.wholeBytes)
        let filter = node.map { [(name: "node_id", value: $0.rawValue)] } ?? []
        var start: [(name: String, value: String)] = []
        while true {
            let page = try await measuredCall(RainMakerCall(.get, Self.automationPath, query: filter + start))
            // If there are no automations, the cloud omits the list.
            let list = page.reply["automation_trigger_actions"]?.array ?? []
            try bound.count(list.count, bytes: page.bytes)
            automations += list.compactMap { Automation($0) }
            guard let next = page.reply["next_id"]?.string, !next.isEmpty else { return automations }
            try bound.count(next: next)
            start = [("start_id", next)]
        }
    }

    /// Creates an automation and returns its id. The document has `name`, `event_type`, `events`, `actions` and, for `node_params`,
    /// `node_id`.
    public func createAutomation(_ document: JSONValue) async throws(AccountError) -> String {
        let reply = try await call(RainMakerCall(.post, Self.automationPath, body: document))
        guard let id = reply["automation_id"]?.string, !id.isEmpty else { throw incomplete("automation_id", in: reply) }
        return id
    }

    /// Changes the given members, such as `{"enabled":false}`.
    public func changeAutomation(_ id: String, _ changes: JSONValue) async throws(AccountError) {
        try await call(RainMakerCall(.put, Self.automationPath, query: [("automation_id", id)], body: changes))
    }

    /// Removes an automation.
    public func removeAutomation(_ id: String) async throws(AccountError) {
        try await call(RainMakerCall(.delete, Self.automationPath, query: [("automation_id", id)]))
    }

    private static let automationPath = "user/node_automation"
}
