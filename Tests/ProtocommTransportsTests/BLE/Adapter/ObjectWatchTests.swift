// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

@testable import ProtocommTransports

@Suite("Waiting for an object of BlueZ's")
struct ObjectWatchTests {
    /// The runtime holds a task's own lock while it runs a cancellation handler, and takes it to resume the task. Whoever resumes it with
    /// a lock that the handler wants stops for good, and all other waiters behind it.
    @Test("a wait that is cancelled while what it waits for comes has its answer, and holds nobody up")
    func cancelledWhileFound() async throws {
        let watch = ObjectWatch()
        let looks = Mutex(0)
        let waiting = Mutex<Task<Bool, any Error>?>(nil)
        let answer = Mutex<Bool?>(nil)
        let task = Task {
            try await watch.wait(for: "/a", within: .seconds(60)) { _, _ -> Bool? in
                guard
                    looks.withLock({
                        $0 += 1; return $0 > 1
                    })
                else { return nil }
                // What it waits for is here, and now somebody cancels it.
                Thread.detachNewThread { waiting.withLock { $0 }?.cancel() }
                Thread.sleep(forTimeInterval: 0.2)
                return true
            }
        }
        waiting.withLock { $0 = task }
        Task {
            let found = try? await task.value
            answer.withLock { $0 = found ?? false }
        }
        while looks.withLock({ $0 }) == 0 { await Task.yield() }
        // Threads of their own: those that the test itself runs on must not be the ones that stop.
        Thread.detachNewThread { watch.change { _ in .object("/a") } }
        let end = ContinuousClock.now + .seconds(300)
        while answer.withLock({ $0 }) == nil, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(answer.withLock { $0 } == true)
    }
}
