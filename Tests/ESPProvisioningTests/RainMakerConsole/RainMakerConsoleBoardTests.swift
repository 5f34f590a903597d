// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainCore
import RainIO
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("A board behind RainMaker's console", .timeLimit(.minutes(10)))
struct RainMakerConsoleBoardTests {
    func board(
        _ terminal: PseudoTerminal, clock: ManualClock = ManualClock(),
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) throws -> RainMakerConsoleBoard {
        RainMakerConsoleBoard(
            console: CommandConsole(port: try SerialPort.open(terminal.path), clock: clock), clock: clock,
            logger: logger)
    }

    func code(_ body: () async throws -> Void) async -> BoardError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? BoardError)?.code
        }
    }

    let home: WiFiNetwork
    let mapping = AssociationRequest.userMapping(
        UserID("0e155512-8946-4be4-a0e7-1e0e74b901c3"), MappingSecret(Secret("180A1405-894A-44F1-A84D-452B42F4FB35")))

    init() throws { home = try WiFiNetwork(ssid: SSID("My \"Home\""), passphrase: Secret("pass\\word 1")) }

    @Test("identifies, associates and joins with three lines, and learns the address from the log")
    func wholeSetUp() async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        let identity = try await board.identify()
        #expect(identity.nodeID == NodeID("7CDFA1E86C14"))
        #expect(identity.security == nil && identity.association == .userMapping && !identity.canScan)
        try await board.secure()
        #expect(try await board.associate(mapping) == AssociationReply(nodeID: NodeID("7CDFA1E86C14")))
        try await board.join(home)
        await firmware.log(
            "I (4) app_wifi: Received Wi-Fi credentials", "I (9) wifi:state: init -> auth (b0)",
            "I (10) esp_netif_handlers: sta ip: 192.168.1.23, mask: 255.255.255.0, gw: 192.168.1.1")
        let joined = try await board.watch { _ in }
        #expect(joined == JoinedNetwork(address: "192.168.1.23", ssid: home.ssid))
        #expect(
            firmware.typed == [
                "get-node-id",
                "add-user 0e155512-8946-4be4-a0e7-1e0e74b901c3 180A1405-894A-44F1-A84D-452B42F4FB35",
                "wifi-prov \"My \\\"Home\\\"\" \"pass\\\\word 1\"",
            ])
        await board.close()
    }

    @Test("an open network is joined without a passphrase")
    func openNetwork() async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        try await board.join(try WiFiNetwork(ssid: SSID("cafe"), passphrase: Secret("")))
        #expect(firmware.typed == ["wifi-prov cafe"])
        await board.close()
    }

    @Test(
        "the board's verdict ends the watch",
        arguments: [
            (
                [
                    "E (1) network_prov_mgr: STA Disconnected", "E (1) network_prov_mgr: Disconnect reason : 15",
                    "E (1) network_prov_mgr: STA Auth Error",
                ], BoardError.Code.wifiAuthenticationFailed
            ),
            (
                ["E (1) wifi_prov_mgr: Disconnect reason : 201", "E (1) wifi_prov_mgr: STA AP Not found"],
                .wifiNetworkNotFound
            ),
            (
                [
                    "E (1) network_prov_mgr: Disconnect reason : 205", "E (1) app_wifi: Provisioning failed!",
                    "\tReason : Wi-Fi station authentication failed",
                ], .wifiFailed
            ),
            (["ESP-ROM:esp32c3-api1-20210207"], .deviceLost),
        ])
    func verdicts(lines: [String], expected: BoardError.Code) async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        try await board.join(home)
        for line in lines { await firmware.log(line) }
        #expect(await code { _ = try await board.watch { _ in } } == expected)
        await board.close()
    }

    @Test("after a failed attempt another network can be tried; without one there is nothing to reset")
    func secondAttempt() async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        #expect(await code { try await board.reset() } == .unsupported)
        try await board.join(home)
        await firmware.log("E (1) network_prov_mgr: STA Auth Error")
        #expect(await code { _ = try await board.watch { _ in } } == .wifiAuthenticationFailed)
        try await board.reset()
        try await board.join(try WiFiNetwork(ssid: SSID("other"), passphrase: Secret("password")))
        await firmware.log("I (1) app_network: Connected with IP Address:10.0.0.9")
        #expect(try await board.watch { _ in }.address == "10.0.0.9")
        await board.close()
    }

    @Test("what was logged before the network was given is no verdict on it")
    func staleLog() async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        _ = try await board.identify()
        await firmware.log("E (1) network_prov_mgr: STA Auth Error")
        // Its answer comes behind that line: by then the line has been read.
        _ = try await board.associate(mapping)
        try await board.join(home)
        await firmware.log("I (2) app_network: Connected with IP Address:10.0.0.9")
        #expect(try await board.watch { _ in }.address == "10.0.0.9")
        await board.close()
    }

    @Test(
        "settings that the firmware does not take are a rejection",
        arguments: [
            "E (9) network_prov_mgr: Invalid state of Provisioning app\r\n",
            "esp_rmaker_commands: Invalid Usage.\r\nrmaker_console: Console command failed with error: 258\r\n",
        ])
    func refusedSettings(output: String) async throws {
        let firmware = try StockFirmware(settings: output)
        let board = try board(firmware.console.terminal)
        #expect(await code { try await board.join(home) } == .rejected)
        await board.close()
    }

    @Test("a failing add-user is a rejection")
    func failingMapping() async throws {
        let firmware = try StockFirmware(mapping: "rmaker_console: Console command failed with error: -1\r\n")
        let board = try board(firmware.console.terminal)
        #expect(await code { _ = try await board.associate(mapping) } == .rejected)
        await board.close()
    }

    @Test("firmware that does not know the commands is not RainMaker's")
    func otherFirmware() async throws {
        let other = try EchoingConsole { _ in "\r\n" }
        let board = try board(other.terminal)
        #expect(await code { _ = try await board.identify() } == .notRainMaker)
        await board.close()
    }

    @Test("what the console cannot do, or cannot type, is said before anything is sent")
    func impossible() async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        #expect(await code { _ = try await board.scan() } == .unsupported)
        #expect(await code { _ = try await board.associate(.challenge([1])) } == .unsupported)
        let control = try WiFiNetwork(ssid: SSID([0x41, 0x0D, 0x42]), passphrase: Secret(""))
        #expect(await code { try await board.join(control) } == .invalidArgument)
        _ = try await board.identify()
        let endless = AssociationRequest.userMapping(
            UserID(String(repeating: "u", count: 300)), MappingSecret(Secret("secret")))
        #expect(await code { _ = try await board.associate(endless) } == .invalidArgument)
        #expect(firmware.typed == ["get-node-id"])
        await board.close()
    }

    @Test("a port that says nothing never answered; one that falls silent is lost")
    func silence() async throws {
        let clock = ManualClock()
        let terminal = try PseudoTerminal()
        let silent = try board(terminal, clock: clock)
        let task = Task { _ = try await silent.identify() }
        await clock.waitForSleepers(2)
        clock.advance(by: RainMakerConsoleBoard.commandDeadline)
        #expect(await code { try await task.value } == .neverAnswered)
        await silent.close()

        let console = try EchoingConsole { $0.hasPrefix("add-user") ? nil : "esp_rmaker_commands: Node ID: n\r\n" }
        let later = ManualClock()
        let talking = try board(console.terminal, clock: later)
        _ = try await talking.identify()
        let second = Task { _ = try await talking.associate(mapping) }
        await later.waitForSleepers(1)
        while !console.typed.contains(where: { $0.hasPrefix("add-user") }) { await Task.yield() }
        later.advance(by: RainMakerConsoleBoard.commandDeadline)
        #expect(await code { try await second.value } == .deviceLost)
        await talking.close()
    }

    @Test("pulling the cable loses the board; cancelling is reported as such")
    func endings() async throws {
        let firmware = try StockFirmware()
        let board = try board(firmware.console.terminal)
        try await board.join(home)
        let cancelled = Task { _ = try await board.watch { _ in } }
        cancelled.cancel()
        #expect(await code { try await cancelled.value } == .cancelled)
        let task = Task { _ = try await board.watch { _ in } }
        firmware.console.terminal.unplug()
        #expect(await code { try await task.value } == .deviceLost)
        await board.close()
    }

    @Test("neither logs nor errors hold what the board echoes and logs in clear")
    func secrets() async throws {
        let secrets = ["180A1405-894A-44F1-A84D-452B42F4FB35", "pass\\word 1", "pass\\\\word 1"]
        let collected = Mutex("")
        struct Collector: LogHandler {
            let collect: @Sendable (String) -> Void
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.trace
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) { collect("\(event.message) \(event.metadata ?? [:])") }
        }
        let logger = Logger(label: "test") { _ in Collector { text in collected.withLock { $0 += text } } }
        for (mappingOutput, settings) in [
            ("", ""),
            ("rmaker_console: Console command failed with error: -1\r\n", "esp_rmaker_commands: Invalid Usage.\r\n"),
        ] {
            let firmware = try StockFirmware(
                mapping: mappingOutput, settings: settings,
                interruptEcho: { _, position in position == 30 ? "I (1) wifi: noise\r\n" : nil })
            let board = try board(firmware.console.terminal, logger: logger)
            do { _ = try await board.associate(mapping) } catch { collected.withLock { $0 += "\(error)" } }
            do { try await board.join(home) } catch { collected.withLock { $0 += "\(error)" } }
            await firmware.log(
                "I (4) app_wifi: Received Wi-Fi credentials\r\n\tSSID     : My \"Home\"\r\n\tPassword : pass\\word 1",
                "E (5) network_prov_mgr: STA Auth Error")
            do { _ = try await board.watch { _ in } } catch { collected.withLock { $0 += "\(error)" } }
            await board.close()
        }
        let text = collected.withLock { $0 }
        #expect(text.contains("console command"))
        for secret in secrets { #expect(!text.contains(secret)) }
    }
}
