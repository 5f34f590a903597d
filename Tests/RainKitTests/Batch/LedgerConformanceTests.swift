// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("The checks of ledgers", .enabled(if: hasSQLite, "libsqlite3 is not installed"))
struct LedgerConformanceTests {
    @Test("find a ledger that breaks one promise", arguments: DefectiveLedger.Defect.allCases)
    func defects(defect: DefectiveLedger.Defect) async throws {
        try await withTemporaryFolder { folder in
            let number = Atomic(0)
            await #expect(throws: LedgerConformance.Failure.self) {
                try await LedgerConformance.check {
                    let path = folder.file("\(number.add(1, ordering: .relaxed).newValue).db")
                    let clock = ManualWallClock()
                    return LedgerConformance.Subject(
                        DefectiveLedger(defect, try await SQLiteLedger.open(path: path, clock: clock)),
                        other: DefectiveLedger(defect, try await SQLiteLedger.open(path: path, clock: clock))
                    ) { clock.advance(seconds: Double($0.components.seconds)) }
                }
            }
        }
    }
}

/// A ledger that breaks one promise.
final class DefectiveLedger: Ledger {
    enum Defect: CaseIterable, Sendable {
        case oldestBatchFirst, cutsTexts, countsAbandonedAsWaiting, pagesOverlap, stepsReversed, addFails, addsKnown,
            retriesAll
        case leasesAgain, leasesInDisorder, keepsFence, renewsClosed, closingKeepsBoards
        case acceptsOldFences, refusesRepetition, refusesDuplicates, recordsHalf, acceptsAfterEnd
    }

    private let defect: Defect
    private let ledger: SQLiteLedger
    private let leased = Mutex<[LeasedBoard]>([])
    var place: String { ledger.place }

    init(_ defect: Defect, _ ledger: SQLiteLedger) { (self.defect, self.ledger) = (defect, ledger) }

    func create(_ batch: NewBatch) async throws(LedgerError) -> Batch {
        var batch = batch
        if defect == .cutsTexts {
            batch.boards = batch.boards.map {
                .init(line: $0.line, name: String($0.name.prefix(255)), address: $0.address)
            }
        }
        return try await ledger.create(batch)
    }

    func batches(limit: Int) async throws(LedgerError) -> [Batch] {
        let found = try await ledger.batches(limit: limit)
        return defect == .oldestBatchFirst ? found.reversed() : found
    }

    func batch(_ id: BatchID) async throws(LedgerError) -> Batch? { try await ledger.batch(id) }

    func counts(of batch: BatchID) async throws(LedgerError) -> BatchCounts {
        var counts = try await ledger.counts(of: batch)
        if defect == .countsAbandonedAsWaiting {
            (counts.waiting, counts.abandoned) = (counts.waiting + counts.abandoned, 0)
        }
        return counts
    }

    func boards(of batch: BatchID, after line: Int, limit: Int) async throws(LedgerError) -> [LedgerBoard] {
        try await ledger.boards(of: batch, after: defect == .pagesOverlap ? line - 1 : line, limit: limit)
    }

    func steps(of board: LedgerBoard.ID) async throws(LedgerError) -> [LedgerStep] {
        let steps = try await ledger.steps(of: board)
        return defect == .stepsReversed ? steps.reversed() : steps
    }

    func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> Int? {
        if defect == .addFails { return 1 }
        let line = try await ledger.add(board, to: batch, for: session)
        return line == nil && defect == .addsKnown ? 99 : line
    }

    func retry(_ batch: BatchID, lines: [Int]?) async throws(LedgerError) -> Int {
        try await ledger.retry(batch, lines: defect == .retriesAll ? nil : lines)
    }

    func openSession(_ station: String, for duration: Duration) async throws(LedgerError) -> LedgerSession.ID {
        try await ledger.openSession(station, for: duration)
    }

    func renew(_ session: LedgerSession.ID, for duration: Duration) async throws(LedgerError) {
        do throws(LedgerError) { try await ledger.renew(session, for: duration) } catch {
            if defect != .renewsClosed { throw error }
        }
    }

    func closeSession(_ session: LedgerSession.ID) async throws(LedgerError) {
        if defect != .closingKeepsBoards { try await ledger.closeSession(session) }
    }

    func lease(
        _ count: Int, of batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> [LeasedBoard] {
        var found = try await ledger.lease(count, of: batch, for: session)
        let earlier = leased.withLock { all in
            defer { all += found }
            return all
        }
        switch defect {
        case .leasesAgain: found += earlier.prefix(count - found.count)
        case .leasesInDisorder: found.reverse()
        case .keepsFence: for index in found.indices { found[index].fence = 1 }
        default: break
        }
        return found
    }

    func record(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        if defect == .recordsHalf, Task.isCancelled {
            _ = try await ledger.record(Array(changes.prefix(changes.count / 2)))
            throw LedgerError(.cancelled, "")
        }
        let known = defect == .refusesRepetition ? try await numbers(of: changes) : []
        let outcomes = try await ledger.record(changes)
        return zip(changes, outcomes).map { change, outcome in
            switch (defect, outcome) {
            case (.acceptsOldFences, .lost) where change.fence == 1: .recorded
            case (.refusesDuplicates, .duplicate): .lost
            case (.refusesRepetition, .recorded) where known.contains(change.number): .lost
            case (.acceptsAfterEnd, .lost) where change.number == 2: .recorded
            default: outcome
            }
        }
    }

    /// The numbers of changes that were recorded here before.
    private let recorded = Mutex<[LedgerBoard.ID: Set<Int>]>([:])

    private func numbers(of changes: [LedgerChange]) async throws(LedgerError) -> Set<Int> {
        recorded.withLock { all in
            var known: Set<Int> = []
            for change in changes where !all[change.board, default: []].insert(change.number).inserted {
                known.insert(change.number)
            }
            return known
        }
    }

    func close() async { await ledger.close() }
}
