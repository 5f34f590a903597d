// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO

/// A value of a parameter. The statement's text gives its type, such as `$1::bigint[]`.
package enum PostgreSQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case integers([Int64?])
    case texts([String?])

    /// The text form, which the server parses; nil for NULL.
    var encoded: String? {
        switch self {
        case .null: nil
        case .integer(let number): String(number)
        case .text(let text): text
        case .integers(let numbers): "{" + numbers.map { $0.map(String.init) ?? "NULL" }.joined(separator: ",") + "}"
        case .texts(let texts): "{" + texts.map { $0.map(Self.quoted) ?? "NULL" }.joined(separator: ",") + "}"
        }
    }

    /// An element of an array (PostgreSQL's manual, 8.15.6).
    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self) + "\""
    }
}

/// A row of a result. A column that is NULL, or that is not a number where one is requested, gives nil.
package struct PostgreSQLRow: Sendable, Equatable {
    let values: [String?]

    package func integer(_ column: Int) -> Int64? { text(column).flatMap { Int64($0) } }
    package func text(_ column: Int) -> String? { values.indices.contains(column) ? values[column] : nil }
}

/// What a statement gave.
package struct PostgreSQLResult: Sendable, Equatable {
    package var rows: [PostgreSQLRow] = []
    /// How many rows it has inserted, changed, deleted or returned.
    package var count = 0
}

/// A connection to a PostgreSQL server. One thread at a time may use it; all calls block, each statement for at most ``answerLimit``.
package final class PostgreSQLConnection: @unchecked Sendable {
    /// How long connecting may take, and how long the answer to one statement. The lookup of the host's name is not part of it: it has the
    /// limits of resolv.conf(5).
    package static let answerLimit = Duration.seconds(10)
    /// The server itself gives up before that, so that a statement which waits for a lock has no effect later.
    static let statementLimit = "8s"

    /// Whether the connection has ended, or is in an unknown state. Every later statement fails.
    package private(set) var isLost = false
    private let library: PostgreSQLLibrary
    private let connection: OpaquePointer
    private let address: PostgreSQLAddress

    /// Connects, and sets the limits of the session.
    package init(_ address: PostgreSQLAddress) throws(PostgreSQLError) {
        library = try PostgreSQLLibrary.load()
        self.address = address
        let library = library
        let started: OpaquePointer? = address.withParameters { keywords, values in
            withCStrings(keywords) { keywords in
                withCStrings(values) { values in library.startConnection(keywords, values, 1) }
            }
        }
        guard let started else { throw PostgreSQLError(.unreachable, "out of memory") }
        connection = started
        // The connection is closed by deinit, also if this throws.
        _ = library.setVerbosity(connection, 2)
        _ = library.setNoticeReceiver(connection, { _, _ in }, nil)
        try waitForConnection(until: .after(Self.answerLimit))
        _ = library.setVerbosity(connection, 1)
        guard library.setNonblocking(connection, 1) == 0 else { throw failure(.unreachable) }
        _ = try run(
            """
            select set_config('statement_timeout', $1, false),
                set_config('idle_in_transaction_session_timeout', $1, false),
                set_config('synchronous_commit',
                    case current_setting('synchronous_commit') when 'off' then 'on'
                    else current_setting('synchronous_commit') end, false)
            """, [.text(Self.statementLimit)])
    }

    deinit { library.finish(connection) }

    /// The encoding of the database, such as `UTF8`.
    package var serverEncoding: String {
        library.parameter(connection, "server_encoding").map { String(cString: $0) } ?? ""
    }

    /// Runs one statement. Outside of a transaction it is one of its own.
    @discardableResult
    package func run(_ sql: String, _ values: [PostgreSQLValue] = []) throws(PostgreSQLError) -> PostgreSQLResult {
        let encoded = values.map(\.encoded)
        guard !encoded.contains(where: { $0?.utf8.contains(0) == true }) else {
            throw PostgreSQLError(.invalidText, "a text contains a NUL character")
        }
        guard !isLost else { throw PostgreSQLError(.lost, "the connection has ended") }
        let deadline = MonotonicDeadline.after(Self.answerLimit)
        let isSent = withCStrings(encoded) {
            library.sendQuery(connection, sql, Int32(encoded.count), nil, $0, nil, nil, 0)
        }
        guard isSent == 1 else { throw ended() }
        try flush(until: deadline)
        // There are more results than one only if the connection breaks.
        var outcome: Result<PostgreSQLResult, PostgreSQLError>?
        while let answer = try nextAnswer(until: deadline) {
            defer { library.clear(answer) }
            outcome = result(answer)
        }
        guard library.status(connection) == 0 else {
            let error = ended()
            // A server that shuts down sends the reason before it closes the connection.
            if case .failure(let refusal)? = outcome, refusal.state != nil { throw refusal }
            throw error
        }
        guard let outcome else { throw ended() }
        return try outcome.get()
    }

    /// Runs `body` in a transaction. If `body` throws, nothing is written, unless the connection was lost while it was committed.
    package func transaction<Result, Failure: Error>(
        orThrow failure: (PostgreSQLError) -> Failure, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        do throws(PostgreSQLError) { try run("begin") } catch { throw failure(error) }
        let result: Result
        do throws(Failure) {
            result = try body()
        } catch {
            if !isLost, (try? run("rollback")) == nil { isLost = true }
            throw error
        }
        do throws(PostgreSQLError) { try run("commit") } catch { throw failure(error) }
        return result
    }

    // MARK: Waiting

    private func waitForConnection(until deadline: MonotonicDeadline) throws(PostgreSQLError) {
        guard library.status(connection) != 1 else { throw connectionFailure() }
        var next = PostgreSQLLibrary.Polling.writing
        while true {
            let events: PollEvents = next == PostgreSQLLibrary.Polling.reading ? .readable : .writable
            guard pollDescriptor(library.socket(connection), for: events, until: deadline) else {
                // CONNECTION_STARTED: TCP has not connected yet.
                throw PostgreSQLError(
                    .timedOut,
                    library.status(connection) == 2
                        ? "the server did not accept a connection within 10 s"
                        : "a server accepted the connection, but sent no answer of PostgreSQL within 10 s")
            }
            next = library.pollConnection(connection)
            switch next {
            case PostgreSQLLibrary.Polling.ok: return
            case PostgreSQLLibrary.Polling.failed: throw connectionFailure()
            default: continue
            }
        }
    }

    private func flush(until deadline: MonotonicDeadline) throws(PostgreSQLError) {
        while true {
            switch library.flush(connection) {
            case 0: return
            case 1: break
            default: throw ended()
            }
            // The server may send before it has read everything.
            var entries = [PollEntry(library.socket(connection), for: [.readable, .writable])]
            guard pollDescriptors(&entries, until: deadline) == .ready else { throw timedOut() }
            if entries[0].found.contains(.readable), library.consumeInput(connection) == 0 { throw ended() }
        }
    }

    private func nextAnswer(until deadline: MonotonicDeadline) throws(PostgreSQLError) -> OpaquePointer? {
        while library.isBusy(connection) == 1 {
            guard pollDescriptor(library.socket(connection), for: .readable, until: deadline) else { throw timedOut() }
            // After an error, the results that came before it are still returned, and then a failure.
            if library.consumeInput(connection) == 0 { break }
        }
        return library.nextResult(connection)
    }

    // MARK: Results

    private func result(_ answer: OpaquePointer) -> Result<PostgreSQLResult, PostgreSQLError> {
        switch library.resultStatus(answer) {
        case 1, 2: break  // PGRES_COMMAND_OK, PGRES_TUPLES_OK
        default:
            func field(_ name: Character) -> String? {
                library.resultField(answer, Int32(name.asciiValue ?? 0)).map { String(cString: $0) }
            }
            guard let state = field("C") else { return .failure(failure(.lost)) }
            return .failure(PostgreSQLError(.refused, state: state, address.redacted(field("M") ?? state)))
        }
        let columns = library.columnCount(answer)
        let rows = (0..<library.rowCount(answer)).map { row in
            PostgreSQLRow(
                values: (0..<columns).map { column in
                    guard library.isNull(answer, row, column) == 0, let value = library.value(answer, row, column)
                    else { return nil }
                    let count = Int(library.length(answer, row, column))
                    return String(decoding: UnsafeBufferPointer(start: value, count: count), as: UTF8.self)
                })
        }
        let count = library.affectedRows(answer).flatMap { Int(String(cString: $0)) } ?? 0
        return .success(PostgreSQLResult(rows: rows, count: count))
    }

    private var libraryText: String { library.errorMessage(connection).map { String(cString: $0) } ?? "" }

    private func failure(_ code: PostgreSQLError.Code) -> PostgreSQLError {
        PostgreSQLError(code, address.redacted(libraryText))
    }

    private func connectionFailure() -> PostgreSQLError {
        var error = PostgreSQLError(connecting: libraryText)
        error.message = address.redacted(error.message)
        if error.code == .noPassword, let file = PasswordFile(given: address.passwordFile), file.isIgnored {
            error.ignoredFile = file.path
        }
        return error
    }

    private func ended() -> PostgreSQLError {
        isLost = true
        return failure(.lost)
    }

    private func timedOut() -> PostgreSQLError {
        isLost = true
        return PostgreSQLError(.timedOut, "the server did not answer within 10 s")
    }
}

/// Passes the texts as an array of C strings that ends with a null pointer; a text that is nil is a null pointer too.
private func withCStrings<Result>(_ texts: [String?], _ body: (PostgreSQLLibrary.Texts) -> Result) -> Result {
    let copies = texts.map { $0.map { strdup($0) } ?? nil }
    defer { for copy in copies { free(copy) } }
    return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
}
