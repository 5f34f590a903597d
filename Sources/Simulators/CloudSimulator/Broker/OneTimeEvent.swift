// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A value that one thread sets once and another waits for.
final class OneTimeResult<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let done = OneTimeEvent()

    /// The first value counts.
    func set(_ new: Value) {
        value.withLock { value in if value == nil { value = new } }
        done.fire()
    }

    func wait(milliseconds: Int) -> Value? {
        _ = done.wait(milliseconds: milliseconds)
        return value.withLock { $0 }
    }
}

/// Something that happens once, for threads to wait for with a deadline.
final class OneTimeEvent: @unchecked Sendable {
    // A semaphore must not move, so it lives outside of the object. It is posted once, and each waiter posts it again.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func fire() { sem_post(semaphore) }

    /// Whether it happened within that time.
    func wait(milliseconds: Int) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += milliseconds / 1000
        end.tv_nsec += milliseconds % 1000 * 1_000_000
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        while sem_timedwait(semaphore, &end) == -1 { if errno != EINTR { return false } }
        sem_post(semaphore)
        return true
    }
}
