// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainIO
import RainKitTesting
import TestSupport
import Testing

@Suite("Probing what a console speaks", .timeLimit(.minutes(10)))
struct ConsoleDialectTests {
    func dialect(
        _ terminal: PseudoTerminal, clock: ManualClock = ManualClock()
    ) async throws -> ConsoleDialect {
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

    func code(_ body: () async throws -> Void) async -> BoardError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? BoardError)?.code
        }
    }

    @Test("RainMaker's console is known by its node id")
    func rainMaker() async throws {
        let firmware = try StockFirmware()
        #expect(try await dialect(firmware.console.terminal) == .rainMaker(NodeID("7CDFA1E86C14")))
        #expect(firmware.typed == ["get-node-id"])
    }

    @Test("protocomm's console is known by its version, asked in the session that will be used")
    func protocomm() async throws {
        let board = try EchoingConsole { line in
            line == "proto-ver 17 2d2d2d" ? "\r\r\n7b7d\r\r\n" : ""
        }
        #expect(try await dialect(board.terminal) == .protocomm(sessionID: 17))
    }

    @Test("a console that knows neither is not supported")
    func unknown() async throws {
        let board = try EchoingConsole { _ in "Unrecognized command\r\n" }
        #expect(await code { _ = try await dialect(board.terminal) } == .unsupported)
    }

    @Test("a port that prints a log but takes no line is unavailable")
    func outputOnly() async throws {
        let clock = ManualClock()
        let terminal = try PseudoTerminal()
        let task = Task { _ = try await dialect(terminal, clock: clock) }
        await clock.waitForSleepers(2)
        await terminal.send("I (24) boot: ESP-IDF v5.4 2nd stage bootloader\r\n")
        clock.advance(by: CommandConsole.probingDeadline)
        let error = await #expect(throws: BoardError.self) { try await task.value }
        #expect(error?.code == .unavailable && error?.reason == "no_prompt")
    }

    @Test("a board that is still booting is waited for")
    func booting() async throws {
        let terminal = try PseudoTerminal()
        let clock = ManualClock()
        let task = Task { try await dialect(terminal, clock: clock) }
        // What is typed before the board's driver is up is lost, so another empty line must come.
        _ = await terminal.receive()
        await terminal.send("ESP-ROM:esp32c3-api1-20210207\r\nI (24) boot: ESP-IDF v5.4 2nd stage bootloader\r\n")
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(250))
        var typed = await terminal.receive()
        #expect(typed == [0x0D])
        await terminal.send("\r\n\n>> \r\n\n>> ")
        typed = await terminal.receive()
        while !typed.contains(0x0D) { typed += await terminal.receive() }
        #expect(typed == Array("get-node-id\r".utf8))
        await terminal.send("get-node-id\r\n\r\nesp_rmaker_commands: Node ID: n1\r\n\n>> ")
        #expect(try await task.value == .rainMaker(NodeID("n1")))
    }
}
