// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import RainKitTesting
import TestSupport
import Testing

@testable import ESPProvisioning

@Suite("Probing a board that has just booted", .timeLimit(.minutes(10)))
struct InterruptedProbingTests {
    private func dialect(_ terminal: PseudoTerminal) async throws -> ConsoleDialect {
        let clock = ManualClock()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: clock)
        do {
            let dialect = try await console.dialect(sessionID: 17, clock: clock)
            await console.close()
            return dialect
        } catch {
            await console.close()
            throw error
        }
    }

    @Test(
        "a log line in the answer that tells protocomm's console leaves it an answer",
        arguments: [
            "\r\r\nI (5) wifi: x\r\n7b7d\r\r\n", "\r\r\n7bI (5) wifi: x\r\n7d\r\r\n",
            "\r\r\n7b7dI (5) wifi: x\r\n\r\r\n",
            // Unreadable text is still an answer.
            "\r\r\n7badded a peer\r\n7d\r\r\n",
        ])
    func noisyVersion(answer: String) async throws {
        let board = try EchoingConsole { $0 == "proto-ver 17 2d2d2d" ? answer : "" }
        #expect(try await dialect(board.terminal) == .protocomm(sessionID: 17))
    }

    @Test("a console that knew neither command is asked once more", arguments: ["get-node-id", "proto-ver 17 2d2d2d"])
    func askedAgain(command: String) async throws {
        let board = try EchoingConsole { [asked = Once()] line in
            guard line == command, asked.isSecond() else { return "" }
            return line == "get-node-id" ? "\r\nesp_rmaker_commands: Node ID: n1\r\n" : "\r\r\n7b7d\r\r\n"
        }
        let found = try await dialect(board.terminal)
        #expect(found == (command == "get-node-id" ? .rainMaker(NodeID("n1")) : .protocomm(sessionID: 17)))
    }

    @Test("a board that restarts while it is asked is asked from the beginning, once it has booted")
    func restarted() async throws {
        let terminal = try PseudoTerminal()
        let task = Task { try await dialect(terminal) }
        _ = await terminal.receive()
        await terminal.send("\r\n\n>> ")
        #expect(await terminal.receive() == Array("get-node-id\r".utf8))
        await terminal.send("get-noESP-ROM:esp32c3-api1-20210207\r\nrst:0x1 (POWERON)\r\n")
        #expect(await terminal.receive() == [0x0D])
        await terminal.send("I (24) boot: ESP-IDF v5.4 2nd stage bootloader\r\n\r\n\n>> ")
        #expect(await terminal.receive() == Array("get-node-id\r".utf8))
        await terminal.send("get-node-id\r\n\r\nesp_rmaker_commands: Node ID: n1\r\n\n>> ")
        #expect(try await task.value == .rainMaker(NodeID("n1")))
    }
}
