// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The functions of libsqlite3 that this module uses. They are found at run time, so programs start where it is not installed.
///
/// Names and types are those of sqlite3.h.
struct SQLiteLibrary: @unchecked Sendable {
    /// A `sqlite3` or a `sqlite3_stmt`.
    typealias Object = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias Bytes = UnsafePointer<UInt8>

    let open: @convention(c) (Text, UnsafeMutablePointer<Object?>, Int32, Text?) -> Int32
    let close: @convention(c) (Object) -> Int32
    let message: @convention(c) (Object) -> Text?
    let extendedCode: @convention(c) (Object) -> Int32
    let systemError: @convention(c) (Object) -> Int32
    let setBusyTimeout: @convention(c) (Object, Int32) -> Int32
    let changes: @convention(c) (Object) -> Int32
    let lastID: @convention(c) (Object) -> Int64
    let isOutsideTransaction: @convention(c) (Object) -> Int32

    let prepare:
        @convention(c) (Object, Bytes, Int32, UnsafeMutablePointer<Object?>, UnsafeMutablePointer<Bytes?>?) -> Int32
    let finalize: @convention(c) (Object) -> Int32
    let reset: @convention(c) (Object) -> Int32
    let clearBindings: @convention(c) (Object) -> Int32
    let step: @convention(c) (Object) -> Int32
    let parameterCount: @convention(c) (Object) -> Int32
    let bindNull: @convention(c) (Object, Int32) -> Int32
    let bindInteger: @convention(c) (Object, Int32, Int64) -> Int32
    /// The last parameter is the destructor; ``copies`` has the library copy the text.
    let bindText: @convention(c) (Object, Int32, Bytes, Int32, Int) -> Int32
    let columnCount: @convention(c) (Object) -> Int32
    let columnType: @convention(c) (Object, Int32) -> Int32
    let columnInteger: @convention(c) (Object, Int32) -> Int64
    let columnText: @convention(c) (Object, Int32) -> Bytes?
    let columnBytes: @convention(c) (Object, Int32) -> Int32

    /// `SQLITE_TRANSIENT`.
    static let copies = -1

    /// Loaded once, at its first use.
    static let shared = try? SQLiteLibrary()

    private init() throws(SharedLibrary.Missing) {
        let library = try SharedLibrary("libsqlite3.so.0")
        func function<Signature>(_ name: String) throws(SharedLibrary.Missing) -> Signature {
            try library.function("sqlite3_" + name)
        }
        open = try function("open_v2")
        close = try function("close_v2")
        message = try function("errmsg")
        extendedCode = try function("extended_errcode")
        systemError = try function("system_errno")
        setBusyTimeout = try function("busy_timeout")
        changes = try function("changes")
        lastID = try function("last_insert_rowid")
        isOutsideTransaction = try function("get_autocommit")
        prepare = try function("prepare_v2")
        finalize = try function("finalize")
        reset = try function("reset")
        clearBindings = try function("clear_bindings")
        step = try function("step")
        parameterCount = try function("bind_parameter_count")
        bindNull = try function("bind_null")
        bindInteger = try function("bind_int64")
        bindText = try function("bind_text")
        columnCount = try function("column_count")
        columnType = try function("column_type")
        columnInteger = try function("column_int64")
        columnText = try function("column_text")
        columnBytes = try function("column_bytes")
    }
}
