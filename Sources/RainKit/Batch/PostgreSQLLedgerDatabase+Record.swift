// SPDX-License-Identifier: Apache-2.0
import RainPostgreSQL

/// Leases and records. A round of changes costs one statement, which is a transaction of its own, however many boards it is about.
extension PostgreSQLLedgerDatabase {
    /// The line at which the search for the next free board begins.
    ///
    /// Boards are leased in the order of their lines. While another program holds a snapshot, the server keeps the earlier versions of all
    /// boards and reads past them again at each search. So a search of a session begins where its last one ended. Boards that were put back
    /// are before that: every so often, and when too few are found, a search begins at the first line.
    struct LeaseSearch {
        private static let longest = 20
        private var subject: [Int64]?
        private var line: Int64 = 0
        private var searches = 0

        mutating func next(_ batch: BatchID, _ session: LedgerSession.ID) -> Int64 {
            searches += 1
            if subject != [batch, session] || searches > Self.longest { begin() }
            return line
        }

        mutating func begin() { (subject, line, searches) = (nil, 0, 0) }

        mutating func found(_ line: Int64, _ batch: BatchID, _ session: LedgerSession.ID) {
            (subject, self.line) = ([batch, session], line)
        }
    }

    // MARK: Leasing

    func lease(
        _ count: Int, of batch: BatchID, for session: LedgerSession.ID
    ) throws(LedgerError) -> [LeasedBoard] {
        if uncertain.contains(session) { try putBackUnknownBoards(of: session) }
        if held[session] == nil, try self.batch(batch) != nil { try use(batch, for: session) }
        let line = search.next(batch, session)
        var boards = try lease(count, of: batch, from: line, for: session)
        if boards.count < count, line > 0 {
            search.begin()
            held[session, default: []].formUnion(boards.map(\.id))
            boards += try lease(count - boards.count, of: batch, from: 0, for: session)
        }
        if boards.isEmpty {
            let exists = try run("select from sessions where id = $1::bigint", [.integer(session)]).count == 1
            guard exists else { throw LedgerError.noSession(session, place: place) }
        }
        held[session, default: []].formUnion(boards.map(\.id))
        if let last = boards.map(\.line).max() { search.found(Int64(last), batch, session) }
        return boards.sorted { $0.line < $1.line }.map {
            LeasedBoard(board: $0, session: session, fence: Int64($0.attempt))
        }
    }

    private func lease(
        _ count: Int, of batch: BatchID, from line: Int64, for session: LedgerSession.ID
    ) throws(LedgerError) -> [LedgerBoard] {
        do throws(LedgerError) {
            return try decoded(
                try run(
                    """
                    with owner as materialized (
                        select id as owner, station as owner_station from sessions where id = $3::bigint for key share
                    ), free as materialized (
                        select id as free_board from boards
                        where batch = $1::bigint and line >= $4::bigint and state in ('waiting', 'running')
                            and exists (select from owner)
                            and (state = 'waiting'
                                or session in (select id from sessions where expires <= now() and id <> $3::bigint))
                            and not exists (
                                select from boards other join sessions on sessions.id = other.session
                                where other.place = boards.place and other.place <> ''
                                    and other.batch <> $1::bigint and sessions.expires > now()
                                    and sessions.id <> $3::bigint
                                    and (sessions.station = (select owner_station from owner)
                                        or not \(LedgerPlace.isLocal("other.place"))))
                        order by line limit $2::bigint
                        for update skip locked
                    )
                    update boards set state = 'running', attempt = attempt + 1, session = owner, station = owner_station,
                        started = now()
                    from free, owner where id = free_board
                    returning \(Self.columns.board)
                    """, [.integer(batch), .integer(Int64(max(0, count))), .integer(session), .integer(line)])
            ) { $0.board }
        } catch {
            if error.code == .temporary { uncertain.insert(session) }
            throw error
        }
    }

    /// The answer to an earlier lease was lost: nobody knows the boards that it leased.
    private func putBackUnknownBoards(of session: LedgerSession.ID) throws(LedgerError) {
        try run(
            """
            update boards set state = 'waiting', session = null
            where session = $1::bigint and id <> all ($2::bigint[])
            """, [.integer(session), .integers(held[session, default: []].sorted())])
        uncertain.remove(session)
    }

    // MARK: Recording

    func record(_ changes: [LedgerChange]) throws(LedgerError) -> [LedgerChange.Outcome] {
        guard !changes.isEmpty else { return [] }
        let outcomes = try outcomes(changes)
        for (change, outcome) in zip(changes, outcomes)
        where outcome == .lost || (outcome == .recorded && change.columns.verdict != nil) {
            held[change.session]?.remove(change.board)
        }
        return outcomes
    }

    /// How often a record is tried again that met another station's.
    private static let tries = 5

    private func outcomes(_ changes: [LedgerChange]) throws(LedgerError) -> [LedgerChange.Outcome] {
        var attempt = 0
        while true {
            attempt += 1
            do throws(PostgreSQLError) {
                return try recordTogether(changes)
            } catch {
                if error.state == "23505" { return try recordOneByOne(changes) }
                // Two stations wait for each other's identities.
                guard error.state == "40P01", attempt < Self.tries else { throw failure(error) }
            }
        }
    }

    /// A change, by which the server names it.
    private struct Key: Hashable {
        var board: Int64, fence: Int64, number: Int64

        init(_ change: LedgerChange) { (board, fence, number) = (change.board, change.fence, Int64(change.number)) }

        init?(_ row: PostgreSQLRow) {
            guard let board = row.integer(0), let fence = row.integer(1), let number = row.integer(2) else {
                return nil
            }
            (self.board, self.fence, self.number) = (board, fence, number)
        }
    }

    /// Throws a unique violation (23505) if a board's identity is another board's. Then nothing is recorded.
    private func recordTogether(_ changes: [LedgerChange]) throws(PostgreSQLError) -> [LedgerChange.Outcome] {
        let added = try keys(Self.recording, of: changesWithinLeases(changes)) { Self.values($0) }
        let others = changes.filter { !added.contains(Key($0)) }
        // A row that another connection has added meanwhile is seen only by a new statement.
        let known = try keys(Self.knownChanges, of: others) { Array(Self.values($0)[..<3]) }
        return changes.map { added.contains(Key($0)) || known.contains(Key($0)) ? .recorded : .lost }
    }

    private func keys(
        _ sql: String, of changes: [LedgerChange], _ values: ([LedgerChange]) -> [PostgreSQLValue]
    ) throws(PostgreSQLError) -> Set<Key> {
        guard !changes.isEmpty else { return [] }
        return Set(try statement(sql, values(changes)).rows.compactMap { Key($0) })
    }

    /// Leaves out changes that follow the end of their lease in the same round.
    private func changesWithinLeases(_ changes: [LedgerChange]) -> [LedgerChange] {
        var ended: Set<[Int64]> = []
        return changes.filter { change in
            let lease = [change.board, change.fence, change.session]
            if ended.contains(lease) { return false }
            if change.columns.verdict != nil { ended.insert(lease) }
            return true
        }
    }

    private func recordOneByOne(_ changes: [LedgerChange]) throws(LedgerError) -> [LedgerChange.Outcome] {
        try transaction { () throws(LedgerError) in
            var outcomes: [LedgerChange.Outcome] = []
            for change in changes { outcomes.append(try recordAlone(change)) }
            return outcomes
        }
    }

    private func recordAlone(_ change: LedgerChange) throws(LedgerError) -> LedgerChange.Outcome {
        var attempt = 0
        while true {
            attempt += 1
            try run("savepoint change")
            do throws(PostgreSQLError) {
                let outcome = try recordTogether([change])[0]
                _ = try statement("release savepoint change", [])
                return outcome
            } catch {
                guard error.state == "23505", attempt < Self.tries else { throw failure(error) }
            }
            try run("rollback to savepoint change")
            let columns = change.columns
            let other = try run(
                """
                select line from boards where batch = (select batch from boards where id = $1::bigint)
                    and id <> $1::bigint and (node_id = $2::text or mac = $3::text) order by line limit 1
                """, [.integer(change.board), .ledger(columns.nodeID), .ledger(columns.mac)])
            // No board is found if the other one has got another identity since.
            if let line = other.rows.first?.integer(0) { return .duplicate(line: Int(line)) }
        }
    }

    // MARK: Statements

    /// The columns of a change, as arrays: one element for each change.
    private static func values(_ changes: [LedgerChange]) -> [PostgreSQLValue] {
        let columns = changes.map(\.columns)
        return [
            .integers(changes.map(\.board)), .integers(changes.map(\.fence)),
            .integers(changes.map { Int64($0.number) }), .integers(changes.map(\.session)),
            .texts(changes.map { LedgerTime.text($0.time) }), .texts(columns.map(\.event)), .texts(columns.map(\.step)),
            .texts(columns.map { $0.stepState?.rawValue }), .texts(columns.map(\.nodeID)), .texts(columns.map(\.mac)),
            .texts(columns.map { $0.verdict?.rawValue }), .integers(columns.map { $0.failure.map { Int64($0.code) } }),
            .texts(columns.map { $0.failure?.reason.withoutNUL }),
            .texts(columns.map { $0.failure?.message.withoutNUL }),
            .texts(columns.map { $0.failure?.remedy.withoutNUL }),
        ]
    }

    private static let knownChanges = """
        select board, attempt, number from steps
        join unnest($1::bigint[], $2::bigint[], $3::bigint[]) as change (board, attempt, number)
            using (board, attempt, number)
        """

    /// Locks the boards, checks session and fence, adds the steps that are new, and changes their boards; returns the added steps.
    ///
    /// The boards are locked in one order, so that two records do not wait for each other.
    private static let recording = """
        with change as (
            select * from unnest(
                $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::text[], $7::text[],
                $8::text[], $9::text[], $10::text[], $11::text[], $12::integer[], $13::text[], $14::text[], $15::text[])
            with ordinality as change (
                board, attempt, number, session, time, event, step, step_state, node_id, mac, verdict, code, reason,
                message, remedy, place)
        ), held as materialized (
            select id, session, attempt, station from boards
            where id = any ($1::bigint[]) and state = 'running' order by id for update
        ), added as (
            insert into steps (board, attempt, number, station, event, step, state, time)
            select change.board, change.attempt, change.number, held.station, change.event, change.step,
                change.step_state, change.time
            from change
            join held on held.id = change.board and held.session = change.session and held.attempt = change.attempt
            order by change.place
            on conflict (board, attempt, number) do nothing
            returning board, attempt, number
        ), latest as (
            select board,
                (array_agg(step order by place desc) filter (where event = 'step'))[1] as step,
                (array_agg(step_state order by place desc) filter (where event = 'step'))[1] as step_state,
                (array_agg(node_id order by place desc) filter (where node_id is not null))[1] as node_id,
                (array_agg(mac order by place desc) filter (where mac is not null))[1] as mac,
                max(verdict) as verdict, max(code) as code, max(reason) as reason, max(message) as message,
                max(remedy) as remedy, max(time) filter (where verdict in ('done', 'failed')) as ended
            from change join added using (board, attempt, number)
            group by board
        ), changed as (
            update boards set step = coalesce(latest.step, boards.step),
                step_state = coalesce(latest.step_state, boards.step_state),
                node_id = coalesce(latest.node_id, boards.node_id), mac = coalesce(latest.mac, boards.mac),
                state = coalesce(latest.verdict, boards.state),
                session = case when latest.verdict is null then boards.session end,
                failure_code = latest.code, failure_reason = latest.reason, failure_message = latest.message,
                failure_remedy = latest.remedy, ended = latest.ended
            from latest where boards.id = latest.board
        )
        select board, attempt, number from added
        """
}
