// SPDX-License-Identifier: Apache-2.0

/// Why a SQLite database could not be opened, read or written.
package struct SQLiteError: Error, Sendable, Equatable {
    package enum Code: Sendable, Equatable {
        /// libsqlite3 is not installed.
        case libraryMissing
        /// Other connections had the database for longer than the busy timeout.
        case busy
        /// The disk is full, or the database has reached its maximum size.
        case full
        /// The file system does not allow reading or writing.
        case inaccessible
        /// The file is not a database, or is damaged.
        case damaged
        /// A unique constraint or a foreign key does not allow the change.
        case constraint
        /// A text contains a NUL character.
        case invalidText
        /// Another failure, such as an error in a statement.
        case other
    }

    package var code: Code
    /// The library's text; for failures of the file system the system's text.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// - Parameter result: an extended result code, `SQLITE_…` of sqlite3.h.
    init(result: Int32, message: String) {
        let code: Code =
            switch result & 0xFF {
            case 5, 6: .busy  // BUSY, LOCKED
            case 13: .full
            case 3, 8, 10, 14, 23: .inaccessible  // PERM, READONLY, IOERR, CANTOPEN, AUTH
            case 11, 26: .damaged  // CORRUPT, NOTADB
            case 19: .constraint
            default: .other
            }
        self.init(code, message)
    }
}
