// SPDX-License-Identifier: Apache-2.0

/// How far a batch is, with the boards that are being provisioned and those that failed.
package struct BatchResult: Encodable, Sendable {
    package let batch: Int64
    package let file: String?
    package let created: String
    package let total: Int
    package let done: Int
    package let running: Int
    package let waiting: Int
    package let failed: Int
    /// Running boards whose station was not heard of for too long. They are among `running`.
    package let abandoned: Int
    /// The boards that are running or have failed, in the order of their lines.
    package let boards: [BoardEntry]

    package init(_ batch: Batch, _ counts: BatchCounts, boards: [LedgerBoard]) {
        self.batch = batch.id
        file = batch.file.isEmpty ? nil : batch.file
        created = Timestamp.text(batch.created)
        total = counts.total
        (done, running, waiting, failed) = (counts.done, counts.running, counts.waiting, counts.failed)
        abandoned = counts.abandoned
        self.boards = boards.filter { $0.state == .running || $0.state == .failed }.map(BoardEntry.init)
    }

    /// A board of a batch.
    package struct BoardEntry: Encodable, Sendable {
        package let line: Int
        package let name: String
        package let address: String
        package let state: String
        package let attempts: Int
        package let station: String?
        package let nodeID: String?
        package let step: String?
        /// The name of the exit code, as in errors.
        package let code: String?
        package let reason: String?
        package let message: String?
        package let remedy: String?

        private enum CodingKeys: String, CodingKey {
            case line, name, address, state, attempts, station
            case nodeID = "node_id"
            case step, code, reason, message, remedy
        }

        package init(_ board: LedgerBoard) {
            line = board.line
            name = board.name
            address = board.address
            state = board.state.rawValue
            attempts = board.attempt
            station = board.station
            nodeID = board.nodeID
            step = board.step
            code = board.failure.map { failure in
                RainKitError.Code(rawValue: Int32(clamping: failure.code))?.name ?? "other"
            }
            reason = board.failure?.reason
            message = board.failure?.message
            remedy = board.failure.flatMap { $0.remedy.isEmpty ? nil : $0.remedy }
        }
    }
}

/// The batches of a ledger.
package struct BatchListResult: Encodable, Sendable {
    package let batches: [Entry]

    package init(_ batches: [(Batch, BatchCounts)]) { self.batches = batches.map { Entry($0, $1) } }

    /// One batch.
    package struct Entry: Encodable, Sendable {
        package let batch: Int64
        package let file: String?
        package let created: String
        package let total: Int
        package let done: Int
        package let running: Int
        package let waiting: Int
        package let failed: Int

        init(_ batch: Batch, _ counts: BatchCounts) {
            self.batch = batch.id
            file = batch.file.isEmpty ? nil : batch.file
            created = Timestamp.text(batch.created)
            total = counts.total
            (done, running, waiting, failed) = (counts.done, counts.running, counts.waiting, counts.failed)
        }
    }
}
