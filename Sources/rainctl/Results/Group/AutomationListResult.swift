// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Automations, as the cloud keeps them.
struct AutomationListResult: CommandResult {
    let automations: [JSONValue]
    private let lines: [String]

    private enum CodingKeys: CodingKey { case automations }

    init(_ all: [Automation]) {
        automations = all.map(\.document)
        lines = all.map { automation in
            let document = automation.document
            let events = (document["events"]?.array ?? []).flatMap { event in
                ([ParameterChange](event["params"] ?? .null) ?? []).map {
                    "\($0.path) \(event["check"]?.string ?? "==") \($0.value.shown)"
                }
            }
            let actions = (document["actions"]?.array ?? []).flatMap { action in
                ([ParameterChange](action["params"] ?? .null) ?? []).map {
                    "\(action["node_id"]?.string ?? "?"): \($0.path)=\($0.value.shown)"
                }
            }
            let joint = document["event_operator"]?.string == "or" ? " or " : " and "
            let start = document["node_id"]?.string.map { "\($0): " } ?? ""
            let when = events.isEmpty ? document["event_type"]?.string ?? "?" : start + events.joined(separator: joint)
            return
                "\(automation.id)  \(automation.isEnabled ? "on " : "off")  \(automation.name)  \(when)  ->  \(actions.joined(separator: "; "))"
                .onOneLine
        }
    }

    var text: String { lines.isEmpty ? "There are no automations." : lines.joined(separator: "\n") }
}
