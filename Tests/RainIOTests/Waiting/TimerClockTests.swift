// SPDX-License-Identifier: Apache-2.0
import RainIO
import Testing

@Suite("The clock of timers")
struct TimerClockTests {
    @Test("a sleep lasts until its deadline, and a past deadline is over at once")
    func sleeps() async throws {
        let clock = TimerClock()
        let end = clock.now + .milliseconds(20)
        try await clock.sleep(until: end, tolerance: nil)
        #expect(clock.now >= end)
        try await clock.sleep(until: end, tolerance: nil)
    }

    @Test("a cancelled sleep ends with that error, before and after it began")
    func cancelled() async {
        for isEarly in [true, false] {
            let task = Task {
                if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
                try await TimerClock().sleep(for: .seconds(3600))
            }
            if !isEarly { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }
}
