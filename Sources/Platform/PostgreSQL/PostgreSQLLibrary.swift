// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The functions of libpq (version 12 and later) that this module uses. They are found at run time, so programs start where it is not
/// installed.
///
/// Names and types are those of libpq-fe.h.
struct PostgreSQLLibrary: @unchecked Sendable {
    /// A `PGconn` or a `PGresult`.
    typealias Object = OpaquePointer
    typealias Text = UnsafePointer<CChar>
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    /// `PQconninfoOption`, whose layout is public.
    struct Option {
        var keyword: Text?
        var variable: Text?
        var compiled: Text?
        var value: Text?
        var label: Text?
        /// `*` for passwords.
        var display: Text?
        var size: Int32
    }

    /// `PostgresPollingStatusType`.
    enum Polling { static let failed: Int32 = 0, reading: Int32 = 1, writing: Int32 = 2, ok: Int32 = 3 }

    /// Returns an array of ``Option``; the last one has no keyword.
    let parseOptions: @convention(c) (Text, UnsafeMutablePointer<Text?>?) -> UnsafeMutableRawPointer?
    let freeOptions: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let startConnection: @convention(c) (Texts, Texts, Int32) -> Object?
    let pollConnection: @convention(c) (Object) -> Int32
    let status: @convention(c) (Object) -> Int32
    let socket: @convention(c) (Object) -> Int32
    let errorMessage: @convention(c) (Object) -> Text?
    let finish: @convention(c) (Object) -> Void
    let setNonblocking: @convention(c) (Object, Int32) -> Int32
    let setNoticeReceiver:
        @convention(c) (
            Object, @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Void, UnsafeMutableRawPointer?
        ) -> UnsafeRawPointer?
    let setVerbosity: @convention(c) (Object, Int32) -> Int32
    let parameter: @convention(c) (Object, Text) -> Text?

    let sendQuery:
        @convention(c) (
            Object, Text, Int32, UnsafePointer<UInt32>?, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let flush: @convention(c) (Object) -> Int32
    let consumeInput: @convention(c) (Object) -> Int32
    let isBusy: @convention(c) (Object) -> Int32
    let nextResult: @convention(c) (Object) -> Object?
    let clear: @convention(c) (Object) -> Void
    let resultStatus: @convention(c) (Object) -> Int32
    let resultField: @convention(c) (Object, Int32) -> Text?
    let rowCount: @convention(c) (Object) -> Int32
    let columnCount: @convention(c) (Object) -> Int32
    let isNull: @convention(c) (Object, Int32, Int32) -> Int32
    let value: @convention(c) (Object, Int32, Int32) -> UnsafePointer<UInt8>?
    let length: @convention(c) (Object, Int32, Int32) -> Int32
    let affectedRows: @convention(c) (Object) -> Text?

    /// Loaded once, at its first use.
    static let shared = try? PostgreSQLLibrary()

    static func load() throws(PostgreSQLError) -> PostgreSQLLibrary {
        guard let shared else {
            throw PostgreSQLError(
                .libraryMissing, "libpq.so.5 is not installed, or too old (Debian's package is libpq5)")
        }
        return shared
    }

    private init() throws(SharedLibrary.Missing) {
        let library = try SharedLibrary("libpq.so.5")
        func function<Signature>(_ name: String) throws(SharedLibrary.Missing) -> Signature {
            try library.function("PQ" + name)
        }
        parseOptions = try function("conninfoParse")
        freeOptions = try function("conninfoFree")
        startConnection = try function("connectStartParams")
        pollConnection = try function("connectPoll")
        status = try function("status")
        socket = try function("socket")
        errorMessage = try function("errorMessage")
        finish = try function("finish")
        setNonblocking = try function("setnonblocking")
        setNoticeReceiver = try function("setNoticeReceiver")
        setVerbosity = try function("setErrorVerbosity")
        parameter = try function("parameterStatus")
        sendQuery = try function("sendQueryParams")
        flush = try function("flush")
        consumeInput = try function("consumeInput")
        isBusy = try function("isBusy")
        nextResult = try function("getResult")
        clear = try function("clear")
        resultStatus = try function("resultStatus")
        resultField = try function("resultErrorField")
        rowCount = try function("ntuples")
        columnCount = try function("nfields")
        isNull = try function("getisnull")
        value = try function("getvalue")
        length = try function("getlength")
        affectedRows = try function("cmdTuples")
    }
}
