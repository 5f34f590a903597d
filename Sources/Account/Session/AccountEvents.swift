// SPDX-License-Identifier: Apache-2.0
import RainCore
import Synchronization

/// An event of a session. Each subscriber gets each event once, in the order in which the events happened.
public enum AccountEvent: Sendable {
    /// A stored session was found that this ``AccountSession`` had not written: the first one, or one that another process stored.
    case loaded(SessionStatus)
    /// The session is in the store, and outlives this process. This event comes before the one with the reason. A store that ends with the
    /// process does not send this event.
    case saved(SessionStatus)
    /// A user signed in with this ``AccountSession``. The session replaces an earlier one. `attributes` has the provider's own data about
    /// the user.
    case signedIn(SessionStatus)
    /// A sign-in failed. An earlier session remains.
    case signInFailed(AccountError)
    /// The session has new tokens.
    case refreshed(SessionStatus)
    /// The provider has ended the session, and it was removed from the store. The user has to sign in again.
    case expired(AccountError)
    /// The session was ended on purpose, here or by another process, and is no longer in the store.
    case signedOut(SignOut)

    /// The place where the session was ended: in this ``AccountSession`` (`here`), or in another program with the same store (`elsewhere`).
    public enum SignOut: Sendable, Equatable { case here, elsewhere }
}

/// Sends events to all listeners. It remembers the last reported session, so that nothing is reported twice.
final class EventHub: Sendable {
    /// The maximum number of unread events of a listener. A session changes some times an hour.
    private static let limit = 256

    /// A listener, and whether it is still there. Cancelling a task runs `onTermination` while the runtime holds the lock of that task.
    /// Sending an event needs that lock too. Leaving must therefore not need a lock that is held while events are sent.
    private final class Listener: Sendable {
        let stream: AsyncStream<AccountEvent>.Continuation
        private let hasLeft = Atomic(false)

        init(_ stream: AsyncStream<AccountEvent>.Continuation) {
            self.stream = stream
            stream.onTermination = { [weak self] _ in self?.hasLeft.store(true, ordering: .releasing) }
        }

        var isThere: Bool { !hasLeft.load(ordering: .acquiring) }
    }

    private struct State {
        var listeners: [Listener] = []
        /// The access token of the last reported session.
        var known: Secret?
        /// Counts reports and changes, so that a late answer of the store does not count as news.
        var moment = 0
        /// The number of changes of the store in progress here. Its answers during them are not news either.
        var changes = 0
    }

    private let state = Mutex(State())

    deinit { for listener in state.withLock({ $0.listeners }) { listener.stream.finish() } }

    func stream() -> AsyncStream<AccountEvent> {
        let (stream, listener) = AsyncStream.makeStream(
            of: AccountEvent.self, bufferingPolicy: .bufferingOldest(Self.limit))
        let new = Listener(listener)
        state.withLock { state in
            // This removes listeners that left while no event was sent.
            state.listeners.removeAll { !$0.isThere }
            state.listeners.append(new)
        }
        return stream
    }

    /// The number of registered listeners.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// The value to remember before asking the store, for ``found(_:since:)``.
    var moment: Int { state.withLock { $0.moment } }

    /// Changes the store and reports the result in one step: no listener gets the change before its cause.
    func changing(
        _ change: () async throws(AccountError) -> Change
    ) async throws(AccountError) {
        state.withLock { $0.changes += 1 }
        let done: Change
        do throws(AccountError) {
            done = try await change()
        } catch {
            state.withLock { $0.changes -= 1 }
            throw error
        }
        tell { state in
            state.changes -= 1
            state.moment += 1
            switch done {
            case .none: return []
            case .wrote(let session, let events):
                state.known = session.tokens.access
                return events
            case .removed(let event):
                guard state.known != nil else { return [] }
                state.known = nil
                return [event]
            }
        }
    }

    enum Change {
        case none
        /// The session is now in the store, for these reasons.
        case wrote(SavedSession, [AccountEvent])
        /// The session was removed from the store, or was no longer there.
        case removed(AccountEvent)
    }

    /// Reports an event that does not change the store.
    func happened(_ event: AccountEvent) { tell { _ in [event] } }

    /// Handles the store's answer to a question that was asked at `moment`.
    func found(_ session: SavedSession?, since moment: Int, status: (SavedSession) -> SessionStatus) {
        let event = session.map { AccountEvent.loaded(status($0)) } ?? .signedOut(.elsewhere)
        tell { state in
            guard state.changes == 0, state.moment == moment, state.known != session?.tokens.access else { return [] }
            state.known = session?.tokens.access
            return [event]
        }
    }

    private func tell(_ change: (inout State) -> [AccountEvent]) {
        let behind = state.withLock { state in
            let events = change(&state)
            if !events.isEmpty { state.moment += 1 }
            var behind: [Listener] = []
            // Events are sent under the lock, so that all listeners get the same order.
            for event in events {
                state.listeners.removeAll { listener in
                    switch listener.stream.yield(event) {
                    case .dropped: behind.append(listener)
                    case .terminated: break
                    default: return false
                    }
                    return true
                }
            }
            return behind
        }
        for listener in behind { listener.stream.finish() }
    }
}
