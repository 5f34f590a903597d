import Synchronization
import RainWaiting

/// What callers and the bus's thread share.
final class Mailbox: Sendable {
    typealias Waiter = CheckedContinuation<Result<[DBusValue], DBusError>, Never>

    struct Letter {
        var id: Int
        var call: DBusCall
        var deadline: UInt64
        var inOrder: (@Sendable ([DBusValue]) -> Void)?
    }

    /// A call on its way through here; none is kept once it was answered.
    private enum Stage {
        case new
        /// Before its caller began to wait.
        case cancelled
        case waiting(Waiter)
    }

    private struct State {
        var nextID = 0
        var letters: [Letter] = []
        var calls: [Int: Stage] = [:]
        var start: CheckedContinuation<Result<Void, DBusError>, Never>?
        /// Why nobody will be answered any more.
        var end: DBusError?
    }

    private let state = Mutex(State())
    /// Rings when there is something to look at.
    let bell: WakePipe

    init() throws(DBusError) {
        guard let bell = WakePipe() else { throw DBusError(.unavailable, message: "No descriptor for D-Bus.") }
        self.bell = bell
    }

    func expectStart(_ continuation: CheckedContinuation<Result<Void, DBusError>, Never>) {
        state.withLock { $0.start = continuation }
    }

    func started(_ result: Result<Void, DBusError>) {
        let (start, end) = state.withLock { state in
            defer { state.start = nil }
            return (state.start, state.end)
        }
        start?.resume(returning: end.map { .failure($0) } ?? result)
    }

    func newID() -> Int {
        state.withLock { state in
            state.nextID += 1
            state.calls[state.nextID] = .new
            return state.nextID
        }
    }

    func post(
        _ call: DBusCall, id: Int, deadline: UInt64, _ inOrder: (@Sendable ([DBusValue]) -> Void)?, _ waiter: Waiter
    ) {
        let refused: DBusError? = state.withLock { state in
            if case .cancelled? = state.calls.removeValue(forKey: id) {
                return DBusError(.cancelled, message: "Cancelled.")
            }
            if let end = state.end { return end }
            state.calls[id] = .waiting(waiter)
            state.letters.append(Letter(id: id, call: call, deadline: deadline, inOrder: inOrder))
            return nil
        }
        if let refused { waiter.resume(returning: .failure(refused)) } else { bell.ring() }
    }

    /// Whoever answers first is heard.
    func answer(_ id: Int, _ result: Result<[DBusValue], DBusError>) {
        let waiter: Waiter? = state.withLock { state in
            switch state.calls.removeValue(forKey: id) {
            case .waiting(let waiter): return waiter
            case .new, .cancelled:
                state.calls[id] = .cancelled
                return nil
            case nil: return nil
            }
        }
        waiter?.resume(returning: result)
    }

    /// What is to be sent, or nil when it is over.
    func take() -> [Letter]? {
        bell.drain()
        return state.withLock { state in
            guard state.end == nil else { return nil }
            defer { state.letters = [] }
            return state.letters.filter { state.calls[$0.id] != nil }
        }
    }

    func close() { end(DBusError(.cancelled, message: "The connection to D-Bus was closed.")) }

    func end(_ error: DBusError) {
        let (waiters, start) = state.withLock { state in
            if state.end == nil { state.end = error }
            let waiters = state.calls.values.compactMap { if case .waiting(let waiter) = $0 { waiter } else { nil } }
            state.calls = state.calls.filter { if case .waiting = $0.value { false } else { true } }
            state.letters = []
            defer { state.start = nil }
            return (waiters, state.start)
        }
        start?.resume(returning: .failure(error))
        for waiter in waiters { waiter.resume(returning: .failure(error)) }
        bell.ring()
    }
}
