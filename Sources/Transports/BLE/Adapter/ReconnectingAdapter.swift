// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// The adapter of a long-running process. After it was lost, the next caller opens it again, and callers that come meanwhile share that
/// attempt.
final class ReconnectingAdapter: Sendable {
    typealias Outcome = Result<OpenAdapter, BluetoothError>

    private struct State {
        /// The one that was opened last; it may be over.
        var adapter: OpenAdapter
        var opening: Announcement<Outcome>?
        var task: Task<Void, Never>?
        /// What the last attempt failed with.
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

    /// The one that was opened last.
    var last: OpenAdapter { state.withLock { $0.adapter } }

    /// One that works, as far as anybody knows.
    ///
    /// - Parameter end: how long to wait for it, where it is opened anew. However long that is, the reason why it cannot be opened is
    ///   reported after ``AdapterLoss/patience``, counted from the loss.
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
            // Ends by itself when its patience does, or when this is closed.
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

    /// Those that wait or listen get `cancelled`.
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

/// When lost Bluetooth is opened again: at once, then at growing intervals for as long as an outage is waited out, and after that once for
/// each caller. A value, so that the policy can be read and tested by itself.
struct Reconnecting {
    static let shortestPause = Duration.milliseconds(50)
    static let longestPause = Duration.seconds(1)

    private var pause = shortestPause
    private let end: ContinuousClock.Instant
    /// Before the first attempt. A bus that disconnects this program each time is not asked without a pause.
    let first: Duration

    /// - Parameter opened: when what was lost had been opened.
    init(opened: ContinuousClock.Instant, lost: ContinuousClock.Instant) {
        end = lost + AdapterLoss.patience
        first = opened.duration(to: lost) < .seconds(1) ? Self.shortestPause : .zero
    }

    /// The pause before the next attempt; nil where the failure is to be reported.
    mutating func next(now: ContinuousClock.Instant = .now) -> Duration? {
        guard now < end else { return nil }
        defer { pause = min(pause * 2, Self.longestPause) }
        return min(pause, now.duration(to: end))
    }
}

/// What to do when Bluetooth is lost during a scan. A value, so that the policy can be read and tested by itself.
///
/// A restart of BlueZ, or an adapter that is switched on again, is waited for. A longer outage is reported, because otherwise it would look
/// as if no board were in reach. A scan that BlueZ does not begin is waited for as long as there is time.
struct AdapterLoss {
    /// An adapter that is switched on again may have its firmware to load.
    static let patience = Duration.seconds(5)
    /// BlueZ that crashed is started by the next message to it, and then takes up its adapters; D-Bus names errors of the start meanwhile.
    static let restartPatience = Duration.seconds(15)

    /// The problem at the moment; nil for none.
    private(set) var error: BluetoothError?
    private var began: ContinuousClock.Instant?

    mutating func note(_ error: BluetoothError?, now: ContinuousClock.Instant = .now) {
        // A scan that does not begin is no outage yet.
        if error == nil || self.error == nil || self.error?.code == .scanFailed { began = now }
        self.error = error
    }

    /// How much of the time may be waited.
    func left(of limit: Duration, now: ContinuousClock.Instant = .now) -> Duration {
        guard let error, let began else { return limit }
        let patience: Duration
        switch error.code {
        // Another client's scan may keep the kernel from it for long.
        case .scanFailed: return limit
        case .noBlueZ: patience = Self.restartPatience
        default: patience = Self.patience
        }
        return max(.zero, min(limit, began + patience - now))
    }
}

/// A value that comes once, and that any number of tasks wait for, each with a time limit of its own.
final class Announcement<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Waiter<Value?>] = []
    }

    private let state = Mutex(State())

    /// Gives the value to all tasks that wait. Only the first call has an effect.
    func make(_ value: Value) {
        // No task is resumed while the lock is held: a task that is being cancelled holds a lock of the runtime's while its handler waits
        // for this one.
        let waiters = state.withLock { state -> [Waiter<Value?>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Nil where the time is over first, or the calling task is cancelled.
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
