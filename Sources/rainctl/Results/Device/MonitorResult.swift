// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a board's log has told by the end. A person has read the log itself.
struct MonitorResult: CommandResult {
    private var values = LabelledValues()

    var text: String { "" }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ summary: DeviceSummary, lines: Int) {
        values.add(memberOnly: "lines", lines)
        values.add(memberOnly: "starts", summary.starts)
        values.add(summary.identity)
        values.add("node_id", summary.nodeID?.rawValue)
        values.add(memberOnly: "troubles", summary.troubles.map { Trouble($0) })
    }

    private struct Trouble: Encodable, Sendable {
        let reason: String
        let message: String

        init(_ trouble: DeviceTrouble) {
            reason = trouble.code
            message = trouble.description.withAdvice(trouble.remedies.filter { $0 != .boardLog })
        }
    }
}
