// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Calls something at a deadline, unless it is cancelled first.
///
/// All timers of the process share one thread. A sleeping task does the same, and keeps about 1 KB after it was cancelled until its
/// time is over; a cancelled timer keeps nothing.
package struct DeadlineTimer: Sendable {
    private let id: Int?
    /// Used in place of the thread where the system starts none.
    private let task: Task<Void, Never>?

    /// - Parameter body: called on the thread of the timers, so it has to be short.
    package static func start(at deadline: MonotonicDeadline, _ body: @escaping @Sendable () -> Void) -> DeadlineTimer {
        if let id = TimerThread.shared?.add(deadline, body) { return DeadlineTimer(id: id, task: nil) }
        let task = Task {
            // Ends by itself, or is cancelled with the timer.
            if (try? await Task.sleep(for: deadline.left)) != nil { body() }
        }
        return DeadlineTimer(id: nil, task: task)
    }

    /// From then on nothing is called; what is just being called goes on.
    package func cancel() {
        if let id { TimerThread.shared?.remove(id) }
        task?.cancel()
    }
}

/// Sleeps until the first deadline of all. It begins with the first timer and stays.
private final class TimerThread: Sendable {
    private struct Entry {
        var id: Int
        var deadline: MonotonicDeadline
        var body: @Sendable () -> Void
    }

    private struct State {
        /// The first deadline first.
        var entries: [Entry] = []
        var lastID = 0
    }

    static let shared: TimerThread? = {
        guard let wakeup = WakePipe() else { return nil }
        let timers = TimerThread(wakeup)
        return startThread { timers.run() } == 0 ? timers : nil
    }()

    private let state = Mutex(State())
    private let wakeup: WakePipe

    private init(_ wakeup: WakePipe) { self.wakeup = wakeup }

    func add(_ deadline: MonotonicDeadline, _ body: @escaping @Sendable () -> Void) -> Int {
        let (id, isFirst) = state.withLock { state in
            state.lastID += 1
            // Most come with the same limit as the last one, and so belong at the end.
            let index = (state.entries.lastIndex { $0.deadline <= deadline } ?? -1) + 1
            state.entries.insert(Entry(id: state.lastID, deadline: deadline, body: body), at: index)
            return (state.lastID, index == 0)
        }
        if isFirst { wakeup.ring() }
        return id
    }

    func remove(_ id: Int) {
        let removed = state.withLock { state in
            state.entries.firstIndex { $0.id == id }.map { state.entries.remove(at: $0) }
        }
        // What it holds goes outside of the lock.
        withExtendedLifetime(removed) {}
    }

    private func run() {
        while true {
            var polled: [PollEntry] = [.readable(wakeup.reader)]
            _ = pollDescriptors(&polled, until: state.withLock { $0.entries.first?.deadline })
            wakeup.drain()
            for entry in takeDue() { entry.body() }
        }
    }

    private func takeDue() -> [Entry] {
        state.withLock { state in
            let count = state.entries.prefix { $0.deadline.isOver }.count
            defer { state.entries.removeFirst(count) }
            return Array(state.entries.prefix(count))
        }
    }
}
