// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainAccount
import RainKitTesting
import RainSQLite
import Synchronization
import TestSupport
import Testing

@testable import RainKit

/// libsqlite3 is opened at run time; `scripts/setup people` installs it.
let hasSQLite: Bool = {
    do throws(SQLiteError) {
        _ = try SQLiteConnection(path: "/")
        return true
    } catch {
        return error.code != .libraryMissing
    }
}()

@Suite("A ledger in a SQLite file", .enabled(if: hasSQLite, "libsqlite3 is not installed"))
struct SQLiteLedgerTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("state/ledger.db")
    }

    private static func batch(_ count: Int) -> NewBatch {
        NewBatch(
            file: "/tmp/b.csv", sha256: "", deployment: "global", user: "u", created: UnixTime(seconds: 1_800_000_000),
            boards: (1...count).map { .init(line: $0, name: "lamp \($0)", address: "serial:/dev/ttyUSB\($0)") })
    }

    private static func change(_ leased: LeasedBoard, _ number: Int, _ event: LedgerChange.Event) -> LedgerChange {
        LedgerChange(
            board: leased.board.id, session: leased.session, fence: leased.fence, number: number,
            time: UnixTime(seconds: 1_800_000_000 + Double(number)), event: event)
    }

    @Test("keeps the promises of every ledger")
    func conformance() async throws {
        let number = Atomic(0)
        try await LedgerConformance.check {
            let clock = ManualWallClock()
            let path = folder.file("state/\(number.add(1, ordering: .relaxed).newValue).db")
            return LedgerConformance.Subject(
                try await SQLiteLedger.open(path: path, clock: clock),
                other: try await SQLiteLedger.open(path: path, clock: clock)
            ) { clock.advance(seconds: Double($0.components.seconds)) }
        }
    }

    @Test("the file and its folder are private, and hold everything after the ledger was closed")
    func files() async throws {
        let ledger = try await SQLiteLedger.open(path: path)
        let batch = try await ledger.create(Self.batch(3))
        for name in try TestSupport.files(in: folder.file("state")) {
            var status = stat()
            #expect(stat(folder.file("state/\(name)"), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        var status = stat()
        #expect(stat(folder.file("state"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        await ledger.close()
        let error = await #expect(throws: LedgerError.self) { try await ledger.batches(limit: 1) }
        #expect(error?.code == .unavailable)
        #expect(try TestSupport.files(in: folder.file("state")) == ["ledger.db"])
        let again = try await SQLiteLedger.open(path: path)
        #expect(try await again.batches(limit: 5) == [batch])
        #expect(try await again.counts(of: batch.id) == BatchCounts(waiting: 3))
    }

    @Test("commits are synced, and the file uses write-ahead logging")
    func durability() async throws {
        let ledger = try await SQLiteLedger.open(path: path)
        let settings = try await ledger.settings(["journal_mode", "synchronous", "foreign_keys"])
        #expect(settings == ["wal", "2", "1"])
    }

    @Test("many ledgers that open a new file at once make it once, and all write to it")
    func opening() async throws {
        let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let ledger = try await SQLiteLedger.open(path: path)
                    return try await ledger.create(Self.batch(2)).id
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 12)
        let ledger = try await SQLiteLedger.open(path: path)
        #expect(Set(try await ledger.batches(limit: 100).map(\.id)) == ids)
    }

    @Test("stations that share a file give each of 200 boards to one of them, and lose no change")
    func stations() async throws {
        let ledgers = [try await SQLiteLedger.open(path: path), try await SQLiteLedger.open(path: path)]
        let batch = try await ledgers[0].create(Self.batch(200)).id
        let lines = try await withThrowingTaskGroup(of: [Int].self) { group in
            for number in 0..<4 {
                group.addTask {
                    let ledger = ledgers[number % 2]
                    let session = try await ledger.openSession("station-\(number)", for: .seconds(3600))
                    var lines: [Int] = []
                    while true {
                        let leased = try await ledger.lease(10, of: batch, for: session)
                        if leased.isEmpty { return lines }
                        lines += leased.map(\.board.line)
                        for number in 1...4 {
                            let outcomes = try await ledger.record(
                                leased.map {
                                    Self.change($0, number, number == 4 ? .done(nodeID: nil) : .step("scan", .started))
                                })
                            #expect(outcomes.allSatisfy { $0 == .recorded })
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(lines.sorted() == Array(1...200))
        for board in try await ledgers[0].boards(of: batch, after: 0, limit: 200) {
            #expect(board.state == .done)
            #expect(try await ledgers[1].steps(of: board.id).count == 3)
        }
    }

    // MARK: Versions

    @Test("a ledger from a newer version is refused, and stays as it is")
    func newer() async throws {
        var options = SQLiteLedgerDatabase.Options()
        options.migrations.append(["alter table boards add column shelf text"])
        let later = try await SQLiteLedger.open(path: path, options)
        let batch = try await later.create(Self.batch(1))
        await later.close()
        let before = try folder.readBytes("state/ledger.db")
        let error = await #expect(throws: LedgerError.self) { try await SQLiteLedger.open(path: path) }
        #expect(error?.code == .newer)
        #expect(error?.message.contains(path) == true)
        #expect(try folder.readBytes("state/ledger.db") == before)
        #expect(try await SQLiteLedger.open(path: path, options).batch(batch.id) == batch)
    }

    @Test("a ledger that has to exist is not created")
    func missing() async throws {
        let error = await #expect(throws: LedgerError.self) {
            try await SQLiteLedger.open(path: folder.file("lodger.db"), creates: false)
        }
        #expect(error?.code == .unavailable && error?.message == "There is no ledger at \(folder.file("lodger.db")).")
        #expect(try TestSupport.files(in: folder.path).allSatisfy { $0 != "lodger.db" })
        _ = try await SQLiteLedger.open(path: path)
        _ = try await SQLiteLedger.open(path: path, creates: false)
    }

    @Test("a newer program brings a ledger to its version, once, also if several open it at the same time")
    func migration() async throws {
        let old = try await SQLiteLedger.open(path: path)
        let batch = try await old.create(Self.batch(2))
        await old.close()
        var options = SQLiteLedgerDatabase.Options()
        options.migrations.append(["alter table boards add column shelf text default 'a'"])
        let later = options
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let ledger = try await SQLiteLedger.open(path: path, later)
                    #expect(try await ledger.counts(of: batch.id) == BatchCounts(waiting: 2))
                }
            }
            try await group.waitForAll()
        }
        let connection = try SQLiteConnection(path: path)
        #expect(
            try connection.rows("select version from schema_version order by version").map { $0.integer(0) }
                == (1...later.migrations.count).map { Int64($0) })
    }

    @Test("a migration that fails changes nothing")
    func failedMigration() async throws {
        let ledger = try await SQLiteLedger.open(path: path)
        await ledger.close()
        var options = SQLiteLedgerDatabase.Options()
        options.migrations.append(["alter table boards add column shelf text", "alter table nothing add column x"])
        await #expect(throws: LedgerError.self) { try await SQLiteLedger.open(path: path, options) }
        _ = try await SQLiteLedger.open(path: path).create(Self.batch(1))
    }

    // MARK: Bad places

    @Test("a file that is not a ledger is refused, and stays as it is", arguments: ["noise", "table", "zeros"])
    func foreignFile(kind: String) async throws {
        mkdir(folder.file("state"), 0o700)
        switch kind {
        case "noise":
            folder.writePrivately((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 7 + 1) }, to: "state/ledger.db")
        case "zeros": folder.writePrivately([UInt8](repeating: 0, count: 9000), to: "state/ledger.db")
        default:
            folder.writePrivately([], to: "state/ledger.db")
            try SQLiteConnection(path: path).run("create table boards (x)")
        }
        let error = await #expect(throws: LedgerError.self) { try await SQLiteLedger.open(path: path) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains(path) == true)
    }

    @Test("a ledger that is damaged later is reported as damaged")
    func damage() async throws {
        let ledger = try await SQLiteLedger.open(path: path)
        _ = try await ledger.create(Self.batch(500))
        await ledger.close()
        var bytes = try folder.readBytes("state/ledger.db")
        // The first page stays, which has the tables' names.
        for index in bytes.indices.dropFirst(4096) { bytes[index] = 0x5A }
        folder.writePrivately(bytes, to: "state/ledger.db")
        let error = await #expect(throws: LedgerError.self) {
            _ = try await SQLiteLedger.open(path: path).boards(of: 1, after: 0, limit: 1000)
        }
        #expect(error?.code == .damaged)
    }

    @Test("places where no ledger can be are refused with their cause")
    func places() async throws {
        mkdir(folder.file("state"), 0o700)
        mkdir(folder.file("state/folder.db"), 0o700)
        mkfifo(folder.file("state/fifo.db"), 0o600)
        symlink(folder.file("elsewhere"), folder.file("state/link.db"))
        symlink(folder.file("state"), folder.file("linked"))
        try folder.write("", to: "state/open.db")
        chmod(folder.file("state/open.db"), 0o644)
        mkdir(folder.file("shared"), 0o700)
        chmod(folder.file("shared"), 0o777)
        try folder.write("x", to: "file")
        for (name, cause) in [
            ("state/folder.db", "is a folder"), ("state/fifo.db", "FIFO"), ("state/link.db", "is a symbolic link"),
            ("linked/ledger.db", "is a symbolic link"), ("state/open.db", "is not private"),
            ("shared/ledger.db", "others may write to the folder"),
            ("file/ledger.db", "is a file, but must be a folder"),
        ] {
            let error = await #expect(throws: LedgerError.self, "\(name)") {
                try await SQLiteLedger.open(path: folder.file(name))
            }
            #expect(error?.code == .cannotWrite, "\(name)")
            #expect(error?.message.contains(cause) == true, "\(name): \(error?.message ?? "")")
        }
        #expect(access(folder.file("elsewhere"), F_OK) != 0)
    }

    @Test(
        "a folder that does not allow writing is reported",
        .enabled(if: geteuid() != 0, "root may write everywhere"))
    func readOnlyFolder() async throws {
        mkdir(folder.file("state"), 0o500)
        let error = await #expect(throws: LedgerError.self) { try await SQLiteLedger.open(path: path) }
        #expect(error?.code == .cannotWrite)
        #expect(error?.message.contains("Permission denied") == true)
    }

    @Test("on a full disk a call fails and writes nothing, and works again when there is space")
    func fullDisk() async throws {
        let ledger = try await SQLiteLedger.open(path: path)
        let batch = try await ledger.create(Self.batch(5))
        await ledger.close()
        var options = SQLiteLedgerDatabase.Options()
        options.maximumPages = 24
        let full = try await SQLiteLedger.open(path: path, options)
        let error = await #expect(throws: LedgerError.self) { try await full.create(Self.batch(5_000)) }
        #expect(error?.code == .cannotWrite)
        #expect(error?.message.contains("disk is full") == true)
        #expect(try await full.batches(limit: 5) == [batch])
        let session = try await full.openSession("station", for: .seconds(60))
        #expect(try await full.lease(1, of: batch.id, for: session).count == 1)
        await full.close()
        let again = try await SQLiteLedger.open(path: path)
        _ = try await again.create(Self.batch(5_000))
    }

    @Test("if another process keeps the file locked, all waiting calls fail after one wait")
    func locked() async throws {
        var options = SQLiteLedgerDatabase.Options()
        options.busyTimeout = .seconds(1)
        let ledger = try await SQLiteLedger.open(path: path, options)
        let other = try SQLiteConnection(path: path)
        try other.run("begin immediate")
        let errors = await withTaskGroup(of: LedgerError?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do throws(LedgerError) { _ = try await ledger.create(Self.batch(1)) } catch { return error }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.allSatisfy { $0?.code == .temporary })
        try other.run("rollback")
        _ = try await ledger.create(Self.batch(1))
        #expect(try await ledger.batches(limit: 500).count == 1)
    }

    // MARK: Documentation

    @Test("every column is documented, and nothing else is")
    func documentation() async throws {
        _ = try await SQLiteLedger.open(path: path)
        let connection = try SQLiteConnection(path: path)
        let columns = try connection.rows(
            """
            select t.name || '.' || c.name from sqlite_master t, pragma_table_info(t.name) c
            where t.type = 'table' and t.name not like 'sqlite_%'
            """
        ).compactMap { $0.text(0) }
        #expect(columns.count > 30)
        #expect(Set(columns) == (try DocumentedLedger.columns()))
    }
}

extension SQLiteLedger {
    /// Returns settings of a second connection that is opened as the ledger's own.
    fileprivate func settings(_ names: [String]) async throws -> [String] {
        let database = SQLiteLedgerDatabase(path: place, clock: SystemWallClock(), .init())
        try database.open()
        return try names.map { try database.setting($0) }
    }
}

/// Times as ledgers store them.
@Suite("Times in a ledger")
struct LedgerTimeTests {
    @Test("have one form, and come back to the millisecond")
    func form() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"), (1_800_000_000.25, "2027-01-15T08:00:00.250Z"),
            (1_799_999_999.9996, "2027-01-15T08:00:00.000Z"), (-5, "1970-01-01T00:00:00.000Z"),
            (.nan, "1970-01-01T00:00:00.000Z"), (.infinity, "9999-12-31T23:59:59.999Z"),
            (1e300, "9999-12-31T23:59:59.999Z"),
        ] as [(Double, String)] {
            #expect(LedgerTime.text(UnixTime(seconds: seconds)) == text)
        }
        for seconds in stride(from: 1_700_000_000.001, to: 1_700_000_010, by: 0.137) {
            let text = LedgerTime.text(UnixTime(seconds: seconds))
            #expect(LedgerTime.time(text).map(LedgerTime.text) == text)
        }
        #expect(LedgerTime.time("2027-01-15T08:00:00.250Z") == UnixTime(seconds: 1_800_000_000.25))
        for text in ["", "2027-01-15T08:00:00Z", "2027-01-15T08:00:00,250Z", "2027-01-15T08:00:00.x50Z"] {
            #expect(LedgerTime.time(text) == nil)
        }
    }
}
