// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Checks a rule, wherever it was written, by what its boards have said of themselves: the cloud takes conditions that never hold, and values
/// that no board takes.
struct AutomationCheck {
    let choice: NodeChoice

    /// The members of a rule in a file, as boards take their values. What is not about parameters of boards is left to the cloud.
    /// - Parameters:
    ///   - known: the automation that is changed, which has what the file leaves out.
    ///   - node: the board that reports, where it is named elsewhere.
    func members(
        _ members: [JSONValue.Member], of known: Automation? = nil, reportedBy node: Node? = nil
    ) async throws -> [JSONValue.Member] {
        let document = JSONValue.object(members)
        let kind = document["event_type"] ?? known?.document["event_type"]
        let id = document["node_id"]?.string ?? known?.document["node_id"]?.string
        // The conditions that stay are to be reported by another board.
        if let moved = document["node_id"]?.string, document["events"] == nil, kind == "node_params",
            let events = known?.document["events"]?.array
        {
            _ = try Self.events(events, at: try await choice.node(moved))
        }
        var checked: [JSONValue.Member] = []
        for member in members {
            var value = member.value
            switch (member.name, value.array) {
            case ("events", let events?) where kind == "node_params":
                var reporter = node
                if reporter == nil, let id { reporter = try await choice.node(id) }
                if let reporter { value = .array(try Self.events(events, at: reporter)) }
            case ("actions", let actions?): value = .array(try await self.actions(actions))
            default: break
            }
            checked.append(.init(member.name, value))
        }
        return checked
    }

    /// Throws where a board does not have what is compared, or has it in a form that cannot be compared so.
    static func events(_ events: [JSONValue], at node: Node) throws(CommandFailure) -> [JSONValue] {
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
                throw CommandFailure(error, at: node)
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
            if let known = nodes[id] { node = known } else { node = try await choice.node(id) }
            nodes[id] = node
            let configuration = try node.described()
            do throws(ParameterError) {
                checked.append(action.replacing("params", with: try configuration.checked(changes).json))
            } catch {
                throw CommandFailure(error, at: node)
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
