// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

// The documents of batches.

/// The report about a batch: how many boards are in which state, and each board.
package struct BatchReportResult: Encodable, Sendable {
    /// The batch, without its boards.
    package struct BatchMember: Encodable, Sendable {
        package let id: Int64
        package let file: String
        package let sha256: String
        package let deployment: String
        package let user: String
        package let created: String
    }

    package struct Counts: Encodable, Sendable {
        package let waiting: Int
        package let running: Int
        package let done: Int
        package let failed: Int
        package let abandoned: Int
        package let total: Int
    }

    package struct BoardMember: Encodable, Sendable {
        package let line: Int
        package let name: String
        package let address: String
        package let state: String
        package let attempts: Int
        package let station: String?
        package let nodeID: String?
        package let mac: String?
        package let step: String?
        package let stepState: String?
        package let started: String?
        package let ended: String?
        package let elapsedMs: Int64?
        package let error: Failure?
    }

    package struct Failure: Encodable, Sendable {
        /// The name of the exit code; absent for a number that this version does not know.
        package let code: String?
        package let exit: Int
        package let reason: String
        package let message: String
        package let remedy: String?
    }

    package let batch: BatchMember
    /// When the report was made.
    package let reported: String
    package let counts: Counts
    package let boards: [BoardMember]
}

extension BatchReportResult {
    package init(_ report: BatchReport) {
        let (batch, counts) = (report.batch, report.counts)
        self.batch = BatchMember(
            id: batch.id, file: batch.file, sha256: batch.sha256, deployment: batch.deployment, user: batch.user,
            created: batch.created.inUTC)
        reported = report.time.inUTC
        self.counts = Counts(
            waiting: counts.waiting, running: counts.running, done: counts.done, failed: counts.failed,
            abandoned: counts.abandoned, total: counts.total)
        boards = report.boards.map(BoardMember.init)
    }
}

extension BatchReportResult.BoardMember {
    init(_ board: LedgerBoard) {
        self.init(
            line: board.line, name: board.name, address: board.address, state: board.state.rawValue,
            attempts: board.attempt, station: board.station, nodeID: board.nodeID, mac: board.mac, step: board.step,
            stepState: board.stepState?.rawValue, started: board.started?.inUTC, ended: board.ended?.inUTC,
            elapsedMs: board.seconds.map { Int64(($0 * 1000).rounded()) },
            error: board.failure.map { failure in
                BatchReportResult.Failure(
                    code: Int32(exactly: failure.code).flatMap(RainKitError.Code.init)?.name, exit: failure.code,
                    reason: failure.reason, message: failure.message,
                    remedy: failure.remedy.isEmpty ? nil : failure.remedy)
            })
    }
}

extension UnixTime {
    /// The time as `2030-01-01T00:00:00Z`.
    var inUTC: String {
        // A ledger's numbers come from outside: no date has more than these seconds.
        let seconds = Int(min(max(self.seconds.isNaN ? 0 : self.seconds, 0), 253_402_300_799).rounded(.down))
        return CivilTime(secondsSince1970: seconds).text(separator: "T") + "Z"
    }
}

extension LedgerBoard {
    /// How long its last attempt took, in seconds; nil unless it has begun and ended.
    var seconds: Double? {
        guard let started, let ended else { return nil }
        let seconds = ended.seconds - started.seconds
        return seconds >= 0 && seconds < 1e11 ? seconds : nil
    }
}
