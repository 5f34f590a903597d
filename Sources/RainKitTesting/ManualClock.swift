// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Synchronization

/// A clock that only moves when a test moves it.
///
/// Sleeping tasks wake, in the order of their deadlines, when ``advance(by:)`` reaches them, or at once when they are cancelled.
public final class ManualClock: Clock {
    /// A moment of one clock. Moments of two clocks cannot be compared.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var offset: Duration
        /// Returns a later moment, or an earlier one if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time from here to the other moment; negative if that is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Waiter {
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var waiters: [Waiter] = []

        /// Removes the waiters whose number of sleepers is reached, and returns them.
        mutating func satisfiedWaiters() -> [Waiter] {
            let satisfied = waiters.filter { $0.count <= sleepers.count }
            waiters.removeAll { $0.count <= sleepers.count }
            return satisfied
        }
    }

    private let state = Mutex(State())

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The number of tasks that sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Whether a task sleeps until exactly that moment.
    public func hasSleeper(until deadline: Instant) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.deadline == deadline } }
    }

    /// The deadline of the sleeper that wakes first.
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// Waits until the test has moved the clock that far; returns at once if that time is over. Throws `CancellationError`; the tolerance
    /// has no effect.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let (outcome, waiters): (Result<Void, any Error>?, [Waiter]) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return (nil, state.satisfiedWaiters())
                }
                if let outcome { continuation.resume(with: outcome) }
                for waiter in waiters { waiter.continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Moves the clock on and wakes every sleeper whose deadline is reached.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers.removeValue(forKey: id) }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Returns as soon as at least `count` tasks sleep, so that moving the clock on cannot overtake them.
    public func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.waiters.append(Waiter(count: count, continuation: continuation))
                return false
            }
            if ready { continuation.resume() }
        }
    }
}

extension ManualClock {
    /// Runs `body` in this clock's time. As soon as all tasks only wait, the clock moves on to the next deadline.
    ///
    /// The work of `body`, of its child tasks and of the actors that it calls runs step by step on the caller's thread. So the load of the
    /// machine does not matter. Unstructured tasks (`Task { }`) are not included.
    public func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let steps = Steps()
        let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
        let task = Task(executorPreference: steps) {
            do {
                let value = try await body()
                outcome.withLock { $0 = .success(value) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        while outcome.withLock({ $0 == nil }) {
            if steps.runNext() { continue }
            // There is no work and no deadline, so other threads are still working.
            guard let next = nextDeadline else {
                await Task.yield()
                continue
            }
            advance(by: now.duration(to: next))
        }
        // The task's own end is a step, too.
        while steps.runNext() {}
        await task.value
        return try outcome.withLock { $0! }.get()
    }

    /// Jobs in the order of their arrival, which run on request.
    private final class Steps: TaskExecutor {
        private let waiting = Mutex<[UnownedJob]>([])

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            waiting.withLock { $0.append(job) }
        }

        /// Runs the first job. Returns false if there is none.
        func runNext() -> Bool {
            guard let job = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
            job.runSynchronously(on: asUnownedTaskExecutor())
            return true
        }
    }
}

/// A wall clock that only moves when a test moves it.
public final class ManualWallClock: WallClock {
    private let time: Mutex<UnixTime>

    /// - Parameter seconds: the time since 1970; by default a moment in January 2027.
    public init(seconds: Double = 1_800_000_000) { time = Mutex(UnixTime(seconds: seconds)) }

    public var now: UnixTime { time.withLock { $0 } }

    /// Moves the clock on, or back if it is negative.
    public func advance(seconds: Double) { time.withLock { $0 = $0 + seconds } }
}
