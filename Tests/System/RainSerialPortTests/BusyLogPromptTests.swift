// SPDX-License-Identifier: Apache-2.0
import RainSerialPort
import TestSupport
import Testing

/// Boards log while they boot, and afterwards: silence is no sign of anything.
@Suite("Finding the prompt of a board that never stops logging", .timeLimit(.minutes(1)))
struct BusyLogPromptTests {
    /// Runs `board` beside a log line every 20 milliseconds, and gives up looking for the prompt after three seconds.
    func find(_ board: @escaping @Sendable (PseudoTerminal) async -> Void) async throws {
        let terminal = try PseudoTerminal()
        terminal.switchOffEcho()
        let console = CommandConsole(port: try SerialPort.open(terminal.path))
        try await withThrowingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    await terminal.send("I (1234) wifi: state: init -> auth (b0)\r\n")
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            group.addTask { await board(terminal) }
            let search = Task { try await console.findPrompt() }
            group.addTask {
                try? await Task.sleep(for: .seconds(3))
                search.cancel()
            }
            defer { group.cancelAll() }
            try await search.value
        }
        await console.close()
    }

    @Test("the empty line is typed again where the first was lost in the boot")
    func firstLost() async throws {
        try await find { terminal in
            _ = await terminal.receive()
            if await terminal.receive() == [0x0D] { await terminal.send("\r\n\n>> ") }
        }
    }

    @Test("an empty line that was lost is not waited for once another has brought its prompt")
    func onePromptForTwo() async throws {
        try await find { terminal in
            _ = await terminal.receive()
            while !Task.isCancelled {
                for _ in await terminal.receive() { await terminal.send("\r\n\n>> ") }
            }
        }
    }
}
