// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainIO
import Synchronization

/// The tree of BlueZ's objects as signals change it, and the tasks that wait for something in it.
///
/// No task is resumed, and nothing is cancelled, while the lock is held: a task that is being cancelled holds a lock of the runtime's while
/// its handler waits for this one, and resuming the task needs the runtime's.
final class ObjectWatch: Sendable {
    private struct Search {
        /// The objects that it is about; nil for any.
        var paths: [String]?
        /// Looks for what is wanted; returns what resumes the waiting task where it is found.
        var check: (ObjectTree, ObjectTree.Change) -> (() -> Void)?
        var giveUp: (BluetoothError) -> Void
    }

    private struct State: ~Copyable {
        var tree = ObjectTree()
        var waiters: [Int: Search] = [:]
        /// The searches that are about certain objects, by path; all others are shown every change.
        var byPath: [String: Set<Int>] = [:]
        var general: Set<Int> = []
        var nextID = 0
        var end: (error: BluetoothError, at: ContinuousClock.Instant)?

        mutating func add(_ id: Int, _ waiter: Search) {
            waiters[id] = waiter
            guard let paths = waiter.paths else { return _ = general.insert(id) }
            for path in paths { byPath[path, default: []].insert(id) }
        }

        @discardableResult
        mutating func remove(_ id: Int) -> Search? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            general.remove(id)
            for path in waiter.paths ?? [] {
                byPath[path]?.remove(id)
                if byPath[path]?.isEmpty == true { byPath[path] = nil }
            }
            return waiter
        }
    }

    private let state = Mutex(State())

    /// Changes the tree, and shows what changed to those that wait for it. Of a thousand boards that are heard each second, fifty
    /// waiters want one each.
    @discardableResult
    func change(_ body: (inout ObjectTree) -> ObjectTree.Change) -> ObjectTree.Change {
        var change = ObjectTree.Change.nothing
        let found = state.withLock { state -> [() -> Void] in
            guard state.end == nil else { return [] }
            change = body(&state.tree)
            let ids: [Int] =
                switch change {
                case .nothing: []
                case .object(let path): Array(state.general) + Array(state.byPath[path] ?? [])
                case .everything: Array(state.waiters.keys)
                }
            return ids.compactMap { id in
                guard let goOn = state.waiters[id]?.check(state.tree, change) else { return nil }
                state.remove(id)
                return goOn
            }
        }
        for goOn in found { goOn() }
        return change
    }

    func read<Result: Sendable>(_ body: (ObjectTree) -> Result) -> Result { state.withLock { body($0.tree) } }

    /// When it ended; nil while it goes on.
    var ended: ContinuousClock.Instant? { state.withLock { $0.end?.at } }

    /// The bus is gone, or this side closed it, or the adapter is another: all waits end, and nothing is known any more. What
    /// ended it first is told to who comes later.
    func end(_ error: BluetoothError) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = (error, .now) }
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            state.byPath = [:]
            state.general = []
            state.tree.removeAll()
            return waiters
        }
        for waiter in waiters { waiter.giveUp(error) }
    }

    /// Waits until `probe` finds something in the tree. It is asked at once, with everything changed, and after each change.
    ///
    /// - Parameter paths: the objects that it looks at; nil for any.
    /// - Throws: `timeout` when the time is over, `cancelled` when the calling task is, and what ``end(_:)`` was told.
    func wait<Found: Sendable>(
        forAny paths: [String]?, within limit: Duration,
        _ probe: @escaping @Sendable (ObjectTree, ObjectTree.Change) -> Found?
    ) async throws(BluetoothError) -> Found {
        guard !Task.isCancelled else { throw .cancelled }
        let waiter = Waiter<Result<Found, BluetoothError>>()
        let (id, now) = state.withLock { state -> (Int, Result<Found, BluetoothError>?) in
            if let end = state.end { return (0, .failure(end.error)) }
            if let found = probe(state.tree, .everything) { return (0, .success(found)) }
            state.nextID += 1
            state.add(
                state.nextID,
                Search(
                    paths: paths,
                    check: { tree, change in
                        guard let found = probe(tree, change) else { return nil }
                        return { waiter.resume(returning: .success(found)) }
                    }, giveUp: { waiter.resume(returning: .failure($0)) }))
            return (state.nextID, nil)
        }
        if let now { return try now.get() }
        return try await waiter.value(within: limit) { [self] reason in
            let error =
                reason == .cancelled ? .cancelled : BluetoothError(.timeout, message: "Nothing happened in time.")
            state.withLock { $0.remove(id) }?.giveUp(error)
        }.get()
    }

    /// The same for one object.
    func wait<Found: Sendable>(
        for path: String, within limit: Duration,
        _ probe: @escaping @Sendable (ObjectTree, ObjectTree.Change) -> Found?
    ) async throws(BluetoothError) -> Found {
        try await wait(forAny: [path], within: limit, probe)
    }
}
