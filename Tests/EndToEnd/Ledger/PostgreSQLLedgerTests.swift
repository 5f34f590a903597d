// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainAccount
import RainKitTesting
import TestSupport
import Testing

@testable import RainKit

/// A ledger in Debian's PostgreSQL, with a server of the suite's own.
@Suite("A ledger in PostgreSQL", .postgreSQL)
struct PostgreSQLLedgerTests {
    private let server: PostgreSQLServer

    init() throws { server = try #require(PostgreSQLServer.current) }

    @Test("keeps the promises of every ledger")
    func conformance() async throws {
        try await LedgerConformance.check {
            let url = try await server.url()
            return LedgerConformance.Subject(
                try await PostgreSQLLedger.open(url: url), other: try await PostgreSQLLedger.open(url: url)
            ) { _ = try await server.sql("select pg_sleep(\($0.components.seconds))") }
        }
    }

    @Test("many stations that open an empty database at once make the tables once")
    func opening() async throws {
        for _ in 0..<10 {
            let url = try await server.url()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let ledger = try await PostgreSQLLedger.open(url: url)
                        _ = try await ledger.create(LedgerScene.batch(2))
                        await ledger.close()
                    }
                }
                try await group.waitForAll()
            }
            let ledger = try await PostgreSQLLedger.open(url: url)
            #expect(try await ledger.batches(limit: 20).count == 8)
            #expect(!ledger.place.contains("options") && ledger.place.contains(server.folder.path))
            await ledger.close()
        }
    }

    @Test("four stations get each of 1,000 boards once, and record all of their steps")
    func stations() async throws {
        let url = try await server.url()
        let first = try await PostgreSQLLedger.open(url: url)
        let batch = try await first.create(LedgerScene.batch(1_000)).id
        let lines = try await withThrowingTaskGroup(of: [Int].self) { group in
            for number in 0..<4 {
                group.addTask {
                    let ledger = try await PostgreSQLLedger.open(url: url)
                    return try await LedgerScene.work(on: batch, of: ledger, station: "station-\(number)")
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(lines.sorted() == Array(1...1_000))
        #expect(try await first.counts(of: batch) == BatchCounts(done: 1_000))
        let schema = try #require(url.split(separator: "%3D").last)
        #expect(
            try await server.sql("select count(*), count(distinct board) from \(schema).steps where event = 'step'")
                == "\(1_000 * LedgerScene.steps)|1000\n")
    }

    @Test("a ledger that has to exist is not created")
    func missing() async throws {
        let url = try await server.url()
        let error = await #expect(throws: LedgerError.self) {
            try await PostgreSQLLedger.open(url: url, creates: false)
        }
        #expect(error?.code == .unavailable && error?.message.hasPrefix("There is no ledger at ") == true)
        _ = try await PostgreSQLLedger.open(url: url)
        _ = try await PostgreSQLLedger.open(url: url, creates: false)
    }

    @Test("a newer schema is refused, and an older one is brought up to date")
    func versions() async throws {
        let url = try await server.url()
        let old = try await PostgreSQLLedger.open(url: url)
        let batch = try await old.create(LedgerScene.batch(1))
        let later = PostgreSQLLedgerDatabase.migrations + [["alter table boards add column shelf text"]]
        let new = try await PostgreSQLLedger.open(url: url, later)
        #expect(try await new.batch(batch.id) == batch)
        let error = await #expect(throws: LedgerError.self) { try await PostgreSQLLedger.open(url: url) }
        #expect(error?.code == .newer)
        #expect(error?.message.contains(server.folder.path) == true)
    }

    @Test("a database with other tables is refused, and nothing is made in it")
    func otherTables() async throws {
        let url = try await server.url()
        let schema = try #require(url.split(separator: "%3D").last)
        try await server.sql("create table \(schema).boards (x integer)")
        let error = await #expect(throws: LedgerError.self) { try await PostgreSQLLedger.open(url: url) }
        #expect(error?.code == .damaged)
        #expect(try await server.sql("select count(*) from pg_tables where schemaname = '\(schema)'") == "1\n")
    }

    @Test("a wrong password, a missing user and a missing database are named, without the password")
    func refusals() async throws {
        let url = try await server.url()
        let good = url.replacingOccurrences(of: "root@", with: "locked:\(PostgreSQLServer.password)@")
        _ = try await PostgreSQLLedger.open(url: good)
        for (wrong, code) in [
            (url.replacingOccurrences(of: "root@", with: "locked:battery-staple@"), .auth),
            (url.replacingOccurrences(of: "root@", with: "locked@"), .auth),
            (url.replacingOccurrences(of: "root@", with: "nobody-here:battery-staple@"), .auth),
            (url.replacingOccurrences(of: "root@/postgres", with: "root:battery-staple@/nothing"), .unavailable),
            ("postgresql://root:battery-staple@/postgres?host=\(server.folder.path)/nowhere", .unavailable),
            ("postgresql://root:battery-staple@127.0.0.1:1/postgres", .unavailable),
            ("postgresql://root:battery-staple@/postgres?port=battery-staple", .unavailable),
            ("postgresql://root:battery-staple@/postgres?battery-staple", .unavailable),
        ] as [(String, LedgerError.Code)] {
            let error = await #expect(throws: LedgerError.self) { try await PostgreSQLLedger.open(url: wrong) }
            #expect(error?.code == code, "\(wrong): \(error?.message ?? "")")
            #expect(error?.message.contains("battery") == false, "\(error?.message ?? "")")
            #expect(error?.message.contains("a password, and none was given") == wrong.contains("locked@"))
        }
    }

    @Test("a user who may not write gets an error")
    func readOnly() async throws {
        let url = try await server.url()
        _ = try await PostgreSQLLedger.open(url: url)
        let error = await #expect(throws: LedgerError.self) {
            _ = try await PostgreSQLLedger.open(url: url + "%20-cdefault_transaction_read_only%3Don").create(
                LedgerScene.batch(1))
        }
        #expect(error?.code == .cannotWrite)
    }

    @Test("a connection that the server ends is opened again, and a lease whose answer was lost keeps no board")
    func lostConnection() async throws {
        let url = try await server.url()
        let schema = try #require(url.split(separator: "%3D").last)
        let ledger = try await PostgreSQLLedger.open(url: url)
        let batch = try await ledger.create(LedgerScene.batch(6)).id
        let session = try await ledger.openSession("station", for: .seconds(3600))
        let leased = try await ledger.lease(2, of: batch, for: session)
        #expect(leased.map(\.board.line) == [1, 2])
        // As if the answer had been lost after the commit.
        try await server.sql(
            "update \(schema).boards set state = 'running', attempt = 1, session = \(session) where line in (3, 4)")
        try await Self.endConnection(of: ledger, session, server)
        let error = await #expect(throws: LedgerError.self) { try await ledger.lease(1, of: batch, for: session) }
        #expect(error?.code == .temporary)
        #expect(try await ledger.lease(9, of: batch, for: session).map(\.board.line) == [3, 4, 5, 6])
        let outcomes = try await ledger.record(leased.map { LedgerScene.change($0, 1, .done(nodeID: nil)) })
        #expect(outcomes == [.recorded, .recorded])
    }

    /// Has the server end the connection of the ledger that has this session.
    private static func endConnection(
        of ledger: PostgreSQLLedger, _ session: Int64, _ server: PostgreSQLServer
    ) async throws {
        try await ledger.renew(session, for: .seconds(3600))
        // The last statement of a connection that waits is shown, without its values.
        try await server.sql(
            """
            select pg_terminate_backend(pid, 60000) from pg_stat_activity
            where query like '%update sessions set expires%' and pid <> pg_backend_pid() and state = 'idle'
            """)
    }

    @Test("psql shows what is documented")
    func documentation() async throws {
        let url = try await server.url()
        let schema = try #require(url.split(separator: "%3D").last)
        let ledger = try await PostgreSQLLedger.open(url: url)
        let batch = try await ledger.create(LedgerScene.batch(3)).id
        _ = try await LedgerScene.work(on: batch, of: ledger, station: "station-ü")
        let columns = try await server.sql(
            "select table_name || '.' || column_name from information_schema.columns where table_schema = '\(schema)'")
        #expect(Set(columns.split(separator: "\n").map(String.init)) == (try DocumentedLedger.columns()))
        let commands = try DocumentedLedger.commands(of: "psql")
        #expect(commands.count == 2)
        for command in commands {
            let shown = try await run("sh", ["-c", command], environment: ["LEDGER": url])
            #expect(shown.status == .exited(0), "\(shown.standardError)")
            #expect(shown.standardOutput.contains(command.contains("steps s") ? "station-ü" : "lamp 2"))
        }
    }

    // MARK: Faults of a server of their own

    @Test("the server crashes and restarts in the middle of 200 records: nothing is lost or doubled")
    func restart() async throws {
        try await PostgreSQLServer.with { server in
            let ledger = try await PostgreSQLLedger.open(url: try await server.url(schema: "public"))
            let batch = try await ledger.create(LedgerScene.batch(10)).id
            let session = try await ledger.openSession("station", for: .seconds(3600))
            let leased = try await ledger.lease(10, of: batch, for: session)
            let recording = Task {
                var failures = 0
                for number in 1...20 {
                    let round = leased.map { LedgerScene.change($0, number, .step("step \(number)", .started)) }
                    while true {
                        do throws(LedgerError) {
                            let outcomes = try await ledger.record(round)
                            #expect(outcomes.allSatisfy { $0 == .recorded })
                            break
                        } catch {
                            guard error.code == .temporary else { throw error }
                            failures += 1
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                }
                return failures
            }
            let end = ContinuousClock.now + .waitLimit
            while try await server.sql("select count(*) >= 40 from steps") != "t\n" {
                try #require(ContinuousClock.now < end)
            }
            try await server.crash()
            try await server.start()
            _ = try await recording.value
            try await server.stop()
            let error = await #expect(throws: LedgerError.self) { try await ledger.batches(limit: 1) }
            #expect(error?.code == .temporary)
            try await server.start()
            for board in leased {
                let steps = try await Self.repeated { () async throws(LedgerError) in
                    try await ledger.steps(of: board.board.id)
                }
                #expect(steps.map(\.step) == (1...20).map { "step \($0)" })
            }
        }
    }

    /// Repeats a call until it does not throw `temporary`.
    private static func repeated<Answer>(_ body: () async throws(LedgerError) -> Answer) async throws -> Answer {
        let end = ContinuousClock.now + .waitLimit
        while true {
            do throws(LedgerError) {
                return try await body()
            } catch {
                guard error.code == .temporary, ContinuousClock.now < end else { throw error }
            }
        }
    }

    @Test("a server that stops answering is an error for all waiting calls, and works again afterwards")
    func stopped() async throws {
        try await PostgreSQLServer.with { server in
            let url = try await server.url(schema: "public")
            let ledger = try await PostgreSQLLedger.open(url: url)
            let batch = try await ledger.create(LedgerScene.batch(2)).id
            let session = try await ledger.openSession("station", for: .seconds(3600))
            let leased = try await ledger.lease(2, of: batch, for: session)
            server.signal(SIGSTOP)
            let begin = ContinuousClock.now
            let long = LedgerFailure(code: 1, reason: "r", message: String(repeating: "x", count: 4 << 20), remedy: "")
            let errors = await withTaskGroup(of: LedgerError?.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        do throws(LedgerError) {
                            // The first is longer than a socket's buffers.
                            _ = try await ledger.record([
                                LedgerScene.change(leased[0], 1, number == 0 ? .failed(long) : .released)
                            ])
                        } catch {
                            return error
                        }
                        return nil
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(errors.allSatisfy { $0?.code == .temporary })
            #expect(errors.allSatisfy { $0?.message.contains("did not answer within 10 s") == true })
            // 50 waits one after the other would be 500 s.
            if Timings.isAlone { #expect(ContinuousClock.now - begin < .seconds(15)) }
            let second = await #expect(throws: LedgerError.self) { try await PostgreSQLLedger.open(url: url) }
            #expect(second?.code == .unavailable)
            server.signal(SIGCONT)
            let outcomes = try await Self.repeated { () async throws(LedgerError) in
                try await ledger.record([LedgerScene.change(leased[1], 1, .done(nodeID: nil))])
            }
            #expect(outcomes == [.recorded])
        }
    }
}

/// Batches for the tests of ledgers.
enum LedgerScene {
    static func batch(_ count: Int) -> NewBatch {
        NewBatch(
            file: "/tmp/b.csv", sha256: "", deployment: "global", user: "u", created: UnixTime(seconds: 1_800_000_000),
            boards: (1...count).map { .init(line: $0, name: "lamp \($0)", address: "serial:/dev/ttyUSB\($0)") })
    }

    static func change(_ leased: LeasedBoard, _ number: Int, _ event: LedgerChange.Event) -> LedgerChange {
        LedgerChange(
            board: leased.board.id, session: leased.session, fence: leased.fence, number: number,
            time: UnixTime(seconds: 1_800_000_000 + Double(number)), event: event)
    }

    /// How many steps ``work(on:of:station:)`` records for a board.
    static let steps = 3

    /// Leases boards and records their steps until none is left. Returns their lines.
    static func work(on batch: BatchID, of ledger: any Ledger, station: String) async throws -> [Int] {
        let session = try await ledger.openSession(station, for: .seconds(3600))
        var lines: [Int] = []
        while true {
            let leased = try await ledger.lease(25, of: batch, for: session)
            if leased.isEmpty { break }
            lines += leased.map(\.board.line)
            for number in 1...steps {
                let outcomes = try await ledger.record(leased.map { change($0, number, .step("step", .started)) })
                #expect(outcomes.allSatisfy { $0 == .recorded })
            }
            let outcomes = try await ledger.record(
                leased.map { change($0, steps + 1, .done(nodeID: "node-\($0.board.line)")) })
            #expect(outcomes.allSatisfy { $0 == .recorded })
        }
        try await ledger.closeSession(session)
        return lines
    }
}
