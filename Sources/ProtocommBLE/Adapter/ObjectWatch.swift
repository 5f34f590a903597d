import DBus
import Synchronization

/// The tree of BlueZ's objects as signals change it, and everyone who waits for something in it.
final class ObjectWatch: Sendable {
    private struct Waiter {
        /// True when it found what it waits for and went on its way.
        var check: (ObjectTree) -> Bool
        var giveUp: (BluetoothError) -> Void
    }

    private struct State: ~Copyable {
        var tree = ObjectTree()
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
        /// Given up before they began to wait.
        var early: [Int: BluetoothError] = [:]
        var end: BluetoothError?
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// Changes the tree, and shows it to whoever waits.
    func change(_ body: (inout ObjectTree) -> Void) {
        state.withLock { state in
            body(&state.tree)
            for (id, waiter) in state.waiters where waiter.check(state.tree) { state.waiters[id] = nil }
        }
    }

    func read<Result: Sendable>(_ body: (ObjectTree) -> Result) -> Result { state.withLock { body($0.tree) } }

    /// The bus is gone, or this side let go of it: nobody waits any longer.
    func end(_ error: BluetoothError) {
        state.withLock { state in
            if state.end == nil { state.end = error }
            for waiter in state.waiters.values { waiter.giveUp(error) }
            state.waiters = [:]
            state.tree.removeAll()
        }
    }

    /// Waits until `probe` finds something in the tree.
    ///
    /// - Throws: `timeout` when the time is over, `cancelled` when the calling task is, and what ``end(_:)`` was told.
    func wait<Found: Sendable>(
        within limit: Duration, for probe: @escaping @Sendable (ObjectTree) -> Found?
    ) async throws(BluetoothError) -> Found {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let clock = clock
        let timer = Task {
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            self.giveUp(id, BluetoothError(.timeout, message: "Nothing happened in time."))
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Found, BluetoothError>, Never>) in
                let now: Result<Found, BluetoothError>? = state.withLock { state in
                    if let early = state.early.removeValue(forKey: id) { return .failure(early) }
                    if let end = state.end { return .failure(end) }
                    if let found = probe(state.tree) { return .success(found) }
                    state.waiters[id] = Waiter(
                        check: { tree in
                            guard let found = probe(tree) else { return false }
                            continuation.resume(returning: .success(found))
                            return true
                        }, giveUp: { continuation.resume(returning: .failure($0)) })
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            giveUp(id, .cancelled)
        }
        timer.cancel()
        state.withLock { _ = $0.early.removeValue(forKey: id) }
        return try result.get()
    }

    private func giveUp(_ id: Int, _ error: BluetoothError) {
        state.withLock { state in
            if let waiter = state.waiters.removeValue(forKey: id) {
                waiter.giveUp(error)
            } else {
                state.early[id] = error
            }
        }
    }
}
