// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Runs `body` on a new thread of its own, which ends with it: for code that blocks, and so must not run in the pool of tasks.
///
/// - Returns: 0, or the system's error where it starts none (`pthread_create(3)`); `body` is not run then.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    guard failure == 0 else {
        work.release()
        return failure
    }
    pthread_detach(thread)
    return 0
}

private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
