// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// What boards have answered to a command.
struct CommandRecordsResult: CommandResult {
    let requestID: String
    let nodes: [Entry]
    /// With --no-wait it was only sent: boards without an answer have not failed to give one.
    private let isOnlySent: Bool

    private enum CodingKeys: String, CodingKey {
        case requestID = "request_id"
        case nodes
    }

    struct Entry: Encodable, Sendable {
        let nodeID: String
        /// `requested`, `in_progress`, `success`, `failure`, `timed_out`, or `refused` by the cloud.
        let status: String
        let message: String?
        let response: JSONValue?
        let errorCode: Int?

        private enum CodingKeys: String, CodingKey {
            case nodeID = "node_id"
            case status, message, response
            case errorCode = "error_code"
        }
    }

    /// - Parameters:
    ///   - refused: those to which the cloud did not send it.
    ///   - asked: all that it was to go to. What the cloud has told nothing of yet is `requested`.
    init(
        _ request: RequestID, _ records: [NodeCommandRecord], refused: [ParameterOutcome] = [], asked: [NodeID] = [],
        isOnlySent: Bool = false
    ) {
        requestID = request.rawValue
        self.isOnlySent = isOnlySent
        let told = Set(records.map(\.node) + refused.map(\.node))
        nodes =
            records.map { record in
                let status =
                    switch record.status {
                    case .requested: "requested"
                    case .inProgress: "in_progress"
                    case .success: "success"
                    case .failure: "failure"
                    case .timedOut: "timed_out"
                    case .other(let word): word
                    }
                return Entry(
                    nodeID: record.node.rawValue, status: status, message: record.summary, response: record.response,
                    errorCode: nil)
            }
            + asked.filter { !told.contains($0) }.map {
                Entry(nodeID: $0.rawValue, status: "requested", message: nil, response: nil, errorCode: nil)
            }
            + refused.map {
                Entry(
                    nodeID: $0.node.rawValue, status: "refused", message: $0.failure, response: nil,
                    errorCode: $0.serverCode)
            }
    }

    var text: String {
        let see = "rainctl node command result \(requestID.asShellWord)"
        let shown = isOnlySent ? nodes.filter { $0.status != "requested" } : nodes
        var lines = shown.map { entry in
            let words =
                switch entry.status {
                case "success": entry.response.map(\.shown) ?? "done"
                case "requested": "has not answered yet"
                case "in_progress": "is at it"
                case "timed_out": "has not answered in time"
                case "refused": "was not sent it: \(entry.message ?? "")"
                default: "failed: \(entry.message ?? entry.status)"
                }
            return "\(entry.nodeID)  \(words)".onOneLine
        }
        if nodes.isEmpty || shown.count < nodes.count { lines.append("sent; see the answers with: \(see)") }
        return lines.joined(separator: "\n")
    }

    /// Throws where not all boards have done it, so that a script notices. For people what there is is printed before.
    func checked(_ output: Output) throws(CommandFailure) -> Self {
        guard var failure else { return self }
        if !output.isJSON { output.result(self) }
        failure.result = self
        throw failure
    }

    /// Nil where all boards have done it, or were only to be sent it and were.
    var failure: CommandFailure? {
        let failed = nodes.filter { !["success", "requested", "in_progress", "timed_out"].contains($0.status) }
        guard failed.isEmpty else {
            let words = failed.prefix(5).map { "\($0.nodeID): \($0.message ?? $0.status)".onOneLine }
            let reason = nodes.count == failed.count ? "all_failed" : "some_failed"
            return CommandFailure(
                nodes.count == 1 ? .other : .batchPartial, reason: nodes.count == 1 ? "rejected" : reason,
                message: "The command was not done by \(words.joined(separator: "; "))."
                    + (isOnlySent ? "" : silence.map { " \($0.message)" } ?? ""))
        }
        return isOnlySent ? nil : silence
    }

    /// Boards that have not answered: within the time of this command, or within that for which the cloud kept it.
    private var silence: CommandFailure? {
        let expired = nodes.filter { $0.status == "timed_out" }
        let open = nodes.filter { ["requested", "in_progress"].contains($0.status) }
        guard !expired.isEmpty || !open.isEmpty || nodes.isEmpty else { return nil }
        let names = { (entries: [Entry]) in entries.prefix(5).map(\.nodeID.onOneLine).joined(separator: ", ") }
        var sentences: [String] = []
        if !expired.isEmpty {
            sentences.append(
                """
                The cloud has given the command up, since it was not answered while it was kept (--keep of rainctl node command send) by \
                \(names(expired)): send it again, with a longer --keep for boards that are away.
                """)
        }
        if !open.isEmpty || nodes.isEmpty {
            sentences.append(
                """
                The command was not answered in time (--timeout)\(open.isEmpty ? "" : " by \(names(open))"); \
                rainctl node command result \(requestID.asShellWord) shows what comes later.
                """)
        }
        let isAll = nodes.count == expired.count + open.count
        return CommandFailure(
            isAll ? .deadline : .batchPartial, reason: isAll ? nil : "some_silent",
            message: sentences.joined(separator: " "))
    }
}
