// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainJSON
import RainPrivateFiles
import Synchronization

/// Records in one private file, read and written on its own thread, one call after the other.
///
/// The file's lock admits only one call at a time. With one thread, the calls of one process do not wait for each other's lock.
struct RecordFile<Record: Codable & Sendable>: Sendable {
    private let content: RecordFileContent<Record>
    private let beforeAccess: @Sendable () -> Void
    private let work = BlockingWork()
    private let queue = LockQueue<RecordStoreError>()

    init(_ content: RecordFileContent<Record>, beforeAccess: @escaping @Sendable () -> Void) {
        self.content = content
        self.beforeAccess = beforeAccess
    }

    func all() async throws(RecordStoreError) -> [Record] {
        try await access { content throws(RecordStoreError) in try content.all() }
    }

    func save(_ record: Record) async throws(RecordStoreError) {
        try await change { content throws(RecordStoreError) in try content.save(record) }
    }

    func remove(_ name: String) async throws(RecordStoreError) {
        try await change { content throws(RecordStoreError) in try content.remove(name) }
    }

    /// Does work that never waits for the file's lock.
    func access<Answer: Sendable>(
        _ body: @escaping @Sendable (RecordFileContent<Record>) throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        let (content, beforeAccess) = (content, beforeAccess)
        return try await work.run(
            noThread: { _ in
                RecordStoreError(path: content.path, message: "the system could not start a thread to read or write it")
            },
            { () throws(RecordStoreError) in
                beforeAccess()
                return try body(content)
            })
    }

    private func change(
        _ body: @escaping @Sendable (RecordFileContent<Record>) throws(RecordStoreError) -> Void
    ) async throws(RecordStoreError) {
        let (queue, number) = (queue, queue.enter())
        try await access { content throws(RecordStoreError) in
            if let failure = queue.failure(of: number) { throw failure }
            do throws(RecordStoreError) {
                try body(content)
            } catch {
                if error.isLocked { queue.failAll(error) }
                throw error
            }
        }
    }
}

/// Makes all queued calls fail once one of them has waited for a lock or a server without success. Otherwise each call would wait that long,
/// and the last one for the sum.
final class LockQueue<Failure: Error>: Sendable {
    private struct State {
        var last = 0
        var failure: (last: Int, error: Failure)?
    }

    private let state = Mutex(State())

    func enter() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func failAll(_ error: Failure) { state.withLock { $0.failure = ($0.last, error) } }

    func failure(of number: Int) -> Failure? {
        state.withLock { state in
            guard let failure = state.failure, number <= failure.last else { return nil }
            return failure.error
        }
    }
}

/// Records of one kind in one private file, at most one of each identity, for the processes of one user.
///
/// Each change reads, changes and replaces the whole file while it holds its lock, so that processes do not lose each other's changes. All
/// calls block: ``RecordFile`` makes them on its own thread.
struct RecordFileContent<Record: Codable & Sendable>: Sendable {
    /// How to treat a file with other content.
    enum Unreadable: Sendable { case error, empty }

    private let file: PrivateFile
    var path: String { file.path }
    private let identity: any KeyPath<Record, String> & Sendable
    private let maximumEntries: Int
    private let unreadable: Unreadable

    /// - Parameter maximumEntries: the number of records kept; the oldest are removed.
    init(
        path: String, identity: any KeyPath<Record, String> & Sendable, maximumEntries: Int,
        whenUnreadable unreadable: Unreadable
    ) {
        file = PrivateFile(path: path)
        self.identity = identity
        self.maximumEntries = maximumEntries
        self.unreadable = unreadable
    }

    func all() throws(RecordStoreError) -> [Record] {
        do { return try decoded(try file.read()) } catch { throw failure(error) }
    }

    /// Adds the record at the end, and removes the earlier one of the same identity.
    func save(_ record: Record) throws(RecordStoreError) {
        try change { records in
            records.removeAll { $0[keyPath: identity] == record[keyPath: identity] }
            records.append(record)
            records = records.suffix(maximumEntries)
        }
    }

    func remove(_ name: String) throws(RecordStoreError) {
        // If there is nothing to remove, no file is created.
        guard try all().contains(where: { $0[keyPath: identity] == name }) else { return }
        try change { records in records.removeAll { $0[keyPath: identity] == name } }
    }

    private func change(_ body: (inout [Record]) -> Void) throws(RecordStoreError) {
        do {
            try file.update { bytes in
                var records = try decoded(bytes)
                body(&records)
                return (records.isEmpty ? nil : try JSONCoder.encode(records), ())
            }
        } catch {
            throw failure(error)
        }
    }

    private func decoded(_ bytes: [UInt8]?) throws -> [Record] {
        guard let bytes else { return [] }
        do {
            return try JSONCoder.decode([Record].self, from: bytes)
        } catch {
            if unreadable == .empty { return [] }
            throw RecordStoreError(path: path, message: "it cannot be read (\(error)); remove the file to continue")
        }
    }

    private func failure(_ error: any Error) -> RecordStoreError {
        if let error = error as? RecordStoreError { return error }
        var failure = RecordStoreError(path: path, message: "\(error)")
        failure.isLocked = (error as? PrivateFileError)?.code == .locked
        return failure
    }
}

/// A store of pending mappings or claimed boards could not be read or written.
public struct RecordStoreError: Error, Sendable, CustomStringConvertible {
    /// The file's path, or the place of a store of another kind.
    public var path: String
    /// What went wrong, without the path and without a full stop. Holds no secret.
    public var message: String
    /// Another process kept the lock of the file for too long.
    var isLocked = false

    public init(path: String, message: String) {
        self.path = path
        self.message = message
    }

    public var description: String { "\(path): \(message)" }
}
