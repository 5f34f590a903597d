// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// State that threads change and tasks wait for. Each change is shown to everyone who waits, in order of arrival.
final class Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        /// Looks at the state; how to go on when it found what it waits for.
        let check: @Sendable (inout State) -> (@Sendable () -> Void)?
        let giveUp: @Sendable () -> Void
    }

    private struct Contents: Sendable {
        var state: State
        var waiters: [(id: Int, waiter: Waiter)] = []
        var nextID = 0
        /// Waiters whose time was over before they had begun to wait.
        var late: Set<Int> = []
    }

    private let contents: Mutex<Contents>

    init(_ state: State) { contents = Mutex(Contents(state: state)) }

    // Nobody goes on under the lock: going on takes the runtime's lock of a task, which a cancellation holds while it wants this one.

    func change(_ body: (inout State) -> Void) {
        let found = contents.withLock { contents in
            body(&contents.state)
            var found: [@Sendable () -> Void] = []
            contents.waiters.removeAll { entry in
                guard let goOn = entry.waiter.check(&contents.state) else { return false }
                found.append(goOn)
                return true
            }
            return found
        }
        for goOn in found { goOn() }
    }

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result { contents.withLock { body($0.state) } }

    /// Waits until `probe` finds something; nil when the time is over or the task was cancelled.
    func wait<Found: Sendable>(
        within limit: Duration, for probe: @escaping @Sendable (inout State) -> Found?
    ) async -> Found? {
        let id = contents.withLock { contents in
            contents.nextID += 1
            return contents.nextID
        }
        // Ends with this function: cancelled as soon as the wait is over.
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self.expire(id)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Found?, Never>) in
                let answer: Found?? = contents.withLock { contents in
                    if let found = probe(&contents.state) { return .some(found) }
                    if contents.late.remove(id) != nil || Task.isCancelled { return .some(nil) }
                    let waiter = Waiter(
                        check: { state in
                            guard let found = probe(&state) else { return nil }
                            return { continuation.resume(returning: found) }
                        },
                        giveUp: { continuation.resume(returning: nil) })
                    contents.waiters.append((id, waiter))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            expire(id)
        }
    }

    private func expire(_ id: Int) {
        let waiter: Waiter? = contents.withLock { contents in
            guard let index = contents.waiters.firstIndex(where: { $0.id == id }) else {
                contents.late.insert(id)
                return nil
            }
            return contents.waiters.remove(at: index).waiter
        }
        waiter?.giveUp()
    }
}
