// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import RainCore
import RainPrivateFiles
import RainSQLite

extension SQLiteRow: LedgerRow {}

/// The statements of ``SQLiteLedger``. All calls block, and one thread at a time makes them.
final class SQLiteLedgerDatabase: @unchecked Sendable {
    /// What tests change.
    struct Options: Sendable {
        /// Whether a missing file is made.
        var creates = true
        /// Each makes the next version of the tables.
        var migrations = SQLiteLedgerDatabase.migrations
        var busyTimeout = SQLiteConnection.busyTimeout
        /// The size of the file at which the disk counts as full, in pages; nil for none.
        var maximumPages: Int?
    }

    private let path: String
    private let clock: any WallClock
    private let options: Options
    private var connection: SQLiteConnection?
    private static let columns = LedgerColumns { $0 }

    init(path: String, clock: any WallClock, _ options: Options) {
        self.path = path
        self.clock = clock
        self.options = options
    }

    // MARK: Opening

    func open() throws(LedgerError) {
        if !options.creates, access(path, F_OK) != 0, errno == ENOENT { throw LedgerError.missing(path) }
        let file: String
        let (folder, name) = PrivateFile(path: path).place
        // Such a folder is made by hand, as a place for data. A missing one is a mistake, or a disk that is not mounted.
        if folder.hasPrefix("/"), folder.lastIndex(of: "/") == folder.startIndex, access(folder, F_OK) != 0,
            errno == ENOENT
        {
            throw LedgerError(
                .cannotWrite,
                "The ledger cannot be opened: the folder \(folder.onOneLine) does not exist. Create it, or use another path for the ledger."
            )
        }
        do throws(PrivateFileError) {
            guard let folder = try PrivateFolder.open(folder, create: true) else {
                throw PrivateFileError.missing(folder)
            }
            file = try folder.prepareFile(name)
        } catch {
            throw LedgerError(.cannotWrite, "The ledger cannot be opened: \(advice(on: error)).")
        }
        do throws(SQLiteError) {
            let connection = try SQLiteConnection(path: file, busyTimeout: options.busyTimeout)
            self.connection = connection
            try connection.run("pragma foreign_keys = on")
            try connection.run("pragma trusted_schema = off")
            guard try connection.rows("pragma journal_mode = wal").first?.text(0) == "wal" else {
                throw SQLiteError(.inaccessible, "the file system does not support write-ahead logging (WAL)")
            }
            try connection.run("pragma synchronous = full")
            if let pages = options.maximumPages { try connection.run("pragma max_page_count = \(pages)") }
        } catch {
            throw failure(error)
        }
        if try version() < options.migrations.count {
            try transaction { () throws(LedgerError) in try migrate(from: try version()) }
        }
    }

    /// The error with advice for a record that must not be lost: what is in its place may be needed.
    private func advice(on error: PrivateFileError) -> String {
        if let kind = error.kind { return "\(error.path) is \(kind), not a file: use another path for the ledger" }
        switch error.code {
        case .symbolicLink:
            return "\(error.path) is a symbolic link: use the path of the file that it leads to"
        case .notPrivate where error.owner == nil:
            return "\(error.path) is not private: take away the rights of other users (chmod 600)"
        default: return "\(error)"
        }
    }

    func close() { connection = nil }

    /// Returns a setting of the connection (`pragma NAME`), for tests.
    func setting(_ name: String) throws(LedgerError) -> String {
        let row = try rows("pragma \(name)").first
        return row?.text(0) ?? row?.integer(0).map { "\($0)" } ?? ""
    }

    /// Returns the version of the tables; 0 for an empty file.
    private func version() throws(LedgerError) -> Int {
        let tables = try rows("select count(*), sum(name = 'schema_version') from sqlite_master where type = 'table'")
        guard tables.first?.integer(0) != 0 else { return 0 }
        guard tables.first?.integer(1) == 1,
            let version = try rows("select max(version) from schema_version")
                .first?.integer(0)
        else { throw LedgerError(.damaged, "\(path) is a SQLite database, but not a ledger. Use another file.") }
        guard version <= options.migrations.count else { throw LedgerError.newer(path) }
        return Int(version)
    }

    private func migrate(from version: Int) throws(LedgerError) {
        for (index, statements) in options.migrations.enumerated() where index >= version {
            for statement in statements { try run(statement) }
            try run(
                "insert into schema_version (version, applied) values (?, ?)", [.integer(Int64(index + 1)), .text(now)])
        }
    }

    // MARK: Batches and boards

    func create(_ batch: NewBatch) throws(LedgerError) -> Batch {
        try transaction { () throws(LedgerError) in
            let connection = try connected()
            try run(
                "insert into batches (file, sha256, deployment, account_user, created) values (?, ?, ?, ?, ?)",
                [
                    .ledger(batch.file), .ledger(batch.sha256), .ledger(batch.deployment), .ledger(batch.user),
                    .text(LedgerTime.text(batch.created)),
                ])
            let id = connection.lastInsertedID
            try insert(batch.boards, into: id)
            return try decoded(try rows("select \(Self.columns.batch) from batches where id = ?", [.integer(id)])) {
                $0.batch
            }[0]
        }
    }

    func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) throws(LedgerError) -> Int? {
        try transaction { () throws(LedgerError) in
            guard try self.batch(batch) != nil else { throw LedgerError.noBatch(batch, place: path) }
            try use(batch, for: session)
            let place = LedgerPlace(board.address)
            let added = try rows(
                """
                insert into boards (batch, line, name, address, place)
                select ?1, (select coalesce(max(line), 0) + 1 from boards where batch = ?1), ?2, ?3, ?4
                where not exists (select 1 from boards where batch = ?1 and place = ?4)
                    and not exists (
                        select 1 from boards other
                        join sessions owner on owner.id = other.session or owner.batch = other.batch
                        where other.place = ?4 and other.batch <> ?1 and owner.expires > ?5
                            and (other.state in ('waiting', 'running') or (other.state = 'done' and ?6 = 0))
                            and (?6 = 0 or owner.station = (select station from sessions where id = ?7)))
                returning line
                """,
                [
                    .integer(batch), .ledger(board.name), .ledger(board.address), .ledger(place.text), .text(now),
                    .integer(place.isLocal ? 1 : 0), .integer(session),
                ])
            return added.first?.integer(0).map { Int($0) }
        }
    }

    /// Records from which batch a session leases. Throws `unavailable` if the session was closed.
    private func use(_ batch: BatchID, for session: LedgerSession.ID) throws(LedgerError) {
        guard
            try run("update sessions set batch = ? where id = ?", [.integer(batch), .integer(session)]) == 1
        else { throw LedgerError.noSession(session, place: path) }
    }

    private func insert(_ boards: [NewBatch.Board], into batch: BatchID) throws(LedgerError) {
        for board in boards {
            try run(
                """
                insert into boards (batch, line, name, address, place) values (?, ?, ?, ?, ?)
                on conflict (batch, line) do nothing
                """,
                [
                    .integer(batch), .integer(Int64(board.line)), .ledger(board.name), .ledger(board.address),
                    .ledger(LedgerPlace(board.address).text),
                ])
        }
    }

    func batches(limit: Int) throws(LedgerError) -> [Batch] {
        try decoded(
            try rows(
                "select \(Self.columns.batch) from batches order by id desc limit ?", [.integer(Int64(max(0, limit)))])
        ) { $0.batch }
    }

    func batch(_ id: BatchID) throws(LedgerError) -> Batch? {
        try decoded(try rows("select \(Self.columns.batch) from batches where id = ?", [.integer(id)])) { $0.batch }
            .first
    }

    func counts(of batch: BatchID) throws(LedgerError) -> BatchCounts {
        let rows = try rows(
            """
            select count(*) filter (where state = 'waiting'), count(*) filter (where state = 'running'),
                count(*) filter (where state = 'done'), count(*) filter (where state = 'failed'),
                count(*) filter (where state = 'running' and session in (select id from sessions where expires <= ?))
            from boards where batch = ?
            """, [.text(now), .integer(batch)])
        return try decoded(rows) { $0.counts }[0]
    }

    func boards(of batch: BatchID, after line: Int, limit: Int) throws(LedgerError) -> [LedgerBoard] {
        try decoded(
            try rows(
                "select \(Self.columns.board) from boards where batch = ? and line > ? order by line limit ?",
                [.integer(batch), .integer(Int64(line)), .integer(Int64(max(0, limit)))])
        ) { $0.board }
    }

    func steps(of board: LedgerBoard.ID) throws(LedgerError) -> [LedgerStep] {
        try decoded(
            try rows(
                "select \(Self.columns.step) from steps where board = ? and event = 'step' order by id",
                [.integer(board)])
        ) { $0.step }
    }

    func retry(_ batch: BatchID, lines: [Int]?) throws(LedgerError) -> Int {
        let update = """
            update boards set state = 'waiting', failure_code = null, failure_reason = null, failure_message = null,
                failure_remedy = null, ended = null
            where batch = ? and state = 'failed'
            """
        guard let lines else { return try run(update, [.integer(batch)]) }
        return try transaction { () throws(LedgerError) in
            var count = 0
            for line in lines {
                count += try run(update + " and line = ?", [.integer(batch), .integer(Int64(line))])
            }
            return count
        }
    }

    // MARK: Sessions

    func openSession(_ station: String, for duration: Duration) throws(LedgerError) -> LedgerSession.ID {
        let connection = try connected()
        try run(
            "insert into sessions (station, expires) values (?, ?)",
            [.ledger(station), .text(LedgerTime.text(clock.now + duration.ledgerSeconds))])
        return connection.lastInsertedID
    }

    func renew(_ session: LedgerSession.ID, for duration: Duration) throws(LedgerError) {
        let count = try run(
            "update sessions set expires = ? where id = ?",
            [.text(LedgerTime.text(clock.now + duration.ledgerSeconds)), .integer(session)])
        guard count == 1 else { throw LedgerError.noSession(session, place: path) }
    }

    func closeSession(_ session: LedgerSession.ID) throws(LedgerError) {
        try transaction { () throws(LedgerError) in
            try run("update boards set state = 'waiting', session = null where session = ?", [.integer(session)])
            try run("delete from sessions where id = ?", [.integer(session)])
        }
    }

    func lease(
        _ count: Int, of batch: BatchID, for session: LedgerSession.ID
    ) throws(LedgerError) -> [LeasedBoard] {
        try transaction { () throws(LedgerError) in
            let now = now
            guard let owner = try rows("select station, batch from sessions where id = ?", [.integer(session)]).first
            else { throw LedgerError.noSession(session, place: path) }
            let station = owner.text(0) ?? ""
            if owner.integer(1) != batch, try self.batch(batch) != nil { try use(batch, for: session) }
            let free = try rows(
                """
                select id from boards
                where batch = ?1 and state in ('waiting', 'running')
                    and (state = 'waiting' or session in (select id from sessions where expires <= ?2 and id <> ?3))
                    and not exists (
                        select 1 from boards other join sessions owner on owner.id = other.session
                        where other.place = boards.place and other.place <> '' and other.state = 'running'
                            and other.batch <> ?1 and owner.expires > ?2 and owner.id <> ?3
                            and (owner.station = ?4 or not \(LedgerPlace.isLocal("other.place"))))
                order by line limit ?5
                """,
                [.integer(batch), .text(now), .integer(session), .text(station), .integer(Int64(max(0, count)))])
            var leased: [LeasedBoard] = []
            for id in free.compactMap({ $0.integer(0) }) {
                try run(
                    """
                    update boards set state = 'running', attempt = attempt + 1, session = ?, station = ?, started = ?
                    where id = ?
                    """,
                    [.integer(session), .text(station), .text(now), .integer(id)])
                leased += try decoded(
                    try rows("select \(Self.columns.board) from boards where id = ?", [.integer(id)])
                ) { $0.board.map { LeasedBoard(board: $0, session: session, fence: Int64($0.attempt)) } }
            }
            return leased
        }
    }

    // MARK: Recording

    func record(_ changes: [LedgerChange]) throws(LedgerError) -> [LedgerChange.Outcome] {
        guard !changes.isEmpty else { return [] }
        return try transaction { () throws(LedgerError) in
            var outcomes: [LedgerChange.Outcome] = []
            for change in changes { outcomes.append(try record(change)) }
            return outcomes
        }
    }

    private func record(_ change: LedgerChange) throws(LedgerError) -> LedgerChange.Outcome {
        let columns = change.columns
        let connection = try connected()
        let isNew = try run(
            """
            insert into steps (board, attempt, number, station, event, step, state, time)
            select id, attempt, ?, station, ?, ?, ?, ? from boards
            where id = ? and session = ? and attempt = ? and state = 'running'
            on conflict (board, attempt, number) do nothing
            """,
            [
                .integer(Int64(change.number)), .text(columns.event), .ledger(columns.step),
                .ledger(columns.stepState?.rawValue), .text(LedgerTime.text(change.time)), .integer(change.board),
                .integer(change.session), .integer(change.fence),
            ])
        guard isNew == 1 else {
            let known = try rows(
                "select id from steps where board = ? and attempt = ? and number = ?",
                [.integer(change.board), .integer(change.fence), .integer(Int64(change.number))])
            return known.isEmpty ? .lost : .recorded
        }
        let step = connection.lastInsertedID
        if columns.nodeID != nil || columns.mac != nil {
            let other = try rows(
                """
                select line from boards where batch = (select batch from boards where id = ?1) and id <> ?1
                    and (node_id = ?2 or mac = ?3) order by line limit 1
                """, [.integer(change.board), .ledger(columns.nodeID), .ledger(columns.mac)])
            if let line = other.first?.integer(0) {
                try run("delete from steps where id = ?", [.integer(step)])
                return .duplicate(line: Int(line))
            }
        }
        try apply(columns, of: change)
        return .recorded
    }

    private func apply(_ columns: LedgerChange.Columns, of change: LedgerChange) throws(LedgerError) {
        try run(
            """
            update boards set step = coalesce(?, step), step_state = coalesce(?, step_state),
                node_id = coalesce(?, node_id), mac = coalesce(?, mac)
            where id = ?
            """,
            [
                .ledger(columns.step), .ledger(columns.stepState?.rawValue), .ledger(columns.nodeID),
                .ledger(columns.mac), .integer(change.board),
            ])
        guard let verdict = columns.verdict else { return }
        try run(
            """
            update boards set state = ?, session = null, failure_code = ?, failure_reason = ?, failure_message = ?,
                failure_remedy = ?, ended = ?
            where id = ?
            """,
            [
                .text(verdict.rawValue), columns.failure.map { .integer(Int64($0.code)) } ?? .null,
                .ledger(columns.failure?.reason), .ledger(columns.failure?.message), .ledger(columns.failure?.remedy),
                verdict == .waiting ? .null : .text(LedgerTime.text(change.time)), .integer(change.board),
            ])
    }

    // MARK: Steps

    private var now: String { LedgerTime.text(clock.now) }

    private func connected() throws(LedgerError) -> SQLiteConnection {
        guard let connection else { throw LedgerError(.unavailable, "The ledger \(path) was closed.") }
        return connection
    }

    @discardableResult
    private func run(_ sql: String, _ values: [SQLiteValue] = []) throws(LedgerError) -> Int {
        let connection = try connected()
        do throws(SQLiteError) { return try connection.run(sql, values) } catch { throw failure(error) }
    }

    private func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(LedgerError) -> [SQLiteRow] {
        let connection = try connected()
        do throws(SQLiteError) { return try connection.rows(sql, values) } catch { throw failure(error) }
    }

    private func transaction<Result>(_ body: () throws(LedgerError) -> Result) throws(LedgerError) -> Result {
        try connected().transaction(orThrow: failure, body)
    }

    private func decoded<Value>(_ rows: [SQLiteRow], _ decode: (SQLiteRow) -> Value?) throws(LedgerError) -> [Value] {
        try LedgerError.decoded(rows, place: path, decode)
    }

    private func failure(_ error: SQLiteError) -> LedgerError {
        switch error.code {
        case .libraryMissing: return LedgerError(.unavailable, "The ledger \(path) cannot be opened: \(error.message).")
        case .busy:
            var failure = LedgerError(
                .temporary,
                "Another process has locked the ledger \(path) for too long. Try again when that process has ended.")
            failure.hasWaited = true
            return failure
        case .full:
            return LedgerError(.cannotWrite, "The disk is full: the ledger \(path) cannot grow. Free some space.")
        case .inaccessible, .invalidText:
            return LedgerError(.cannotWrite, "The ledger \(path) cannot be read or written: \(error.message).")
        case .damaged, .constraint, .other:
            return LedgerError(
                .damaged,
                "\(path) is not a ledger, or it is damaged: \(error.message). Move the file away, or restore a copy of it."
            )
        }
    }
}

extension SQLiteValue {
    fileprivate static func ledger(_ text: String?) -> SQLiteValue { text.map { .text($0.withoutNUL) } ?? .null }
}
