// SPDX-License-Identifier: Apache-2.0
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
