// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("The time that a command may take")
struct TimeoutTests {
    @Test("what is done by the time that it is given up counts: the server did it")
    func doneMeanwhile() async throws {
        let answer = try await withTimeout(.milliseconds(1)) {
            await givenUp()
            return "done"
        }
        #expect(answer == "done")
    }

    @Test("what is given up without an answer is a deadline, which names the time of the whole command")
    func over() async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await withTimeout(.milliseconds(1), of: .seconds(30)) { () -> Void in
                await givenUp()
                throw CancellationError()
            }
        }
        #expect(failure?.status == .deadline)
        #expect(failure?.message.contains("30s") == true)
    }

    @Test("the end of the time names what was still so")
    func unfinished() async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await withTimeout(.milliseconds(1), of: .seconds(2)) { () -> Void in
                await givenUp()
                throw AccountError(.cancelled, message: "cancelled", unfinished: "another process still holds a.lock")
            }
        }
        #expect(failure?.status == .deadline)
        #expect(failure?.message == "After 2s (--timeout), another process still holds a.lock.")
    }

    @Test(
        "the end of the time names what was waited for: the error's own word goes before the caller's",
        arguments: [true, false])
    func unfinishedStep(isKnown: Bool) async throws {
        let failure = await #expect(throws: CommandFailure.self) {
            try await withTimeout(.milliseconds(1), of: .seconds(2), unfinished: "the board has not answered yet") {
                () -> Void in
                await givenUp()
                var error = BoardError(.cancelled, message: "cancelled")
                error.unfinished = isKnown ? "no data has arrived from tty0" : nil
                throw error
            }
        }
        let what = isKnown ? "no data has arrived from tty0" : "the board has not answered yet"
        #expect(failure?.message == "After 2s (--timeout), \(what).")
    }

    @Test("a command that a person ended is reported as ended, whatever failed then")
    func ended() async throws {
        let work = Task {
            try await withTimeout(.seconds(1_000_000)) { () -> Void in
                await givenUp()
                throw CommandFailure(.other, message: "broke with it")
            }
        }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
    }

    private func givenUp() async { while !Task.isCancelled { await Task.yield() } }
}
