// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A value of a parameter.
package enum SQLiteValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
}

/// A row of a result. A column that is NULL or has another type gives nil.
package struct SQLiteRow: Sendable, Equatable {
    let values: [SQLiteValue]

    package func integer(_ column: Int) -> Int64? {
        guard values.indices.contains(column), case .integer(let value) = values[column] else { return nil }
        return value
    }

    package func text(_ column: Int) -> String? {
        guard values.indices.contains(column), case .text(let value) = values[column] else { return nil }
        return value
    }
}

/// An open SQLite database. One thread at a time may use it; all calls block.
///
/// A statement is compiled once and then kept, so callers use a fixed set of texts and pass values as parameters.
package final class SQLiteConnection: @unchecked Sendable {
    /// How long a call waits for other connections.
    package static let busyTimeout = Duration.seconds(5)

    private let library: SQLiteLibrary
    private let database: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// Opens an existing database file; an empty file is an empty database. Symbolic links are refused.
    ///
    /// The caller makes the file, because the library would give it the mode of the umask.
    package init(path: String, busyTimeout: Duration = SQLiteConnection.busyTimeout) throws(SQLiteError) {
        guard let library = SQLiteLibrary.shared else {
            throw SQLiteError(.libraryMissing, "libsqlite3.so.0 is not installed (Debian's package is libsqlite3-0)")
        }
        guard !path.utf8.contains(0) else { throw SQLiteError(.invalidText, "the path contains a NUL character") }
        var opened: OpaquePointer?
        // SQLITE_OPEN_READWRITE, NOMUTEX, NOFOLLOW, EXRESCODE.
        let result = library.open(path, &opened, 0x0000_0002 | 0x0000_8000 | 0x0100_0000 | 0x0200_0000, nil)
        guard let opened else { throw SQLiteError(result: 7, message: "out of memory") }
        guard result == 0 else {
            let error = Self.error(library, opened, result)
            _ = library.close(opened)
            throw error
        }
        self.library = library
        database = opened
        _ = library.setBusyTimeout(opened, Int32(clamping: busyTimeout.components.seconds * 1000))
    }

    deinit {
        for statement in statements.values { _ = library.finalize(statement) }
        _ = library.close(database)
    }

    /// The number that the last inserted row got.
    package var lastInsertedID: Int64 { library.lastID(database) }

    /// Runs one statement.
    /// - Returns: how many rows it has inserted, changed or deleted.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int {
        _ = try rows(sql, values)
        return Int(library.changes(database))
    }

    /// Runs one statement and returns its rows.
    package func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> [SQLiteRow] {
        let statement = try prepared(sql)
        defer {
            _ = library.reset(statement)
            _ = library.clearBindings(statement)
        }
        try bind(values, to: statement)
        var rows: [SQLiteRow] = []
        while true {
            switch library.step(statement) {
            case 100: rows.append(row(statement))  // SQLITE_ROW
            case 101: return rows  // SQLITE_DONE
            case let result: throw Self.error(library, database, result)
            }
        }
    }

    /// Runs `body` in a transaction that no other connection can write beside. If `body` throws, nothing is written.
    package func transaction<Result, Failure: Error>(
        orThrow failure: (SQLiteError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(SQLiteError) { try run("begin immediate") } catch { throw failure(error) }
        let result: Result
        do throws(Failure) {
            result = try body()
        } catch {
            rollBack()
            throw error
        }
        do throws(SQLiteError) {
            try run("commit")
        } catch {
            rollBack()
            throw failure(error)
        }
        return result
    }

    /// Some errors, such as a full disk, have ended the transaction already.
    private func rollBack() {
        if library.isOutsideTransaction(database) == 0 { _ = try? run("rollback") }
    }

    private func prepared(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let bytes = Array(sql.utf8)
        let result = library.prepare(database, bytes, Int32(bytes.count), &statement, nil)
        guard result == 0, let statement else { throw Self.error(library, database, result) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ values: [SQLiteValue], to statement: OpaquePointer) throws(SQLiteError) {
        precondition(values.count == Int(library.parameterCount(statement)), "each parameter has a value")
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let result: Int32
            switch value {
            case .null: result = library.bindNull(statement, place)
            case .integer(let number): result = library.bindInteger(statement, place, number)
            case .text(let text):
                let bytes = Array(text.utf8)
                guard !bytes.contains(0) else {
                    throw SQLiteError(.invalidText, "a text contains a NUL character")
                }
                // A length of zero with no address would be NULL.
                result = (bytes + [0]).withUnsafeBufferPointer {
                    library.bindText(
                        statement, place, $0.baseAddress!, Int32(clamping: bytes.count), SQLiteLibrary.copies)
                }
            }
            guard result == 0 else { throw Self.error(library, database, result) }
        }
    }

    private func row(_ statement: OpaquePointer) -> SQLiteRow {
        SQLiteRow(
            values: (0..<library.columnCount(statement)).map { column in
                switch library.columnType(statement, column) {
                case 1: return .integer(library.columnInteger(statement, column))
                case 3:
                    guard let text = library.columnText(statement, column) else { return .null }
                    let count = Int(library.columnBytes(statement, column))
                    return .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
                default: return .null  // NULL; this module writes neither numbers with fractions nor bytes.
                }
            })
    }

    private static func error(_ library: SQLiteLibrary, _ database: OpaquePointer, _ result: Int32) -> SQLiteError {
        var error = SQLiteError(
            result: result, message: library.message(database).map { String(cString: $0) } ?? "no text")
        let number = library.systemError(database)
        if error.code == .inaccessible, number != 0 { error.message += " (\(systemErrorText(number)))" }
        return error
    }
}
