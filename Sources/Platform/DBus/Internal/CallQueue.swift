// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// What callers and the bus's thread share.
final class CallQueue: Sendable {
    typealias CallWaiter = Waiter<Result<[DBusValue], DBusError>>

    struct PendingCall {
        var id: Int
        var call: DBusCall
        var deadline: UInt64
        var inOrder: (@Sendable ([DBusValue]) -> Void)?
    }

    private struct State {
        var nextID = 0
        var unsent: [PendingCall] = []
        /// The waiting callers, by the number of their call; each is removed when its call is answered.
        var calls: [Int: CallWaiter] = [:]
        /// Why no further call will be answered; nil while the connection works.
        var end: DBusError?
    }

    /// Whether the connection was made.
    let start = Waiter<Result<Void, DBusError>>()
    private let state = Mutex(State())
    /// Wakes the bus's thread when there is something to do.
    let wakeup: WakePipe

    init() throws(DBusError) {
        guard let wakeup = WakePipe() else { throw DBusError(.unavailable, message: "No descriptor for D-Bus.") }
        self.wakeup = wakeup
    }

    /// - Returns: the number of the call.
    /// - Throws: why no further call will be answered.
    func post(
        _ call: DBusCall, deadline: UInt64, _ inOrder: (@Sendable ([DBusValue]) -> Void)?, _ waiter: CallWaiter
    ) throws(DBusError) -> Int {
        let posted: Result<Int, DBusError> = state.withLock { state in
            if let end = state.end { return .failure(end) }
            state.nextID += 1
            state.calls[state.nextID] = waiter
            state.unsent.append(PendingCall(id: state.nextID, call: call, deadline: deadline, inOrder: inOrder))
            return .success(state.nextID)
        }
        let id = try posted.get()
        wakeup.ring()
        return id
    }

    /// Only the first answer to a call has an effect.
    func answer(_ id: Int, _ result: Result<[DBusValue], DBusError>) {
        state.withLock { $0.calls.removeValue(forKey: id) }?.resume(returning: result)
    }

    /// The calls to be sent; nil once the queue is closed.
    func take() -> [PendingCall]? {
        wakeup.drain()
        return state.withLock { state in
            guard state.end == nil else { return nil }
            defer { state.unsent = [] }
            return state.unsent.filter { state.calls[$0.id] != nil }
        }
    }

    func close() { end(DBusError(.cancelled, message: "The connection to D-Bus was closed.")) }

    func end(_ error: DBusError) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = error }
            state.unsent = []
            defer { state.calls = [:] }
            return state.calls.values
        }
        start.resume(returning: .failure(error))
        for waiter in waiters { waiter.resume(returning: .failure(error)) }
        wakeup.ring()
    }
}
