// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// The adapter of a long-running process. After a loss the next caller opens it again, and other callers share that attempt.
final class ReconnectingAdapter: Sendable {
    typealias Outcome = Result<OpenAdapter, BluetoothError>

    private struct State {
        /// The adapter that was opened last; it may be lost.
        var adapter: OpenAdapter
        var opening: Announcement<Outcome>?
        var task: Task<Void, Never>?
        /// The error of the last attempt.
        var trouble: BluetoothError?
        var isClosed = false
    }

    private enum Turn {
        case take(OpenAdapter)
        case wait(Announcement<Outcome>)
        case open(Announcement<Outcome>, Reconnecting)
        case closed
    }

    private let state: Mutex<State>
    private let open: @Sendable () async throws(BluetoothError) -> OpenAdapter

    init(_ adapter: OpenAdapter, open: @escaping @Sendable () async throws(BluetoothError) -> OpenAdapter) {
        state = Mutex(State(adapter: adapter))
        self.open = open
    }

    /// The adapter that was opened last.
    var last: OpenAdapter { state.withLock { $0.adapter } }

    /// Returns an adapter that works, as far as known.
    ///
    /// - Parameter end: how long to wait for it, if it must be opened again. In any case the reason why it cannot be opened is reported
    ///   after ``AdapterLoss/patience``, counted from the loss.
    /// - Throws: why it cannot be opened, as ``BluetoothCentral/open(adapter:bus:isBlocked:logger:)``; `cancelled`.
    func current(until end: ContinuousClock.Instant) async throws(BluetoothError) -> OpenAdapter {
        last.endIfReplaceable()
        let turn: Turn = state.withLock { state in
            if state.isClosed { return .closed }
            if let opening = state.opening { return .wait(opening) }
            guard let lost = state.adapter.watch.ended else { return .take(state.adapter) }
            let opening = Announcement<Outcome>()
            state.opening = opening
            return .open(opening, Reconnecting(opened: state.adapter.opened, lost: lost))
        }
        let opening: Announcement<Outcome>
        switch turn {
        case .take(let adapter): return adapter
        case .closed: throw .cancelled
        case .wait(let underWay): opening = underWay
        case .open(let new, let reopening):
            opening = new
            // Ends by itself with its time limit, or when this is closed.
            let task = Task { await self.reopen(reopening, new) }
            let isClosed = state.withLock { state in
                state.task = task
                return state.isClosed
            }
            if isClosed { task.cancel() }
        }
        guard let outcome = await opening.value(until: end) else {
            throw Task.isCancelled ? BluetoothError.cancelled : state.withLock { $0.trouble } ?? .busLost
        }
        return try outcome.get()
    }

    /// Waiting and listening callers get `cancelled`.
    func close() {
        let (adapter, opening, task) = state.withLock { state in
            state.isClosed = true
            return (state.adapter, state.opening, state.task)
        }
        task?.cancel()
        opening?.make(.failure(.cancelled))
        adapter.close()
    }

    private func reopen(_ reopening: Reconnecting, _ opening: Announcement<Outcome>) async {
        var reopening = reopening
        var pause: Duration? = reopening.first
        var outcome = Outcome.failure(.busLost)
        while let rest = pause {
            if rest > .zero { try? await Task.sleep(for: rest) }
            do throws(BluetoothError) { outcome = .success(try await open()) } catch { outcome = .failure(error) }
            switch outcome {
            case .success: pause = nil
            case .failure(let error):
                pause = Task.isCancelled ? nil : reopening.next()
                state.withLock { $0.trouble = error }
            }
        }
        let isClosed = state.withLock { state in
            state.opening = nil
            state.task = nil
            if case .success(let adapter) = outcome {
                state.trouble = nil
                if !state.isClosed { state.adapter = adapter }
            }
            return state.isClosed
        }
        if isClosed, case .success(let adapter) = outcome { adapter.close() }
        opening.make(isClosed ? .failure(.cancelled) : outcome)
    }
}

/// When lost Bluetooth is opened again: at once, then at growing intervals while an outage is waited out, and after that once for each
/// caller. It is a value, so that the policy can be read and tested by itself.
struct Reconnecting {
    static let shortestPause = Duration.milliseconds(50)
    static let longestPause = Duration.seconds(1)

    private var pause = shortestPause
    private let end: ContinuousClock.Instant
    /// The pause before the first attempt. If the bus disconnects this program each time, there is always a pause.
    let first: Duration

    /// - Parameter opened: when the lost connection was opened.
    init(opened: ContinuousClock.Instant, lost: ContinuousClock.Instant) {
        end = lost + AdapterLoss.patience
        first = opened.duration(to: lost) < .seconds(1) ? Self.shortestPause : .zero
    }

    /// Returns the pause before the next attempt; nil if the failure is to be reported.
    mutating func next(now: ContinuousClock.Instant = .now) -> Duration? {
        guard now < end else { return nil }
        defer { pause = min(pause * 2, Self.longestPause) }
        return min(pause, now.duration(to: end))
    }
}

/// The policy for a loss of Bluetooth during a scan. It is a value, so that it can be read and tested by itself.
///
/// A restart of BlueZ, or an adapter that is switched on again, is waited for. A longer outage is reported, because otherwise it would look
/// as if no board were in range. A scan that BlueZ does not start is waited for while there is time.
struct AdapterLoss {
    /// An adapter that is switched on again may have to load its firmware.
    static let patience = Duration.seconds(5)
    /// If BlueZ crashed, the next message starts it, and then it finds its adapters; meanwhile D-Bus reports errors of the start.
    static let restartPatience = Duration.seconds(15)

    /// The current problem; nil if there is none.
    private(set) var error: BluetoothError?
    private var began: ContinuousClock.Instant?
    private let patience: Duration

    init(patience: Duration = AdapterLoss.patience) { self.patience = patience }

    mutating func note(_ error: BluetoothError?, now: ContinuousClock.Instant = .now) {
        // A scan that does not start is not yet an outage.
        if error == nil || self.error == nil || self.error?.code == .scanFailed { began = now }
        self.error = error
    }

    /// Returns how much of the time may be waited.
    func left(of limit: Duration, now: ContinuousClock.Instant = .now) -> Duration {
        guard let error, let began else { return limit }
        let patience: Duration
        switch error.code {
        // Another client's scan may prevent the kernel from starting it for a long time.
        case .scanFailed: return limit
        case .noBlueZ: patience = self.patience < Self.patience ? self.patience : Self.restartPatience
        default: patience = self.patience
        }
        return max(.zero, min(limit, began + patience - now))
    }
}

/// A value that is set once, and that any number of tasks wait for, each with its own time limit.
final class Announcement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Waiter<Value?>] = []
    }

    private let state = Mutex(State())

    /// Sets the value for all waiting tasks. Only the first call has an effect.
    func make(_ value: Value) {
        // No task is resumed while the lock is held: a task that is being cancelled holds a lock of the runtime while its handler waits for
        // this one.
        let waiters = state.withLock { state -> [Waiter<Value?>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Returns the value, or nil if the time is over first or the calling task is cancelled.
    func value(until end: ContinuousClock.Instant) async -> Value? {
        let waiter = Waiter<Value?>()
        let now = state.withLock { state in
            if state.value == nil { state.waiters.append(waiter) }
            return state.value
        }
        if let now { return now }
        return await waiter.value(within: ContinuousClock.now.duration(to: end)) { [self] _ in
            state.withLock { state in state.waiters.removeAll { $0 === waiter } }
            waiter.resume(returning: nil)
        }
    }
}
