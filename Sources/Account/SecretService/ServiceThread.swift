// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

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
        let waiter = Waiter<Result<Value, AccountError>>()
        let failure = startThread {
            turn.withLock { _ in
                guard !cancellable.isCancelled else { return }
                waiter.resume(returning: body(cancellable))
            }
        }
        guard failure == 0 else { throw AccountError(.cannotStore, message: "no thread can be started") }
        let result = await waiter.value(within: limit) { reason in
            let error: AccountError
            switch reason {
            case .timedOut: error = ServiceError.notAnswering("within \(limit)")
            case .cancelled where isCancellable:
                error = AccountError(.cancelled, message: "cancelled while waiting for the Secret Service")
            case .cancelled: return
            }
            if waiter.resume(returning: .failure(error)) { cancellable.cancel() }
        }
        return try result.get()
    }
}
