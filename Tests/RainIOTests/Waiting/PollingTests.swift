// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Testing

@Suite("Polling descriptors")
struct PollingTests {
    @Test("what is ready is found, what is left out is not, and a wait ends with its deadline")
    func outcomes() throws {
        let (rung, silent) = (try #require(WakePipe()), try #require(WakePipe()))
        rung.ring()
        var entries: [PollEntry] = [.readable(silent.reader), .readable(nil), .readable(rung.reader)]
        #expect(pollDescriptors(&entries) == .ready)
        #expect(entries.map(\.isReady) == [false, false, true])
        rung.drain()
        let start = monotonicMilliseconds()
        #expect(pollDescriptors(&entries, until: .after(.milliseconds(20))) == .timedOut)
        #expect(monotonicMilliseconds() - start >= 19)
        #expect(entries.allSatisfy { !$0.isReady })
        #expect(pollDescriptors(&entries, until: MonotonicDeadline(microseconds: 0)) == .timedOut)
    }

    @Test("an end and an error are found without being asked for")
    func ends() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[1])
        var entries = [PollEntry(ends[0], for: [])]
        #expect(pollDescriptors(&entries) == .ready)
        #expect(entries[0].found == .hungUp)
        close(ends[0])
        // No process has as many: the number of a descriptor that was closed may be another test's by now.
        entries = [PollEntry(1 << 30, for: [])]
        #expect(pollDescriptors(&entries) == .ready)
        #expect(!entries[0].found.isDisjoint(with: .failed))
    }

    @Test("a deadline knows what is left of it", arguments: [-1, 0, 3600])
    func deadline(seconds: Int) {
        let deadline = MonotonicDeadline.after(.seconds(seconds))
        #expect(deadline.isOver == (seconds <= 0))
        #expect(deadline.left <= .seconds(max(0, seconds)))
        #expect(deadline.left >= .seconds(max(0, seconds) - 60))
        #expect(MonotonicDeadline.after(.seconds(Int64.max)) > deadline)
    }
}
