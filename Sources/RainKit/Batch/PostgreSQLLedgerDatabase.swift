// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainPostgreSQL

extension PostgreSQLRow: LedgerRow {}

/// The connection of ``PostgreSQLLedger``, and its statements except those of leases and records. All calls block, and one thread at a time
/// makes them.
final class PostgreSQLLedgerDatabase: @unchecked Sendable {
    let place: String
    private let address: PostgreSQLAddress
    private let migrations: [[String]]
    /// Whether missing tables are made.
    private let creates: Bool
    private var connection: PostgreSQLConnection?
    private var isClosed = false
    /// Whether the server was reached before: then it exists, and may only be restarting.
    private var wasOpen = false
    /// The boards that each session has leased here and not finished.
    var held: [LedgerSession.ID: Set<LedgerBoard.ID>] = [:]
    var search = LeaseSearch()
    /// Sessions whose last lease failed, so that they may have boards which are not in ``held``.
    var uncertain: Set<LedgerSession.ID> = []

    static let columns = LedgerColumns {
        #"to_char(\#($0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#
    }

    init(url: String, creates: Bool, _ migrations: [[String]]) throws(LedgerError) {
        self.creates = creates
        do throws(PostgreSQLError) {
            address = try PostgreSQLAddress(url)
        } catch {
            throw LedgerError(.unavailable, "The ledger cannot be opened: \(error.message).")
        }
        place = address.place
        self.migrations = migrations
    }

    // MARK: Connecting

    func close() {
        connection = nil
        isClosed = true
    }

    /// Opens a connection unless there is one.
    func connect() throws(LedgerError) {
        if let connection, !connection.isLost { return }
        guard !isClosed else { throw LedgerError(.unavailable, "The ledger \(place) was closed.") }
        connection = nil
        do throws(PostgreSQLError) {
            let opened = try PostgreSQLConnection(address)
            guard opened.serverEncoding == "UTF8" else {
                throw PostgreSQLError(
                    .refused, state: "22P05", "the database has the encoding \(opened.serverEncoding), not UTF8")
            }
            connection = opened
        } catch {
            throw failure(error)
        }
        do throws(LedgerError) {
            let version = try version()
            guard creates || version > 0 else { throw LedgerError.missing(place) }
            if version < migrations.count { try migrate() }
        } catch {
            connection = nil
            throw error
        }
        wasOpen = true
    }

    /// Returns the version of the tables; 0 for a database without them.
    private func version() throws(LedgerError) -> Int {
        // Not to_regclass(): it may answer from the server's cache, which does not yet know a table that another station has just made.
        let tables = try run(
            "select from pg_tables where tablename = 'schema_version' and schemaname = any (current_schemas(false))")
        guard tables.count > 0 else { return 0 }
        guard let version = try run("select max(version) from schema_version").rows.first?.integer(0) else {
            throw LedgerError(
                .damaged, "\(place) has a table schema_version, but is not a ledger. Use another database.")
        }
        guard version <= migrations.count else { throw LedgerError.newer(place) }
        return Int(version)
    }

    private func migrate() throws(LedgerError) {
        try transaction { () throws(LedgerError) in
            // Other stations may start at the same time. The number is this program's own ("rainkit" in ASCII).
            try run("select pg_advisory_xact_lock(32195222186322292)")
            let version = try version()
            for (index, statements) in migrations.enumerated() where index >= version {
                for statement in statements { try run(statement) }
                try run(
                    "insert into schema_version (version, applied) values ($1::integer, now())",
                    [.integer(Int64(index + 1))])
            }
        }
    }

    // MARK: Batches and boards

    func create(_ batch: NewBatch) throws(LedgerError) -> Batch {
        try transaction { () throws(LedgerError) in
            let created = try run(
                """
                insert into batches (file, sha256, deployment, account_user, created)
                values ($1::text, $2::text, $3::text, $4::text, $5::timestamptz) returning \(Self.columns.batch)
                """,
                [
                    .ledger(batch.file), .ledger(batch.sha256), .ledger(batch.deployment), .ledger(batch.user),
                    .text(LedgerTime.text(batch.created)),
                ])
            let made = try decoded(created) { $0.batch }[0]
            try insert(batch.boards, into: made.id)
            return made
        }
    }

    func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) throws(LedgerError) -> Int? {
        try transaction { () throws(LedgerError) in
            // Stations that add the same board at the same time see each other's. Migrations have the number before this one.
            try run("select pg_advisory_xact_lock(32195222186322293)")
            guard try self.batch(batch) != nil else { throw LedgerError.noBatch(batch, place: self.place) }
            try use(batch, for: session)
            let place = LedgerPlace(board.address)
            let added = try run(
                """
                insert into boards (batch, line, name, address, place)
                select $1::bigint, (select coalesce(max(line), 0) + 1 from boards where batch = $1::bigint), $2::text,
                    $3::text, $4::text
                where not exists (select from boards where batch = $1::bigint and place = $4::text)
                    and not exists (
                        select from boards other
                        join sessions owner on owner.id = other.session or owner.batch = other.batch
                        where other.place = $4::text and other.batch <> $1::bigint and owner.expires > now()
                            and (other.state in ('waiting', 'running') or (other.state = 'done' and $5::bigint = 0))
                            and ($5::bigint = 0 or owner.station = (select station from sessions where id = $6::bigint)))
                returning line
                """,
                [
                    .integer(batch), .ledger(board.name), .ledger(board.address), .ledger(place.text),
                    .integer(place.isLocal ? 1 : 0), .integer(session),
                ])
            return added.rows.first?.integer(0).map { Int($0) }
        }
    }

    /// Records from which batch a session leases. Throws `unavailable` if the session was closed.
    func use(_ batch: BatchID, for session: LedgerSession.ID) throws(LedgerError) {
        let count = try run(
            """
            update sessions set batch = batches.id from batches
            where sessions.id = $1::bigint and batches.id = $2::bigint
            """, [.integer(session), .integer(batch)]
        ).count
        guard count == 1 else { throw LedgerError.noSession(session, place: place) }
    }

    private func insert(_ boards: [NewBatch.Board], into batch: BatchID) throws(LedgerError) {
        // Each statement has the server's time limit.
        var rest = boards[...]
        while !rest.isEmpty {
            let part = rest.prefix(5_000)
            rest = rest.dropFirst(part.count)
            try run(
                """
                insert into boards (batch, line, name, address, place)
                select $1::bigint, line, name, address, place
                from unnest($2::bigint[], $3::text[], $4::text[], $5::text[])
                    with ordinality as b (line, name, address, place, position)
                order by position
                on conflict (batch, line) do nothing
                """,
                [
                    .integer(batch), .integers(part.map { Int64($0.line) }), .texts(part.map(\.name.withoutNUL)),
                    .texts(part.map(\.address.withoutNUL)),
                    .texts(part.map { LedgerPlace($0.address).text.withoutNUL }),
                ])
        }
    }

    func batches(limit: Int) throws(LedgerError) -> [Batch] {
        try decoded(
            try run(
                "select \(Self.columns.batch) from batches order by id desc limit $1::bigint",
                [.integer(Int64(max(0, limit)))])
        ) { $0.batch }
    }

    func batch(_ id: BatchID) throws(LedgerError) -> Batch? {
        try decoded(try run("select \(Self.columns.batch) from batches where id = $1::bigint", [.integer(id)])) {
            $0.batch
        }.first
    }

    func counts(of batch: BatchID) throws(LedgerError) -> BatchCounts {
        try decoded(
            try run(
                """
                select count(*) filter (where state = 'waiting'), count(*) filter (where state = 'running'),
                    count(*) filter (where state = 'done'), count(*) filter (where state = 'failed'),
                    count(*) filter (
                        where state = 'running' and session in (select id from sessions where expires <= now()))
                from boards where batch = $1::bigint
                """, [.integer(batch)])
        ) { $0.counts }[0]
    }

    func boards(of batch: BatchID, after line: Int, limit: Int) throws(LedgerError) -> [LedgerBoard] {
        try decoded(
            try run(
                """
                select \(Self.columns.board) from boards
                where batch = $1::bigint and line > $2::bigint order by line limit $3::bigint
                """, [.integer(batch), .integer(Int64(line)), .integer(Int64(max(0, limit)))])
        ) { $0.board }
    }

    func steps(of board: LedgerBoard.ID) throws(LedgerError) -> [LedgerStep] {
        try decoded(
            try run(
                "select \(Self.columns.step) from steps where board = $1::bigint and event = 'step' order by id",
                [.integer(board)])
        ) { $0.step }
    }

    func retry(_ batch: BatchID, lines: [Int]?) throws(LedgerError) -> Int {
        try run(
            """
            update boards set state = 'waiting', failure_code = null, failure_reason = null, failure_message = null,
                failure_remedy = null, ended = null
            where batch = $1::bigint and state = 'failed' and ($2::bigint[] is null or line = any ($2::bigint[]))
            """, [.integer(batch), lines.map { .integers($0.map(Int64.init)) } ?? .null]
        ).count
    }

    // MARK: Sessions

    func openSession(_ station: String, for duration: Duration) throws(LedgerError) -> LedgerSession.ID {
        let opened = try run(
            """
            insert into sessions (station, expires)
            values ($1::text, now() + $2::double precision * interval '1 second') returning id
            """, [.ledger(station), .text(String(duration.ledgerSeconds))])
        return try decoded(opened) { $0.integer(0) }[0]
    }

    func renew(_ session: LedgerSession.ID, for duration: Duration) throws(LedgerError) {
        let count = try run(
            """
            update sessions set expires = now() + $2::double precision * interval '1 second' where id = $1::bigint
            """, [.integer(session), .text(String(duration.ledgerSeconds))]
        ).count
        guard count == 1 else { throw LedgerError.noSession(session, place: place) }
    }

    func closeSession(_ session: LedgerSession.ID) throws(LedgerError) {
        try transaction { () throws(LedgerError) in
            // The session's row is first, so that no lease for it comes between.
            try run("select id from sessions where id = $1::bigint for update", [.integer(session)])
            try run(
                """
                update boards set state = 'waiting', session = null
                where id in (select id from boards where session = $1::bigint order by id for update)
                """, [.integer(session)])
            try run("delete from sessions where id = $1::bigint", [.integer(session)])
        }
        held[session] = nil
        uncertain.remove(session)
    }

    // MARK: Steps

    @discardableResult
    func run(_ sql: String, _ values: [PostgreSQLValue] = []) throws(LedgerError) -> PostgreSQLResult {
        do throws(PostgreSQLError) { return try statement(sql, values) } catch { throw failure(error) }
    }

    /// Runs a statement whose errors the caller reads.
    func statement(_ sql: String, _ values: [PostgreSQLValue]) throws(PostgreSQLError) -> PostgreSQLResult {
        guard let connection else { throw PostgreSQLError(.lost, "the connection has ended") }
        return try connection.run(sql, values)
    }

    func transaction<Result>(_ body: () throws(LedgerError) -> Result) throws(LedgerError) -> Result {
        guard let connection else { throw failure(PostgreSQLError(.lost, "the connection has ended")) }
        return try connection.transaction(orThrow: failure, body)
    }

    func decoded<Value>(
        _ result: PostgreSQLResult, _ decode: (PostgreSQLRow) -> Value?
    ) throws(LedgerError) -> [Value] {
        try LedgerError.decoded(result.rows, place: place, decode)
    }

    func failure(_ error: PostgreSQLError) -> LedgerError {
        var failure = LedgerError(code(of: error), sentence(error))
        failure.hasWaited = error.code == .timedOut
        return failure
    }

    private func code(of error: PostgreSQLError) -> LedgerError.Code {
        guard let state = error.state else {
            switch error.code {
            case .libraryMissing, .invalidAddress: return .unavailable
            case .unreachable, .timedOut: return wasOpen ? .temporary : .unavailable
            case .lost, .refused: return .temporary
            case .noPassword: return .auth
            case .invalidText: return .cannotWrite
            }
        }
        // PostgreSQL's manual, appendix A.
        switch state {
        case "28000", "28P01": return .auth
        case "3D000", "57P04": return .unavailable
        case "53000", "53200", "53300", "55P03", "57014", "57P01", "57P02", "57P03", "57P05", "25P03": return .temporary
        case "42P01", "42P07", "42703", "42710", "XX001", "XX002", "23505", "23503": return .damaged
        default: return state.hasPrefix("08") || state.hasPrefix("40") ? .temporary : .cannotWrite
        }
    }

    private func sentence(_ error: PostgreSQLError) -> String {
        if error.code == .noPassword {
            let advice =
                error.ignoredFile.map {
                    ", because the file \($0.onOneLine) is ignored: other users may read it. Take away their rights with chmod 600."
                } ?? ". Write the password into ~/.pgpass, or into the file that PGPASSFILE names."
            return "The server of \(place) asks for a password, and none was given\(advice)"
        }
        if error.state == "53100" {
            return "The disk of the server of \(place) is full (\(error.message)). Free some space there."
        }
        return switch code(of: error) {
        case .auth:
            "The server of \(place) does not accept the user or the password (\(error.message)). Correct the URL, or ~/.pgpass."
        case .temporary: "The ledger \(place) does not answer at the moment: \(error.message). Try again."
        case .damaged: "\(place) is not a ledger, or it is damaged: \(error.message). Use another database."
        case .cannotWrite: "The ledger \(place) cannot be read or written: \(error.message)."
        default: "The ledger \(place) cannot be reached: \(error.message). Check the URL, and whether the server runs."
        }
    }
}

extension PostgreSQLValue {
    static func ledger(_ text: String?) -> PostgreSQLValue { text.map { .text($0.withoutNUL) } ?? .null }
}
