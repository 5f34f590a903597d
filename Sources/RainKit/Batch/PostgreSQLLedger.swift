// SPDX-License-Identifier: Apache-2.0

/// A ledger in a PostgreSQL database, for several stations with one list of boards.
///
/// The tables are in the schema that the connection finds first, usually `public`; `psql` can read them: docs/internals/ledger.md describes
/// them. Sessions run out by the server's clock. Each `PostgreSQLLedger` has one connection. A call during which it is lost throws
/// `temporary`, and the next call connects again. If the server does not answer for 10 s, the call and all that wait behind it throw
/// `temporary`.
public final class PostgreSQLLedger: Ledger {
    /// The URL with host, port and database only.
    public let place: String
    private let work: LedgerWork<PostgreSQLLedgerDatabase>

    private init(_ database: PostgreSQLLedgerDatabase) {
        place = database.place
        work = LedgerWork(database, place: database.place)
    }

    /// Connects, and makes the tables if they do not exist.
    ///
    /// Throws `unavailable` if libpq is not installed, the server cannot be reached, or the tables must exist and do not, `auth`, `cannotWrite`, `newer`, `damaged` and
    /// `temporary`. No error has the password.
    /// - Parameters:
    ///   - url: such as `postgresql://user@host/database`. libpq takes what it does not name from the environment and from its files, such as
    ///     the password from `~/.pgpass`.
    ///   - creates: whether to make the tables if they do not exist.
    public static func open(url: String, creates: Bool = true) async throws(LedgerError) -> PostgreSQLLedger {
        try await open(url: url, creates: creates, PostgreSQLLedgerDatabase.migrations)
    }

    static func open(
        url: String, creates: Bool = true, _ migrations: [[String]]
    ) async throws(LedgerError) -> PostgreSQLLedger {
        let ledger = PostgreSQLLedger(try PostgreSQLLedgerDatabase(url: url, creates: creates, migrations))
        try await ledger.run { _ throws(LedgerError) in }
        return ledger
    }

    public func create(_ batch: NewBatch) async throws(LedgerError) -> Batch {
        try await run { database throws(LedgerError) in try database.create(batch) }
    }

    public func batches(limit: Int) async throws(LedgerError) -> [Batch] {
        try await run { database throws(LedgerError) in try database.batches(limit: limit) }
    }

    public func batch(_ id: BatchID) async throws(LedgerError) -> Batch? {
        try await run { database throws(LedgerError) in try database.batch(id) }
    }

    public func counts(of batch: BatchID) async throws(LedgerError) -> BatchCounts {
        try await run { database throws(LedgerError) in try database.counts(of: batch) }
    }

    public func boards(of batch: BatchID, after line: Int, limit: Int) async throws(LedgerError) -> [LedgerBoard] {
        try await run { database throws(LedgerError) in
            try database.boards(of: batch, after: line, limit: limit)
        }
    }

    public func steps(of board: LedgerBoard.ID) async throws(LedgerError) -> [LedgerStep] {
        try await run { database throws(LedgerError) in try database.steps(of: board) }
    }

    public func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> Int? {
        try await run { database throws(LedgerError) in try database.add(board, to: batch, for: session) }
    }

    public func retry(_ batch: BatchID, lines: [Int]?) async throws(LedgerError) -> Int {
        try await run { database throws(LedgerError) in try database.retry(batch, lines: lines) }
    }

    public func openSession(_ station: String, for duration: Duration) async throws(LedgerError) -> LedgerSession.ID {
        try await run { database throws(LedgerError) in try database.openSession(station, for: duration) }
    }

    public func renew(_ session: LedgerSession.ID, for duration: Duration) async throws(LedgerError) {
        try await run { database throws(LedgerError) in try database.renew(session, for: duration) }
    }

    public func closeSession(_ session: LedgerSession.ID) async throws(LedgerError) {
        try await run { database throws(LedgerError) in try database.closeSession(session) }
    }

    public func lease(
        _ count: Int, of batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> [LeasedBoard] {
        try await run { database throws(LedgerError) in try database.lease(count, of: batch, for: session) }
    }

    public func record(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        try await run { database throws(LedgerError) in try database.record(changes) }
    }

    public func close() async {
        try? await work.run { database throws(LedgerError) in database.close() }
    }

    /// Connects first if there is no connection.
    private func run<Answer: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLLedgerDatabase) throws(LedgerError) -> Answer
    ) async throws(LedgerError) -> Answer {
        try await work.run { database throws(LedgerError) in
            try database.connect()
            return try body(database)
        }
    }
}
