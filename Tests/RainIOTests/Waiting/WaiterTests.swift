// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization
import Testing

@Suite("Waiting for one value", .timeLimit(.minutes(10)))
struct WaiterTests {
    @Test("a value that came before is there, and only the first counts")
    func early() async {
        let waiter = Waiter<Int>()
        #expect(waiter.resume(returning: 1))
        #expect(!waiter.resume(returning: 2))
        #expect(await waiter.value() == 1)
        #expect(!waiter.resume(returning: 3))
    }

    @Test("a value that comes later wakes the task")
    func late() async {
        let waiter = Waiter<Int>()
        async let value = waiter.value()
        await Task.yield()
        waiter.resume(returning: 1)
        #expect(await value == 1)
    }

    @Test("cancelling is heard once, before the wait and during it", arguments: [true, false])
    func cancelled(before: Bool) async {
        let waiter = Waiter<Int>()
        let count = Mutex(0)
        let task = Task {
            if before { while !Task.isCancelled { await Task.yield() } }
            return await waiter.value {
                count.withLock { $0 += 1 }
                waiter.resume(returning: -1)
            }
        }
        if !before { await Task.yield() }
        task.cancel()
        #expect(await task.value == -1)
        #expect(count.withLock { $0 } == 1)
    }

    @Test("the wait is given up when its time is over, also where that is at once", arguments: [0, 5])
    func timedOut(milliseconds: Int) async {
        let waiter = Waiter<GivenUp?>()
        #expect(
            await waiter.value(within: .milliseconds(milliseconds)) { waiter.resume(returning: $0) } == .timedOut)
    }

    @Test("what comes in time is the value, and nothing is given up later")
    func inTime() async throws {
        let waiter = Waiter<GivenUp?>()
        let isGivenUp = Mutex(false)
        waiter.resume(returning: nil)
        let value = await waiter.value(within: .milliseconds(5)) { _ in isGivenUp.withLock { $0 = true } }
        #expect(value == nil)
        try await Task.sleep(for: .milliseconds(20))
        #expect(!isGivenUp.withLock { $0 })
    }

    @Test("timers are called in the order of their deadlines, the cancelled ones not")
    func timers() async {
        let (numbers, called) = AsyncStream.makeStream(of: Int.self)
        // Far enough off that all are there, and one is cancelled, before the first is due.
        let now = monotonicMicroseconds()
        let timers = [5, 1, 4, 2, 3].map { number in
            DeadlineTimer.start(at: MonotonicDeadline(microseconds: now + 1_000_000 + UInt64(number) * 10_000)) {
                called.yield(number)
                if number == 5 { called.finish() }
            }
        }
        timers[2].cancel()
        var heard: [Int] = []
        for await number in numbers { heard.append(number) }
        #expect(heard == [1, 2, 3, 5])
    }
}
