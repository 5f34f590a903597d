// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO
import RainKitTesting
import TestSupport
import Testing

@testable import ESPProvisioning

@Suite("A board that restarts", .timeLimit(.minutes(10)))
struct RestartTests {
    static let bootLog = "ESP-ROM:esp32c3-api1-20210207\r\nBuild:Feb  7 2021\r\nrst:0x1 (POWERON),boot:0xc\r\n"

    let home: WiFiNetwork
    let other: WiFiNetwork
    let mapping = AssociationRequest.userMapping(UserID("user"), MappingSecret(Secret("secret")))

    init() throws {
        home = try WiFiNetwork(ssid: SSID("home"), passphrase: Secret("password"))
        other = try WiFiNetwork(ssid: SSID("other"), passphrase: Secret("password"))
    }

    /// On a clock that does not move.
    private func board(_ terminal: PseudoTerminal) throws -> (RainMakerConsoleBoard, CommandConsole) {
        let clock = ManualClock()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: clock)
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return (RainMakerConsoleBoard(console: console, clock: clock, logger: silent), console)
    }

    /// Restarts the board, and returns when the console has heard of it.
    private func restart(_ firmware: StockFirmware, _ console: CommandConsole) async throws {
        await firmware.console.terminal.send(Self.bootLog)
        while await console.restarts == 0 {
            await console.discardInput()
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test("in the middle of a command is not at its prompt: the next line waits until there is one")
    func amidCommand() async throws {
        let terminal = try PseudoTerminal()
        let console = CommandConsole(port: try SerialPort.open(terminal.path), clock: ManualClock())
        let first = Task { try await console.run(CommandReply(command: Array("get-node-id".utf8))) }
        _ = await terminal.receive()
        await terminal.send("\r\n\n>> ")
        _ = await terminal.receive()
        await terminal.send("get-node-id\r\n" + Self.bootLog)
        #expect(try await first.value == [.restarted])
        let second = Task { try await console.run(CommandReply(command: Array("get-node-id".utf8))) }
        #expect(await terminal.receive() == [0x0D])
        second.cancel()
        _ = try? await second.value
        await console.close()
    }

    @Test("while a person is asked for another network gets its user again, which it kept in memory only")
    func betweenCommands() async throws {
        let firmware = try StockFirmware()
        let (board, console) = try board(firmware.console.terminal)
        _ = try await board.associate(mapping)
        try await board.join(home)
        await firmware.log("E (1) network_prov_mgr: STA Auth Error")
        await #expect(throws: BoardError.self) { try await board.watch { _ in } }
        try await board.reset()
        try await restart(firmware, console)
        try await board.join(other)
        await firmware.log("I (2) app_network: Connected with IP Address:10.0.0.9")
        #expect(try await board.watch { _ in }.address == "10.0.0.9")
        #expect(
            firmware.typed == [
                "get-node-id", "add-user user secret", "wifi-prov home password", "add-user user secret",
                "wifi-prov other password",
            ])
        await board.close()
    }

    @Test("before it received a user gets none after the restart")
    func beforeMapping() async throws {
        let firmware = try StockFirmware()
        let (board, console) = try board(firmware.console.terminal)
        _ = try await board.identify()
        try await restart(firmware, console)
        _ = try await board.associate(mapping)
        try await board.join(home)
        #expect(firmware.typed == ["get-node-id", "add-user user secret", "wifi-prov home password"])
        await board.close()
    }
}
