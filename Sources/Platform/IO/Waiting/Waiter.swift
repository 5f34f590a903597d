// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One value for the one task that waits for it.
///
/// The value may come before the task waits, or while it waits; later values are dropped. So a task may first be registered somewhere and
/// wait afterwards. Cancelling it before, during or after the wait needs no special care.
package final class Waiter<Value: Sendable>: Sendable {
    private enum Stage {
        case new
        case waiting(CheckedContinuation<Value, Never>)
        case given(Value)
        case over
    }

    private let stage = Mutex(Stage.new)

    package init() {}

    /// Gives the value. Only the first call has an effect.
    ///
    /// - Returns: whether this was the first call.
    @discardableResult
    package func resume(returning value: Value) -> Bool {
        let (isFirst, continuation) = stage.withLock { stage -> (Bool, CheckedContinuation<Value, Never>?) in
            switch stage {
            case .new:
                stage = .given(value)
                return (true, nil)
            case .waiting(let continuation):
                stage = .over
                return (true, continuation)
            case .given, .over: return (false, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }

    /// Waits for the value. Call it once.
    ///
    /// - Parameter onCancel: called when the task is cancelled, or at once if it already was. It has to ensure that the value comes,
    ///   usually by removing the waiter from its registry and calling ``resume(returning:)``.
    package func value(onCancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            onCancel()
        }
    }

    /// Waits for the value, even if the task is cancelled.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = stage.withLock { stage in
                guard case .given(let value) = stage else {
                    stage = .waiting(continuation)
                    return nil
                }
                stage = .over
                return value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

extension Waiter where Value == Void {
    package func resume() { resume(returning: ()) }
}

/// Why a wait was given up.
package enum GivenUp: Sendable, Equatable {
    case timedOut
    /// The waiting task was cancelled.
    case cancelled
}

extension Waiter {
    /// Waits for the value for a limited time. Call it once.
    ///
    /// - Parameter giveUp: called when the time is over and when the task is cancelled, on another thread or at once. It has to ensure that
    ///   the value comes, as with ``value(onCancel:)``. It may be called twice, and after the value has come.
    package func value(within limit: Duration, giveUp: @escaping @Sendable (GivenUp) -> Void) async -> Value {
        let timer = DeadlineTimer.start(at: .after(limit)) { giveUp(.timedOut) }
        defer { timer.cancel() }
        return await value { giveUp(.cancelled) }
    }
}

/// Calls a closure at a deadline, unless it is cancelled first.
///
/// All timers of the process share one thread. A sleeping task would do the same, but after its cancellation it keeps about 1 KB until its
/// time is over. A cancelled timer keeps nothing.
package struct DeadlineTimer: Sendable {
    private let id: Int?
    /// Used instead of the thread if the system could not start one.
    private let task: Task<Void, Never>?

    /// - Parameter body: called on the timers' thread, so it has to be short.
    package static func start(at deadline: MonotonicDeadline, _ body: @escaping @Sendable () -> Void) -> DeadlineTimer {
        if let id = TimerThread.shared?.add(deadline, body) { return DeadlineTimer(id: id, task: nil) }
        let task = Task {
            // Ends by itself, or is cancelled with the timer.
            if (try? await Task.sleep(for: deadline.left)) != nil { body() }
        }
        return DeadlineTimer(id: nil, task: task)
    }

    /// Prevents the call. A call that is already running continues.
    package func cancel() {
        if let id { TimerThread.shared?.remove(id) }
        task?.cancel()
    }
}

/// The clock of ``ContinuousClock``, whose sleeps keep no memory after they were cancelled (see ``DeadlineTimer``). For programs that run for
/// years and set a deadline for each of thousands of calls.
package struct TimerClock: Clock {
    private let base = ContinuousClock()

    package init() {}

    package var now: ContinuousClock.Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    package func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let waiter = Waiter<Bool>()
        let isOver = await waiter.value(within: deadline - now) { waiter.resume(returning: $0 == .timedOut) }
        if !isOver { throw CancellationError() }
    }
}

/// Sleeps until the earliest deadline. It starts with the first timer and never ends.
private final class TimerThread: Sendable {
    private struct Entry {
        var id: Int
        var deadline: MonotonicDeadline
        var body: @Sendable () -> Void
    }

    private struct State {
        /// The earliest deadline comes first.
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
            // Most timers have the same limit as the last one, and so belong at the end.
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
        // The closure's captures are released outside of the lock.
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
