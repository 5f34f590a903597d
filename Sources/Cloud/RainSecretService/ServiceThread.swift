import RainAccount
import Synchronization
import RainWaiting

/// Ends calls into GLib from another thread (`GCancellable`).
final class Cancellable: @unchecked Sendable {
    // Never changes; GLib's own lock guards what is behind it.
    let object: LibSecret.Object?
    private let library: LibSecret
    private let wasCancelled = Atomic(false)

    init(_ library: LibSecret) {
        self.library = library
        object = library.newCancellable()
    }

    var isCancelled: Bool { wasCancelled.load(ordering: .acquiring) }

    func cancel() {
        wasCancelled.store(true, ordering: .releasing)
        library.cancel(object)
    }

    deinit { library.unref(object) }
}

/// Runs blocking calls on threads of their own, so that a service that hangs holds up nothing but what asked it.
enum ServiceThread {
    /// One call at a time: libsecret shares one session with the service among all of them.
    private static let turn = Mutex(())

    /// Runs `body` on a new thread. After `limit`, or when the calling task is cancelled and `isCancellable`, the call is cancelled and
    /// its result is not waited for.
    static func run<Value: Sendable>(
        _ library: LibSecret, within limit: Duration, isCancellable: Bool,
        _ body: @escaping @Sendable (Cancellable) -> Result<Value, AccountError>
    ) async throws(AccountError) -> Value {
        let cancellable = Cancellable(library)
        let answer = Answer<Value>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.expect(continuation)
                let failure = startThread {
                    turn.withLock { _ in
                        guard !cancellable.isCancelled else { return }
                        answer.give(body(cancellable))
                    }
                }
                guard failure == 0 else {
                    answer.give(.failure(AccountError(.cannotStore, message: "no thread can be started")))
                    return
                }
                // Cancelled as soon as there is an answer.
                answer.end(
                    with: Task {
                        guard (try? await Task.sleep(for: limit)) != nil else { return }
                        if answer.give(.failure(ServiceError.notAnswering("within \(limit)"))) { cancellable.cancel() }
                    })
            }
        } onCancel: {
            guard isCancellable else { return }
            let cancelled = AccountError(.cancelled, message: "cancelled while waiting for the Secret Service")
            if answer.give(.failure(cancelled)) { cancellable.cancel() }
        }
        return try result.get()
    }
}

/// One result: the first that comes.
private final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, AccountError>?
        var waiter: CheckedContinuation<Result<Value, AccountError>, Never>?
        var timer: Task<Void, Never>?
    }
    private let state = Mutex(State())

    func expect(_ continuation: CheckedContinuation<Result<Value, AccountError>, Never>) {
        let early = state.withLock { state in
            if state.result == nil { state.waiter = continuation }
            return state.result
        }
        if let early { continuation.resume(returning: early) }
    }

    /// Whether it was the first.
    @discardableResult
    func give(_ result: Result<Value, AccountError>) -> Bool {
        let (isFirst, waiter, timer) = state.withLock { state in
            defer {
                if state.result == nil { state.result = result }
                state.waiter = nil
                state.timer = nil
            }
            return (state.result == nil, state.waiter, state.timer)
        }
        timer?.cancel()
        waiter?.resume(returning: result)
        return isFirst
    }

    func end(with timer: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if state.result == nil { state.timer = timer }
            return state.result != nil
        }
        if isOver { timer.cancel() }
    }
}
