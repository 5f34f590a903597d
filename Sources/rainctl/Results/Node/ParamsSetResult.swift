// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What became of values that were to be set, board by board.
struct ParamsSetResult: CommandResult {
    let nodes: [Entry]

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// `reported` by the board, `sent` by the cloud, or `failed`.
        let state: String
        let message: String?

        private enum CodingKeys: String, CodingKey {
            case nodeID = "node_id"
            case state, message
        }
    }

    var text: String {
        nodes.map { entry in
            let words =
                switch entry.state {
                case "reported": "has it"
                case "sent": "sent by the cloud; the board has not answered yet (--wait waits for that)"
                default: "failed: \(entry.message?.onOneLine ?? "")"
                }
            return "\(entry.nodeID.onOneLine)  \(words)"
        }.joined(separator: "\n")
    }

    init(_ outcomes: [ParameterSetter.Outcome]) {
        nodes = outcomes.map { outcome in
            let state = outcome.failure != nil ? "failed" : outcome.isReported == true ? "reported" : "sent"
            return Entry(nodeID: outcome.node.rawValue, state: state, message: outcome.failure)
        }
    }

    /// Prints it; throws where not all boards were served, so that a script notices.
    func tell(_ context: Context) throws(CommandFailure) {
        let failed = nodes.count { $0.state == "failed" }
        guard failed > 0 else { return context.output.result(self) }
        if !context.output.isJSON { context.output.result(self) }
        let words = nodes.filter { $0.state == "failed" }.prefix(5)
            .map { "\($0.nodeID.onOneLine): \($0.message?.onOneLine ?? "")" }.joined(separator: "; ")
        var failure = CommandFailure(
            .batchPartial, reason: failed == nodes.count ? "all_failed" : "some_failed",
            message: "\(failed) of \(nodes.count) boards were not set: \(words).")
        failure.result = self
        throw failure
    }
}

/// A board is no longer in the account.
struct NodeRemovedResult: CommandResult {
    let nodeID: String
    let removed = true

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case removed
    }

    var text: String { "\(nodeID.onOneLine) is no longer in your account." }
}
