// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// A ledger in one file, for the stations of one user on one machine.
///
/// The file is a SQLite database (WAL, `synchronous=FULL`), which `sqlite3` can read: docs/internals/ledger.md describes its tables. Several
/// processes may use it at once. A call waits at most 5 s for other processes, and then throws `temporary`.
public final class SQLiteLedger: Ledger {
    /// The path of the file.
    public let place: String
    private let work: LedgerWork<SQLiteLedgerDatabase>

    private init(place: String, _ database: SQLiteLedgerDatabase) {
        self.place = place
        work = LedgerWork(database, place: place)
    }

    /// Opens the file, or makes it with mode 0600 in a folder with mode 0700.
    ///
    /// Throws `unavailable` if libsqlite3 is not installed, or if the file must exist and does not, `cannotWrite` if the file system does not allow it, if others may read the
    /// file or write to its folder, or for a symbolic link, `newer`, `damaged` and `temporary`.
    /// - Parameters:
    ///   - creates: whether to make the file if it does not exist.
    ///   - clock: gives the time at which sessions run out. All processes that use the file need the same time.
    public static func open(
        path: String, creates: Bool = true, clock: any WallClock = SystemWallClock()
    ) async throws(LedgerError) -> SQLiteLedger {
        var options = SQLiteLedgerDatabase.Options()
        options.creates = creates
        return try await open(path: path, clock: clock, options)
    }

    static func open(
        path: String, clock: any WallClock = SystemWallClock(), _ options: SQLiteLedgerDatabase.Options
    ) async throws(LedgerError) -> SQLiteLedger {
        let ledger = SQLiteLedger(place: path, SQLiteLedgerDatabase(path: path, clock: clock, options))
        try await ledger.work.run { database throws(LedgerError) in try database.open() }
        return ledger
    }

    public func create(_ batch: NewBatch) async throws(LedgerError) -> Batch {
        try await work.run { database throws(LedgerError) in try database.create(batch) }
    }

    public func batches(limit: Int) async throws(LedgerError) -> [Batch] {
        try await work.run { database throws(LedgerError) in try database.batches(limit: limit) }
    }

    public func batch(_ id: BatchID) async throws(LedgerError) -> Batch? {
        try await work.run { database throws(LedgerError) in try database.batch(id) }
    }

    public func counts(of batch: BatchID) async throws(LedgerError) -> BatchCounts {
        try await work.run { database throws(LedgerError) in try database.counts(of: batch) }
    }

    public func boards(of batch: BatchID, after line: Int, limit: Int) async throws(LedgerError) -> [LedgerBoard] {
        try await work.run { database throws(LedgerError) in
            try database.boards(of: batch, after: line, limit: limit)
        }
    }

    public func steps(of board: LedgerBoard.ID) async throws(LedgerError) -> [LedgerStep] {
        try await work.run { database throws(LedgerError) in try database.steps(of: board) }
    }

    public func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> Int? {
        try await work.run { database throws(LedgerError) in try database.add(board, to: batch, for: session) }
    }

    public func retry(_ batch: BatchID, lines: [Int]?) async throws(LedgerError) -> Int {
        try await work.run { database throws(LedgerError) in try database.retry(batch, lines: lines) }
    }

    public func openSession(_ station: String, for duration: Duration) async throws(LedgerError) -> LedgerSession.ID {
        try await work.run { database throws(LedgerError) in try database.openSession(station, for: duration) }
    }

    public func renew(_ session: LedgerSession.ID, for duration: Duration) async throws(LedgerError) {
        try await work.run { database throws(LedgerError) in try database.renew(session, for: duration) }
    }

    public func closeSession(_ session: LedgerSession.ID) async throws(LedgerError) {
        try await work.run { database throws(LedgerError) in try database.closeSession(session) }
    }

    public func lease(
        _ count: Int, of batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> [LeasedBoard] {
        try await work.run { database throws(LedgerError) in try database.lease(count, of: batch, for: session) }
    }

    public func record(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        try await work.run { database throws(LedgerError) in try database.record(changes) }
    }

    public func close() async {
        try? await work.run { database throws(LedgerError) in database.close() }
    }
}
