// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("Finding a console's prompt", .timeLimit(.minutes(10)))
struct CommandConsoleTests {
    struct Anything: ConsoleReply {
        let command: [UInt8]
        private var transcript: ConsoleTranscript
        init(_ command: String) {
            self.command = Array(command.utf8)
            transcript = ConsoleTranscript(command: self.command)
        }
        mutating func append(_ byte: UInt8) -> Bool? { transcript.append(byte) == .prompt ? true : nil }
    }

    @Test("a command is not typed while an empty line may still lie in the board's buffer")
    func slowBoard() async throws {
        let terminal = try PseudoTerminal()
        let clock = ManualClock()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: clock)
        let task = Task { try await console.run(Anything("help")) }
        // The board is busy until a second empty line has come.
        #expect(await terminal.receive() == [0x0D])
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(250))
        #expect(await terminal.receive() == [0x0D])
        await terminal.send("\r\n\n>> ")
        // Now it gives the second line a tenth of a second, which does not pass here; or it has typed already.
        var early: [UInt8] = []
        while early.isEmpty, clock.nextDeadline?.offset != .milliseconds(350) {
            early = terminal.received
            try await Task.sleep(for: .milliseconds(1))
        }
        try #require(early + terminal.received == [])
        await terminal.send("\r\n\n>> ")
        #expect(await terminal.receive() == Array("help\r".utf8))
        await terminal.send("help\r\n\n>> ")
        #expect(try await task.value)
        await console.close()
    }

    @Test("the prompt is looked for once")
    func lookedForOnce() async throws {
        let board = try EchoingConsole { _ in "" }
        let console = CommandConsole(port: try SerialPort.open(board.terminal.path), clock: ManualClock())
        for _ in 0..<3 { _ = try await console.run(Anything("a")) }
        #expect(board.typed.filter { $0.isEmpty }.count == 1)
        await console.close()
    }

    @Test("bytes after the outcome are kept for whoever reads on")
    func readingOn() async throws {
        let terminal = try PseudoTerminal()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: ManualClock())
        let task = Task { try await console.run(Anything("go")) }
        _ = await terminal.receive()
        await terminal.send("\r\n\n>> ")
        _ = await terminal.receive()
        await terminal.send("go\r\n\n>> tail")
        #expect(try await task.value)
        var kept: [UInt8] = []
        let tail = try await console.read { byte in
            kept.append(byte)
            return kept.count == 4 ? kept : nil
        }
        #expect(tail == Array("tail".utf8))
        await console.close()
    }

    @Test("a board that says more than is read keeps no cancellation waiting")
    func flood() async throws {
        let terminal = try PseudoTerminal()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: ManualClock())
        let prompts = Array(repeating: Array("\r\n>> ".utf8), count: 800).flatMap { $0 }
        let board = Task {
            let end = ContinuousClock.now + .seconds(300)
            while !Task.isCancelled, ContinuousClock.now < end { await terminal.send(prompts) }
        }
        let read = Atomic(0)
        let reading = Task {
            try await console.read { _ -> Void? in
                // Slower than what comes: 1 ms for a kilobyte.
                if read.add(1, ordering: .relaxed).newValue.isMultiple(of: 1024) { usleep(1000) }
                return nil
            }
        }
        while read.load(ordering: .relaxed) < 100_000 { try await Task.sleep(for: .milliseconds(1)) }
        reading.cancel()
        let before = read.load(ordering: .relaxed)
        await #expect(throws: SerialPortError.self) { try await reading.value }
        #expect(read.load(ordering: .relaxed) - before <= 4 * SerialPort.inputCapacity, "no more than had arrived")
        board.cancel()
        await board.value
        await console.close()
    }
}
