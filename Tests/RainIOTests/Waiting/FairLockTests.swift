// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization
import Testing

@Suite("A lock that tasks get one after the other")
struct FairLockTests {
    private final class Counts: Sendable {
        let value = Mutex((now: 0, most: 0, all: 0))
    }

    @Test("only one task at a time has the lock, even if all are cancelled")
    func exclusive() async {
        let lock = FairLock<Void, Never>()
        let inside = Counts()
        await lock.enter()
        let tasks = (0..<50).map { _ in
            Task {
                await lock.enter()
                inside.value.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
                await Task.yield()
                inside.value.withLock { $0.now -= 1 }
                lock.leave()
            }
        }
        for task in tasks { task.cancel() }
        #expect(inside.value.withLock { $0.all } == 0)
        lock.leave()
        for task in tasks { await task.value }
        #expect(inside.value.withLock { $0 == (0, 1, 50) })
        // It is free again.
        await lock.enter()
        lock.leave()
    }
}
