// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainKitTesting
import TestSupport
import Testing

/// Boards log while they boot, and afterwards: silence is no sign of anything.
@Suite("Finding the prompt of a board that never stops logging", .timeLimit(.minutes(10)))
struct BusyLogPromptTests {
    private let clock = ManualClock()

    /// Looks for the prompt of `board`, which logs all the time. Only the board moves the clock.
    private func find(_ board: @escaping @Sendable (PseudoTerminal) async throws -> Void) async throws {
        let terminal = try PseudoTerminal()
        terminal.switchOffEcho()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: clock)
        try await withThrowingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    await terminal.send("I (1234) wifi: state: init -> auth (b0)\r\n")
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }
            group.addTask { try await board(terminal) }
            group.addTask { try await console.findPrompt() }
            defer { group.cancelAll() }
            for _ in 0..<2 { try await group.next() }
        }
        await console.close()
    }

    /// Waits until the console sleeps until then. What is logged meanwhile must not put it off.
    private func pass(to moment: Duration) async throws {
        let deadline = clock.now.advanced(by: moment - clock.now.offset)
        while !clock.hasSleeper(until: deadline) { try await Task.sleep(for: .milliseconds(1)) }
        clock.advance(by: clock.now.duration(to: deadline) - .milliseconds(10))
        // Time for some lines of the log.
        try await Task.sleep(for: .milliseconds(10))
        #expect(clock.hasSleeper(until: deadline), "the pause counts from the empty line")
        clock.advance(by: .milliseconds(10))
    }

    @Test(
        "an empty line that was lost in the boot is typed again, and not waited for once the other has brought its prompt"
    )
    func firstLost() async throws {
        try await find { terminal in
            #expect(await terminal.receive() == [0x0D])
            try await pass(to: .milliseconds(250))
            #expect(await terminal.receive() == [0x0D])
            await terminal.send("\r\n\n>> ")
            try await pass(to: .milliseconds(350))
        }
    }

    @Test("each empty line is waited for, if the board takes both after all")
    func bothTaken() async throws {
        try await find { terminal in
            #expect(await terminal.receive() == [0x0D])
            try await pass(to: .milliseconds(250))
            #expect(await terminal.receive() == [0x0D])
            await terminal.send("\r\n\n>> \r\n\n>> ")
        }
    }
}
