// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

extension BatchReportResult: CommandResult {
    /// The counts, and a line for each board that failed.
    var text: String {
        let states = [
            (counts.done, "done"), (counts.failed, "failed"), (counts.running, "running"), (counts.waiting, "waiting"),
        ]
        let summary = states.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let head = "Batch \(batch.id): \(counts.total) board\(counts.total == 1 ? "" : "s")"
        let failures = boards.compactMap { board in
            board.error.map { "line \(board.line)  \(board.name)  \($0.reason)  \($0.message)".onOneLine }
        }
        return ([summary.isEmpty ? head : "\(head), \(summary)"] + failures).joined(separator: "\n")
    }
}
