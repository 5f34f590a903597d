import Synchronization

/// Something that comes once, and that any number of tasks wait for, each for as long as it likes.
///
/// Nobody is resumed with the lock held: a task that is being cancelled holds a lock of the runtime's while its handler wants this one.
final class Announcement<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value?, Never>

    private enum Place {
        /// Known, and about to wait.
        case coming
        case waiting(Waiter)
        /// Given up before it began to wait.
        case gone
    }

    private struct State {
        var value: Value?
        var nextID = 0
        var places: [Int: Place] = [:]
    }

    private let state = Mutex(State())

    /// Tells everyone. What is told later does not count.
    func make(_ value: Value) {
        let waiters = state.withLock { state -> [Waiter] in
            guard state.value == nil else { return [] }
            state.value = value
            let waiters = state.places.values.compactMap { if case .waiting(let waiter) = $0 { waiter } else { nil } }
            state.places = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Nil where the time is over first, or the calling task is cancelled.
    func value(until end: ContinuousClock.Instant) async -> Value? {
        let id = state.withLock { state in
            state.nextID += 1
            state.places[state.nextID] = .coming
            return state.nextID
        }
        let timer = Task {
            guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
            self.giveUp(id)
        }
        let value = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                let now: Value?? = state.withLock { state in
                    if let value = state.value { return value }
                    if case .gone? = state.places[id] { return .some(nil) }
                    state.places[id] = .waiting(waiter)
                    return nil
                }
                if let now { waiter.resume(returning: now) }
            }
        } onCancel: {
            giveUp(id)
        }
        timer.cancel()
        state.withLock { _ = $0.places.removeValue(forKey: id) }
        return value
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            switch state.places[id] {
            case .waiting(let waiter):
                state.places[id] = nil
                return waiter
            case .coming:
                state.places[id] = .gone
                return nil
            case .gone, nil: return nil
            }
        }
        waiter?.resume(returning: nil)
    }
}
