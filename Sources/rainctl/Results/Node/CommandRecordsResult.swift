// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// What boards have answered to a command.
struct CommandRecordsResult: CommandResult {
    let requestID: String
    let nodes: [Entry]

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

    init(_ request: RequestID, _ records: [NodeCommandRecord], refused: [ParameterOutcome] = []) {
        requestID = request.rawValue
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
            + refused.map {
                Entry(
                    nodeID: $0.node.rawValue, status: "refused", message: $0.failure, response: nil,
                    errorCode: $0.serverCode)
            }
    }

    var text: String {
        if nodes.isEmpty { return "sent; see the answers with: rainctl node command result \(requestID.onOneLine)" }
        return nodes.map { entry in
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
        }.joined(separator: "\n")
    }

    /// Throws where not all boards have done it, so that a script notices. What those that have done it answered is printed first.
    func check(_ output: Output) throws(CommandFailure) {
        do throws(CommandFailure) {
            try check()
        } catch {
            if !output.isJSON, nodes.count > 1 { output.result(self) }
            throw error
        }
    }

    private func check() throws(CommandFailure) {
        let open = nodes.filter { ["requested", "in_progress", "timed_out"].contains($0.status) }
        let late = open.filter { $0.status == "timed_out" }
        let failed = nodes.filter { !["success", "requested", "in_progress", "timed_out"].contains($0.status) }
        guard !open.isEmpty || !failed.isEmpty else { return }
        let names = { (entries: [Entry]) in entries.prefix(5).map(\.nodeID.onOneLine).joined(separator: ", ") }
        var failure: CommandFailure
        if !failed.isEmpty {
            let words = failed.prefix(5).map { "\($0.nodeID): \($0.message ?? $0.status)".onOneLine }
            failure = CommandFailure(
                nodes.count == 1 ? .other : .batchPartial,
                reason: nodes.count == failed.count ? "all_failed" : "some_failed",
                message: "The command was not done by \(words.joined(separator: "; ")).")
        } else {
            failure = CommandFailure(
                nodes.count == open.count ? .deadline : .batchPartial,
                reason: nodes.count == open.count ? nil : "some_silent",
                message: late.count == open.count
                    ? "The cloud has given the command up (--keep): it was not answered in time by \(names(late))."
                    : "The command was not answered in time (--timeout) by \(names(open)); rainctl node command result \(requestID.onOneLine) shows what comes later."
            )
        }
        failure.result = self
        throw failure
    }
}
