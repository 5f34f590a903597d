import Synchronization

/// State that threads change and tasks wait for. Each change is shown to everyone who waits, in order of arrival.
final class Watched<State: Sendable>: Sendable {
    private struct Waiter: Sendable {
        /// Looks at the state; true when it found what it waits for and went on its way.
        let check: @Sendable (inout State) -> Bool
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

    func change(_ body: (inout State) -> Void) {
        contents.withLock { contents in
            body(&contents.state)
            var rest: [(id: Int, waiter: Waiter)] = []
            for entry in contents.waiters where !entry.waiter.check(&contents.state) { rest.append(entry) }
            contents.waiters = rest
        }
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
                contents.withLock { contents in
                    if let found = probe(&contents.state) { return continuation.resume(returning: found) }
                    if contents.late.remove(id) != nil || Task.isCancelled {
                        return continuation.resume(returning: nil)
                    }
                    let waiter = Waiter(
                        check: { state in
                            guard let found = probe(&state) else { return false }
                            continuation.resume(returning: found)
                            return true
                        }, giveUp: { continuation.resume(returning: nil) })
                    contents.waiters.append((id, waiter))
                }
            }
        } onCancel: {
            expire(id)
        }
    }

    private func expire(_ id: Int) {
        contents.withLock { contents in
            guard let index = contents.waiters.firstIndex(where: { $0.id == id }) else {
                contents.late.insert(id)
                return
            }
            contents.waiters.remove(at: index).waiter.giveUp()
        }
    }
}
