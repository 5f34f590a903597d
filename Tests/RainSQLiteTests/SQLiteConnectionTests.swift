// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import RainSQLite

/// libsqlite3 is opened at run time; `scripts/setup people` installs it.
@Suite("A SQLite connection", .enabled(if: SQLiteLibrary.shared != nil, "libsqlite3 is not installed"))
struct SQLiteConnectionTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("database")
        folder.writePrivately([], to: "database")
    }

    private func open(busyTimeout: Duration = .seconds(5)) throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: path, busyTimeout: busyTimeout)
    }

    @Test("values come back with their types, and a statement that is used again has only its new values")
    func values() throws {
        let connection = try open()
        try connection.run("create table t (a, b)")
        let values: [SQLiteValue] = [.null, .integer(.min), .integer(.max), .text(""), .text("'ü\"\n\u{1F510}")]
        for value in values { #expect(try connection.run("insert into t values (?, ?)", [value, .integer(1)]) == 1) }
        #expect(connection.lastInsertedID == 5)
        let rows = try connection.rows("select a, b from t order by rowid")
        #expect(rows.map(\.values) == values.map { [$0, .integer(1)] })
        #expect(rows[1].integer(0) == .min && rows[1].text(0) == nil && rows[1].integer(2) == nil)
        #expect(rows[3].text(0) == "" && rows[3].integer(0) == nil && rows[0].text(0) == nil)
        #expect(try connection.rows("select a from t where b = ?", [.integer(2)]) == [])
        #expect(try connection.rows("select a from t where b = ?", [.integer(1)]).count == 5)
        #expect(try connection.run("update t set b = ?", [.integer(2)]) == 5)
    }

    @Test("a text with a NUL character is refused, and nothing is written")
    func nul() throws {
        let connection = try open()
        try connection.run("create table t (a)")
        let error = #expect(throws: SQLiteError.self) {
            try connection.run("insert into t values (?)", [.text("a\0b")])
        }
        #expect(error?.code == .invalidText)
        #expect(try connection.rows("select * from t") == [])
    }

    @Test("a transaction that throws writes nothing, and one that another connection is in the way of is busy")
    func transactions() throws {
        struct Stop: Error {}
        let connection = try open()
        try connection.run("create table t (a unique)")
        #expect(throws: Stop.self) {
            try connection.transaction(orThrow: { $0 as any Error }) { () throws in
                try connection.run("insert into t values (1)")
                throw Stop()
            }
        }
        #expect(try connection.rows("select * from t") == [])
        let error = #expect(throws: SQLiteError.self) {
            try connection.transaction(orThrow: { $0 }) { () throws(SQLiteError) in
                try connection.run("insert into t values (1)")
                try connection.run("insert into t values (1)")
            }
        }
        #expect(error?.code == .constraint)
        let second = try open(busyTimeout: .zero)
        try connection.transaction(orThrow: { $0 as any Error }) { () throws in
            let busy = #expect(throws: SQLiteError.self) { try second.run("begin immediate") }
            #expect(busy?.code == .busy)
        }
        try second.run("insert into t values (1)")
    }

    @Test("a symbolic link and a missing file are refused")
    func places() throws {
        symlink(path, folder.file("link"))
        for name in ["link", "missing"] {
            let error = #expect(throws: SQLiteError.self) { try SQLiteConnection(path: folder.file(name)) }
            #expect(error?.code == .inaccessible, "\(name): \(error.map { "\($0)" } ?? "no error")")
        }
    }

    @Test("result codes of sqlite3.h have their causes")
    func codes() {
        for (result, code) in [
            (5, .busy), (261, .busy), (13, .full), (8, .inaccessible), (778, .inaccessible), (26, .damaged),
            (11, .damaged), (2067, .constraint), (1, .other),
        ] as [(Int32, SQLiteError.Code)] {
            #expect(SQLiteError(result: result, message: "").code == code, "\(result)")
        }
    }
}
