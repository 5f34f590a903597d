// SPDX-License-Identifier: Apache-2.0
import RainCore
import Testing

@testable import ESPProvisioning

@Suite("The board's log")
struct BoardLogTests {
    func events(_ lines: [String]) -> [BoardEvent] {
        var log = BoardLog()
        return lines.compactMap { log.event(in: Array($0.utf8)) }
    }

    @Test(
        "lines that matter are understood",
        arguments: [
            ("esp_rmaker_commands: Node ID: 7CDFA1E86C14", BoardEvent.nodeID(NodeID("7CDFA1E86C14"))),
            ("esp_rmaker_commands: Node ID: XZTfzxp4YfXqLmDwPvNTUi", .nodeID(NodeID("XZTfzxp4YfXqLmDwPvNTUi"))),
            ("esp_rmaker_commands: Starting user-node mapping", .mappingStarted),
            ("esp_rmaker_commands: Invalid Usage.", .invalidUsage),
            ("rmaker_console: Console command failed with error: -1", .commandFailed(-1)),
            ("esp_rmaker_console: Console command failed with error: 258", .commandFailed(258)),
            ("rmaker_console: Command longer than 255 characters. Line discarded.", .lineDiscarded),
            ("rmaker_console: UART overflow. Line discarded.", .lineDiscarded),
            ("E (39424) network_prov_mgr: Disconnect reason : 15", .disconnected(reason: 15)),
            ("E (39434) network_prov_mgr: STA Auth Error", .authenticationFailed),
            ("E (5) wifi_prov_mgr: STA AP Not found", .networkNotFound),
            (
                "I (72761) esp_netif_handlers: sta ip: 192.168.43.243, mask: 255.255.255.0, gw: 192.168.43.1",
                .gotAddress("192.168.43.243")
            ),
            // From logs in users' reports; the second in esp_rmaker_core.c.
            (
                "I (65604) esp_mqtt_glue: Connecting to a1p72mufdu6064-ats.iot.us-east-1.amazonaws.com",
                .connectingToCloud("a1p72mufdu6064-ats.iot.us-east-1.amazonaws.com")
            ),
            (
                "E (9) esp_rmaker_core: Node connected to Wi-Fi without Assisted claiming. Cannot proceed to MQTT connection.",
                .unclaimed
            ),
            ("I (45345) app_wifi: Connected with IP Address:10.0.0.7", .gotAddress("10.0.0.7")),
            ("I (45345) app_network: Connected with IP Address:10.0.0.7", .gotAddress("10.0.0.7")),
            ("I (12:34:56.789) app_network: Connected with IP Address:10.0.0.7", .gotAddress("10.0.0.7")),
            ("I (9) app_wifi: Disconnected. Connecting to the AP again...", .retrying),
            (
                "E (9) network_prov_mgr: Wi-Fi credentials already received by provisioning app",
                .settingsRefused(.alreadyGiven)
            ),
            ("E (9) network_prov_mgr: Invalid state of Provisioning app", .settingsRefused(.notReady)),
            ("ESP-ROM:esp32c3-api1-20210207", .restarted),
            ("rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)", .restarted),
        ])
    func understood(line: String, event: BoardEvent) { #expect(events([line]) == [event]) }

    @Test(
        "all others are passed over",
        arguments: [
            "", ":", ": ", "I (", "I (1) ", "I (1", "get-node-id", "wifi-prov home secret", ">> ",
            "I (69074) esp_rmaker_user_mapping: MQTT Publish: {\"node_id\":\"n\",\"user_id\":\"u\",\"secret_key\":\"s\"}",
            "I (4) app_wifi: Received Wi-Fi credentials", "\tSSID     : home", "\tPassword : secret",
            "I (1) esp_rmaker_commands: Registering command: get-node-id", "esp_rmaker_commands: Node ID: ",
            "esp_rmaker_commands: Node ID: with spaces",
            "esp_rmaker_commands: Node ID: " + String(repeating: "x", count: 65),
            "I (1) app_network: Connected with IP Address:", "I (1) app_network: Connected with IP Address:1.2.3",
            "I (1) app_network: Connected with IP Address:1.2.3.256",
            "I (1) app_network: Connected with IP Address:1.2.3.4.5",
            "I (1) my_app: Connected with IP Address:1.2.3.4", "I (1) network_prov_mgr: Disconnect reason : many",
            "I (1) network_prov_mgr: Disconnect reason : 99999999999", "E (1) network_prov_mgr: STA Disconnected",
            "I (36384) wifi:state: init -> auth (0xb0)", "I (1) my_app: rst:0x1",
        ])
    func passedOver(line: String) { #expect(events([line]).isEmpty) }

    @Test("the application's verdict takes its reason from the line after it")
    func verdict() {
        let failed = "E (9) app_wifi: Provisioning failed!"
        #expect(
            events([failed, "\tReason : Wi-Fi station authentication failed", "\tPlease reset to factory"])
                == [.provisioningFailed(.authentication)])
        #expect(events([failed, "\tReason : Wi-Fi access-point not found"]) == [.provisioningFailed(.notFound)])
        #expect(events([failed, "\tReason : something new"]).isEmpty)
        #expect(events(["\tReason : Wi-Fi access-point not found"]).isEmpty)
    }
}

@Suite("The verdict on an attempt to join")
struct JoinVerdictTests {
    func outcomes(_ events: [BoardEvent]) -> [JoinVerdict.Outcome] {
        var verdict = JoinVerdict()
        return events.compactMap { verdict.take($0) }
    }

    @Test("an address is success, even after failed attempts")
    func joined() {
        #expect(
            outcomes([.disconnected(reason: 205), .retrying, .gotAddress("1.2.3.4")])
                == [.retrying, .retrying, .joined(address: "1.2.3.4")])
    }

    @Test("the manager's verdicts are final")
    func final() {
        #expect(outcomes([.disconnected(reason: 15), .authenticationFailed]).last == .authenticationFailed)
        #expect(outcomes([.disconnected(reason: 201), .networkNotFound]).last == .networkNotFound)
    }

    @Test("a stale reason in the application's verdict does not hide the real one")
    func stale() {
        #expect(
            outcomes([.disconnected(reason: 205), .provisioningFailed(.authentication)]).last == .failed(reason: 205))
        #expect(
            outcomes([.disconnected(reason: 202), .provisioningFailed(.authentication)]).last == .authenticationFailed)
        #expect(outcomes([.provisioningFailed(.notFound)]).last == .networkNotFound)
    }

    /// What firmware prints, as docs/internals/consoles.md has it.
    func outcomes(_ lines: [String]) -> [JoinVerdict.Outcome] {
        var log = BoardLog()
        return outcomes(lines.compactMap { log.event(in: Array($0.utf8)) })
    }

    @Test(
        "a reason that the manager does not explain is reported unchanged, whatever the application repeats",
        arguments: ["Wi-Fi station authentication failed", "Wi-Fi access-point not found"])
    func unexplained(stale: String) {
        let manager = ["E (1) network_prov_mgr: STA Disconnected", "E (1) network_prov_mgr: Disconnect reason : 210"]
        let application = [
            "E (1) app_wifi: Provisioning failed!", "\tReason : \(stale)",
            "\tPlease reset to factory and retry provisioning",
        ]
        #expect(outcomes(manager + application) == [.retrying, .failed(reason: 210)])
        // Firmware that does not count its attempts tries for ever, and says no more than that.
        #expect(outcomes(manager + manager) == [.retrying, .retrying])
    }

    @Test("answers to commands are no verdict")
    func commands() {
        #expect(
            outcomes([.nodeID(NodeID("n")), .mappingStarted, .commandFailed(1), .invalidUsage, .lineDiscarded]).isEmpty)
    }
}

@Suite("The answer to a command")
struct CommandReplyTests {
    func events(_ output: String, command: String = "wifi-prov home secret") -> [BoardEvent]? {
        var reply = CommandReply(command: Array(command.utf8))
        for byte in output.utf8 { if let events = reply.append(byte) { return events } }
        return nil
    }

    @Test("is the text between echo and prompt")
    func between() {
        let stale = "E (1) network_prov_mgr: STA Auth Error\r\n"
        let fresh = "I (2) app_network: Connected with IP Address:1.2.3.4\r\n"
        #expect(events(stale + "wifi-prov home secret\r\n\r\n" + fresh + "\n>> ") == [.gotAddress("1.2.3.4")])
        #expect(events("wifi-prov ho" + stale + "me secret\r\n\r\n" + fresh + "\n>> ") == [.gotAddress("1.2.3.4")])
        #expect(events("\n>> " + stale + "\n>> wifi-prov home secret\r\n\r\n\n>> ") == [])
    }

    @Test("is not decided by any part of it")
    func everyTruncation() {
        let output = Array(
            "wifi-prov home secret\r\n\r\nrmaker_console: Console command failed with error: 258\r\n\n>> ".utf8)
        for count in 0..<output.count { #expect(events(String(decoding: output[..<count], as: UTF8.self)) == nil) }
        #expect(events(String(decoding: output, as: UTF8.self)) == [.commandFailed(258)])
    }

    @Test("a board that restarts ends the wait")
    func restarted() { #expect(events("wifi-prov home\r\nESP-ROM:esp32c3-api1-20210207\r\n") == [.restarted]) }
}
