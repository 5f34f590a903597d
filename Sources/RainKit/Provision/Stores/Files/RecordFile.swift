// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// Records in one private file, read and written on a thread of its own, one call after the other.
///
/// One at a time is what the file's lock allows anyhow, and so the calls of one process do not stand in each other's way there.
struct RecordFile<Record: Codable & Sendable>: Sendable {
    private let content: RecordFileContent<Record>
    private let beforeAccess: @Sendable () -> Void
    private let work = BlockingWork()
    private let queue = LockQueue()

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

    /// Does what never waits for the file's lock.
    func access<Answer: Sendable>(
        _ body: @escaping @Sendable (RecordFileContent<Record>) throws(RecordStoreError) -> Answer
    ) async throws(RecordStoreError) -> Answer {
        let (content, beforeAccess) = (content, beforeAccess)
        return try await work.run(
            noThread: { _ in
                RecordStoreError(path: content.path, message: "the system starts no thread to read or write it")
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

/// Has all changes fail that are in the queue when one has waited for the file's lock in vain: otherwise each would wait as long, and the last
/// for the sum of it.
private final class LockQueue: Sendable {
    private struct State {
        var last = 0
        var failure: (last: Int, error: RecordStoreError)?
    }

    private let state = Mutex(State())

    func enter() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func failAll(_ error: RecordStoreError) { state.withLock { $0.failure = ($0.last, error) } }

    func failure(of number: Int) -> RecordStoreError? {
        state.withLock { state in
            guard let failure = state.failure, number <= failure.last else { return nil }
            return failure.error
        }
    }
}
