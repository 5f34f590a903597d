// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainIO
import RainJSON
import RainMaker
import RainPrivateFiles
import RainSQLite
import Synchronization

/// What this machine keeps about the boards of batches until they are done: unfinished mappings, with their secrets, and claims.
///
/// It is one private file beside the ledger's, which has no secrets. Each board sees only its own records. What several boards change at the
/// same time is one commit, so a thousand boards do not wait for a thousand syncs.
final class BatchRecords: Sendable {
    private struct Operation: Sendable {
        var body: @Sendable (SQLiteConnection) throws(SQLiteError) -> Void
        var done: CheckedContinuation<Result<Void, RecordStoreError>, Never>
    }

    private struct State {
        var waiting: [Operation] = []
        var isRunning = false
        var held: Set<NodeID> = []
    }

    private let path: String
    private let connection: SQLiteConnection
    private let work = BlockingWork()
    private let state = Mutex(State())

    /// Opens the file, and creates it if it is missing.
    static func open(path: String) async throws(RecordStoreError) -> BatchRecords {
        let connection = try await BlockingWork().run(
            noThread: { _ in RecordStoreError(path: path, message: "the system could not start a thread to open it") },
            { () throws(RecordStoreError) in
                do {
                    let (folder, name) = PrivateFile(path: path).place
                    guard let folder = try PrivateFolder.open(folder, create: true) else {
                        throw PrivateFileError.missing(folder)
                    }
                    let connection = try SQLiteConnection(path: try folder.prepareFile(name))
                    _ = try connection.rows("pragma journal_mode = wal")
                    try connection.run("pragma synchronous = full")
                    try connection.run(
                        """
                        create table if not exists pending (
                            node text primary key, board text not null, record text not null)
                        """)
                    try connection.run("create index if not exists pending_board on pending (board)")
                    try connection.run(
                        "create table if not exists claimed (node text primary key, board text not null)")
                    try connection.run("create index if not exists claimed_board on claimed (board)")
                    return connection
                } catch let error as SQLiteError {
                    throw RecordStoreError(path: path, message: error.message)
                } catch {
                    throw RecordStoreError(path: path, message: "\(error)")
                }
            })
        return BatchRecords(path, connection)
    }

    private init(_ path: String, _ connection: SQLiteConnection) {
        self.path = path
        self.connection = connection
    }

    /// Returns the two stores of one board.
    /// - Parameter board: a text that no other board of any ledger has.
    func records(of board: String) -> BoardRecords {
        BoardRecords(
            pending: BatchMappings(records: self, board: board), claimed: BatchClaims(records: self, board: board))
    }

    fileprivate func hold(_ node: NodeID) -> PendingMappingHold? {
        guard state.withLock({ $0.held.insert(node).inserted }) else { return nil }
        return PendingMappingHold { [self] in state.withLock { _ = $0.held.remove(node) } }
    }

    fileprivate func rows(_ sql: String, _ values: [SQLiteValue]) async throws(RecordStoreError) -> [SQLiteRow] {
        let rows = Mutex<[SQLiteRow]>([])
        try await run { connection throws(SQLiteError) in
            let found = try connection.rows(sql, values)
            rows.withLock { $0 = found }
        }
        return rows.withLock { $0 }
    }

    fileprivate func change(_ sql: String, _ values: [SQLiteValue]) async throws(RecordStoreError) {
        try await run { connection throws(SQLiteError) in try connection.run(sql, values) }
    }

    private func run(
        _ body: @escaping @Sendable (SQLiteConnection) throws(SQLiteError) -> Void
    ) async throws(RecordStoreError) {
        let result = await withCheckedContinuation { done in
            let begins = state.withLock { state in
                state.waiting.append(Operation(body: body, done: done))
                defer { state.isRunning = true }
                return !state.isRunning
            }
            // A run saves what it leaves also after it was cancelled.
            if begins { Task { await runAll() } }
        }
        try result.get()
    }

    private func runAll() async {
        while let round = nextRound() {
            let (connection, path) = (connection, path)
            let result: Result<Void, RecordStoreError>
            do throws(RecordStoreError) {
                try await work.run(
                    noThread: { _ in
                        RecordStoreError(path: path, message: "the system could not start a thread to read or write it")
                    },
                    { () throws(RecordStoreError) in
                        let failure = { (error: SQLiteError) in RecordStoreError(path: path, message: error.message) }
                        try connection.transaction(orThrow: failure) { () throws(RecordStoreError) in
                            do throws(SQLiteError) {
                                for operation in round { try operation.body(connection) }
                            } catch {
                                throw failure(error)
                            }
                        }
                    })
                result = .success(())
            } catch {
                result = .failure(error)
            }
            for operation in round { operation.done.resume(returning: result) }
        }
    }

    private func nextRound() -> [Operation]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

/// The unfinished mappings of one board.
private struct BatchMappings: PendingMappingStore {
    let records: BatchRecords
    let board: String

    func all() async throws(RecordStoreError) -> [PendingMapping] {
        try await records.rows("select record from pending where board = ? order by rowid", [.text(board)]).compactMap {
            row in
            guard let text = row.text(0), let stored = try? JSONCoder.decode(StoredMapping.self, from: Array(text.utf8))
            else { return nil }
            return stored.mapping
        }
    }

    func save(_ mapping: PendingMapping) async throws(RecordStoreError) {
        guard let bytes = try? JSONCoder.encode(StoredMapping(mapping)) else { return }
        try await records.change(
            "insert or replace into pending (node, board, record) values (?, ?, ?)",
            [.text(mapping.node.rawValue), .text(board), .text(String(decoding: bytes, as: UTF8.self))])
    }

    func remove(node: NodeID) async throws(RecordStoreError) {
        try await records.change("delete from pending where node = ?", [.text(node.rawValue)])
    }

    func hold(node: NodeID) async throws(RecordStoreError) -> PendingMappingHold? { records.hold(node) }
}

/// The claim of one board, until the board is on its network.
private struct BatchClaims: ClaimedBoardStore {
    let records: BatchRecords
    let board: String

    func all() async throws(RecordStoreError) -> [NodeID] {
        try await records.rows("select node from claimed where board = ? order by rowid", [.text(board)])
            .compactMap { $0.text(0).map { NodeID($0) } }
    }

    func save(_ node: NodeID) async throws(RecordStoreError) {
        try await records.change(
            "insert or replace into claimed (node, board) values (?, ?)", [.text(node.rawValue), .text(board)])
    }

    func remove(_ node: NodeID) async throws(RecordStoreError) {
        try await records.change("delete from claimed where node = ?", [.text(node.rawValue)])
    }
}
