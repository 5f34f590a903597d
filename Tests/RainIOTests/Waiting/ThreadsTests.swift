// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Testing

@Suite("Threads, and what wakes them")
struct ThreadsTests {
    @Test("a body runs on its own thread, and what it held is let go of when it ends", .timeLimit(.minutes(10)))
    func thread() async {
        final class Held: Sendable {
            let gone: AsyncStream<Never>.Continuation
            init(_ gone: AsyncStream<Never>.Continuation) { self.gone = gone }
            deinit { gone.finish() }
        }
        let (over, gone) = AsyncStream.makeStream(of: Never.self)
        let here = pthread_self()
        let there = await withCheckedContinuation { (continuation: CheckedContinuation<pthread_t, Never>) in
            let held = Held(gone)
            let failure = startThread {
                withExtendedLifetime(held) { continuation.resume(returning: pthread_self()) }
            }
            #expect(failure == 0)
        }
        #expect(there != here)
        for await _ in over {}
    }

    private func isReadable(_ pipe: WakePipe, within milliseconds: Int32 = 0) -> Bool {
        var waiting = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds) == 1
    }

    @Test("a pipe is readable once it was rung, however often, until it is drained", arguments: [1, 256, 257, 100_000])
    func pipe(times: Int) throws {
        let pipe = try #require(WakePipe())
        #expect(!isReadable(pipe))
        // Far more than fit: nobody who rings ever waits.
        for _ in 0..<times { pipe.ring() }
        #expect(isReadable(pipe))
        pipe.drain()
        #expect(!isReadable(pipe))
        // Drained twice it does not wait either.
        pipe.drain()
        pipe.ring()
        #expect(isReadable(pipe))
    }

    @Test("wakes a thread that polls it", .timeLimit(.minutes(10)))
    func wakes() async throws {
        let pipe = try #require(WakePipe())
        let woken = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let failure = startThread { continuation.resume(returning: self.isReadable(pipe, within: 30_000)) }
            #expect(failure == 0)
            pipe.ring()
        }
        #expect(woken)
    }

    @Test("the clock goes on, in both units alike")
    func clock() {
        let before = monotonicMicroseconds()
        let between = monotonicMilliseconds()
        let after = monotonicMicroseconds()
        #expect(before <= after && before / 1000 <= between && between <= after / 1000)
    }
}
