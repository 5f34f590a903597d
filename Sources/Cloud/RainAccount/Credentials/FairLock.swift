import Synchronization

/// A lock for tasks: first in, first out; a waiting task leaves when it is cancelled or its deadline is over.
///
/// `Grant` is what the holder gets, such as a locked file. A closure gives it at once, or returns nil and calls ``arrive(_:)`` later.
final class FairLock<Grant: Sendable>: Sendable {
    typealias Outcome = Result<Grant, AccountError>
    private typealias Continuation = CheckedContinuation<Outcome, Never>

    private struct State {
        /// Somebody holds it, or its grant is being waited for.
        var isBusy = false
        var waiters: [(id: Int, continuation: Continuation)] = []
        /// The callers of ``enter(within:at:_:)``, and why one must leave if that was known before it began to wait.
        var present: [Int: AccountError?] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// Returns when the caller holds the lock, until it calls ``leave(_:)``.
    /// - Parameter place: what errors call the thing.
    func enter(
        within limit: Duration, at place: String, _ take: () throws(AccountError) -> Grant?
    ) async throws(AccountError) -> Grant {
        if let outcome = state.withLock({ Self.take(&$0, take) }) { return try outcome.get() }

        let id = state.withLock { state in
            state.lastID += 1
            state.present[state.lastID] = .some(nil)
            return state.lastID
        }
        // Ends by itself, or is cancelled below.
        let timer = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            dismiss(
                id,
                AccountError(
                    .timeout, message: "another process has held \(place) for \(limit); try again when it is done"))
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { stand(id, $0, take) }
        } onCancel: {
            dismiss(id, AccountError(.cancelled, message: "cancelled while waiting for \(place)"))
        }
        timer.cancel()
        state.withLock { _ = $0.present.removeValue(forKey: id) }
        return try outcome.get()
    }

    /// Releases the lock. The next in line has it at once if `take` gets the grant.
    func leave(_ take: () throws(AccountError) -> Grant?) {
        let next: (Continuation, Outcome)? = state.withLock { state in
            state.isBusy = false
            guard !state.waiters.isEmpty, let outcome = Self.take(&state, take) else { return nil }
            return (state.waiters.removeFirst().continuation, outcome)
        }
        guard let (continuation, outcome) = next else { return }
        continuation.resume(returning: outcome)
        if case .failure(let error) = outcome { endAll(error) }
    }

    /// The grant is here. Returns whether anyone still wanted it.
    func arrive(_ grant: Grant) -> Bool {
        let next: Continuation? = state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume(returning: .success(grant))
        return next != nil
    }

    /// The grant will not come.
    func endAll(_ error: AccountError) {
        let waiters = state.withLock { state in
            state.isBusy = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
    }

    // MARK: Steps

    /// The grant, or why there is none; nil if it has to be waited for.
    private static func take(_ state: inout State, _ take: () throws(AccountError) -> Grant?) -> Outcome? {
        guard !state.isBusy else { return nil }
        do throws(AccountError) {
            let grant = try take()
            state.isBusy = true
            return grant.map { .success($0) }
        } catch {
            return .failure(error)
        }
    }

    private func stand(_ id: Int, _ continuation: Continuation, _ take: () throws(AccountError) -> Grant?) {
        let outcome: Outcome? = state.withLock { state in
            if let reason = state.present[id] ?? nil { return .failure(reason) }
            // It may have become free meanwhile.
            if let outcome = Self.take(&state, take) { return outcome }
            state.waiters.append((id, continuation))
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    private func dismiss(_ id: Int, _ reason: AccountError) {
        let leaving: Continuation? = state.withLock { state in
            if let index = state.waiters.firstIndex(where: { $0.id == id }) {
                return state.waiters.remove(at: index).continuation
            }
            if state.present.keys.contains(id) { state.present[id] = .some(reason) }
            return nil
        }
        leaving?.resume(returning: .failure(reason))
    }
}
