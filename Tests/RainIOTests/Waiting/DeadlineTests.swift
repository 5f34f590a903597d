// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainKitTesting
import Synchronization
import Testing

@Suite("A question against the clock")
struct DeadlineTests {
    private struct Fault: Error, Equatable {
        var words: String
    }

    private let clock = ManualClock()

    private func ask(
        _ question: @escaping @Sendable () async throws(Fault) -> String
    ) async -> Result<String, Fault>? {
        let clock = clock
        return await withDeadline(.seconds(1), sleep: { try await clock.sleep(for: $0) }, question)
    }

    private func pause(_ duration: Duration) async { try? await clock.sleep(for: duration) }

    @Test("what comes in time is the result, an answer or a failure, and nobody waits any longer")
    func inTime() async throws {
        let (answer, failure) = try await clock.run {
            (
                await ask { () async throws(Fault) in
                    await pause(.milliseconds(999))
                    return "answer"
                },
                await ask { () async throws(Fault) in throw Fault(words: "no") }
            )
        }
        #expect(answer == .success("answer"))
        #expect(failure == .failure(Fault(words: "no")))
        #expect(clock.now.offset == .milliseconds(999))
        #expect(clock.sleeperCount == 0)
    }

    @Test("when the time is over the question is cancelled and awaited, and its failure is not told")
    func over() async throws {
        let hasLetGo = Mutex(false)
        let result = try await clock.run {
            await ask { () async throws(Fault) in
                await pause(.seconds(100))
                // It may take its time to let go: the clock counts no longer.
                await Task { await pause(.seconds(5)) }.value
                hasLetGo.withLock { $0 = true }
                throw Fault(words: "cancelled")
            }
        }
        #expect(result == nil)
        #expect(hasLetGo.withLock { $0 })
    }

    @Test("an answer that comes while the question is given up counts")
    func meanwhile() async throws {
        let result = try await clock.run {
            await ask { () async throws(Fault) in
                await pause(.seconds(100))
                return "answer"
            }
        }
        #expect(result == .success("answer"))
        #expect(clock.now.offset == .seconds(1))
    }

    @Test("where the calling task is cancelled the question decides, in time or after it", arguments: [0, 500, 3000])
    func cancelled(after milliseconds: Int) async throws {
        let result = try await clock.run {
            await withTaskGroup(of: Result<String, Fault>?.self) { group in
                group.addTask {
                    await ask { () async throws(Fault) in
                        await pause(.seconds(100))
                        // Lets go of it only after four seconds.
                        await Task { await pause(.seconds(4) - clock.now.offset) }.value
                        throw Fault(words: "cancelled")
                    }
                }
                if milliseconds > 0 { await pause(.milliseconds(milliseconds)) }
                group.cancelAll()
                return await group.next() ?? nil
            }
        }
        #expect(result == .failure(Fault(words: "cancelled")))
    }
}
