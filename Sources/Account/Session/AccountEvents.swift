// SPDX-License-Identifier: Apache-2.0
import RainCore
import Synchronization

/// What has become of a session. Each event is told once to each subscriber, in the order in which the things happened.
public enum AccountEvent: Sendable {
    /// A stored session was found that this ``AccountSession`` had not written: the first one, or what another process stored.
    case loaded(SessionStatus)
    /// The session is in the store, from where it survives this process. Comes before the event that says why it was saved. A store that
    /// ends with the process saves nothing, and this event is not sent.
    case saved(SessionStatus)
    /// A user signed in with this ``AccountSession``. A session that was stored before is replaced. `attributes` has what the provider
    /// says about the user, in its own words.
    case signedIn(SessionStatus)
    /// Somebody tried to sign in and is not. A session that was there before still is.
    case signInFailed(AccountError)
    /// The tokens are new.
    case refreshed(SessionStatus)
    /// The provider has ended the session, and it was removed from the store: somebody has to sign in again.
    case expired(AccountError)
    /// The session was ended on purpose, here or by another process, and is no longer in the store.
    case signedOut(SignOut)

    /// Who ended the session: this ``AccountSession`` (`here`), or something else that uses the same store (`elsewhere`).
    public enum SignOut: Sendable, Equatable { case here, elsewhere }
}

/// Tells events to all who listen, and knows which session they were told of last, so that nothing is told twice.
final class EventHub: Sendable {
    /// What waits for one listener at most. A session changes some times an hour.
    static let limit = 256

    /// Who listens, and whether they are still there. Cancelling a task runs `onTermination` with the runtime's lock of that task held,
    /// which telling it an event takes: so leaving must want no lock that is held while events are told.
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
        /// The access token of the session that was told of last.
        var known: Secret?
        /// Counts what was told and changed, so that a store's late answer is not taken for news.
        var moment = 0
        /// How many changes of the store are under way here. What it answers meanwhile is no news either.
        var changes = 0
    }

    private let state = Mutex(State())

    deinit { for listener in state.withLock({ $0.listeners }) { listener.stream.finish() } }

    func stream() -> AsyncStream<AccountEvent> {
        let (stream, listener) = AsyncStream.makeStream(
            of: AccountEvent.self, bufferingPolicy: .bufferingOldest(Self.limit))
        let new = Listener(listener)
        state.withLock { state in
            // Those who went while nothing was told.
            state.listeners.removeAll { !$0.isThere }
            state.listeners.append(new)
        }
        return stream
    }

    /// How many are remembered.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// To be remembered before the store is asked, for ``found(_:since:)``.
    var moment: Int { state.withLock { $0.moment } }

    /// Changes the store, and tells what came of it as one thing: nobody hears of the change before its cause.
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
        /// The session that is in the store now was put there, for these reasons.
        case wrote(SavedSession, [AccountEvent])
        /// The session was taken from the store, or was found to be gone.
        case removed(AccountEvent)
    }

    /// Something happened that leaves the store as it was.
    func happened(_ event: AccountEvent) { tell { _ in [event] } }

    /// What the store answered to a question that was asked at `moment`.
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
            // Under the lock, so that all hear the same order.
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
