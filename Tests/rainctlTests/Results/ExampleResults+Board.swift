// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
@testable import RainKit

@testable import rainctl

extension ExampleResults {
    static let board: [any CommandResult] = [
        ProvisionResult(
            OnboardedNode(
                nodeID: NodeID("N1"), network: JoinedNetwork(address: "10.0.0.2", ssid: SSID("Home"), channel: 6),
                mapping: .confirmed, claimed: true, resumed: true, elapsed: .milliseconds(1500), name: "Kitchen lamp")),
        ProvisionResult(OnboardedNode(nodeID: nil, network: nil, mapping: .skipped, elapsed: .milliseconds(7))),
        ProvisionResult(
            OnboardedNode(
                nodeID: nil, network: nil, mapping: .skipped,
                customData: [CustomData(Array("yes".utf8), for: "garden")],
                elapsed: .milliseconds(7))),
        DeviceInfoResult(
            BoardIdentity(
                security: .init(version: 2, patch: 1, needsProofOfPossession: true), association: .userMapping,
                needsClaim: true, nodeID: NodeID("N1"), version: "v1.1", capabilities: ["wifi_scan", "claim"])),
        DeviceInfoResult(BoardIdentity(association: .challengeResponse)),
        DeviceInfoResult(BoardIdentity(association: .userMapping, needsClaim: nil)),
        DeviceInfoResult(printed),
        ClaimResult(
            CableClaim(
                node: NodeID("N1"), mac: "7CDFA1000042", place: .flash(port: "/dev/ttyUSB0", address: 0x34_0000))),
        ClaimResult(CableClaim(node: NodeID("N1"), mac: "7CDFA1000042", place: .file("claim.bin"))),
        QRShowResult(name: "PROV_a1b2c3", png: "code.png", svg: nil, modules: 33),
        QRShowResult(name: "PROV_a1b2c3", png: nil, svg: "code.svg", modules: 33, drawing: "##\n##"),
        QRReadResult([
            Array(#"{"ver":"v1","name":"PROV_a1b2c3","pop":"p","transport":"ble","x":1}"#.utf8),
            Array("hello".utf8),
        ]),
        QRReadResult([Array(#"{"ver":"v1","name":"PROV_a1b2c3","username":"wifiprov","pop":"p","security":2}"#.utf8)]),
        DoctorResult(findings: [
            .ok("cloud", "api.example answers."),
            .warn("bluetooth", "powered_off", "hci0 is off.", fix: .program(["bluetoothctl", "power", "on"])),
            .fail("session", "not_signed_in", "Nobody is signed in.", fix: .command("rainctl login USER")),
        ]),
        SendResult("custom-data", sent: [1, 2], answered: Array("SUCCESS\0".utf8)),
        SendResult("custom-data", sent: [1], answered: [0xFF, 0x00]),
        MonitorResult(summary, lines: 7),
        ScanResult([
            AccessPoint(
                ssid: SSID("Home"), bssid: [0, 1, 2, 0xAB, 0xCD, 0xEF], channel: 6, rssi: -40,
                protection: .init(rawValue: 3)),
            AccessPoint(ssid: SSID(""), bssid: [1, 1, 1, 1, 1, 1], channel: 11, rssi: -80, protection: .open),
            AccessPoint(
                ssid: SSID("a\\b\u{7}c"), bssid: [1, 1, 1, 1, 1, 2], channel: 1, rssi: -81, protection: .open),
            AccessPoint(
                ssid: SSID([0x63, 0xE9]), bssid: [1, 1, 1, 1, 1, 3], channel: 1, rssi: -82, protection: .open),
            AccessPoint(
                ssid: SSID([0x61, 0x00]), bssid: [1, 1, 1, 1, 1, 4], channel: 1, rssi: -83, protection: .open),
        ]),
        ScanResult([]),
        ResetResult(),
        ClaimResult(
            OnboardedNode(nodeID: NodeID("N1"), network: nil, mapping: .skipped, claimed: true, elapsed: .zero)),
        ClaimResult(OnboardedNode(nodeID: NodeID("N1"), network: nil, mapping: .skipped, elapsed: .zero)),
        DiscoveredBoardResult(FoundBoard(.serial("/dev/ttyUSB0"))),
        heardBoard,
        DiscoveredBoardResult(transport: "ble", address: "AA:BB", services: [], connected: true),
        boardOnNetwork,
        DiscoveryResult(boards: [DiscoveredBoardResult(transport: "serial", port: "/dev/ttyACM0")]),
        DiscoveryResult(boards: [heardBoard, boardOnNetwork]),
        DiscoveryResult(boards: []),
    ]

    private static let heardBoard = DiscoveredBoardResult(
        transport: "ble", address: "AA:BB", name: "PROV_1", rssi: -50, services: ["s1"], connected: false)

    private static let boardOnNetwork = DiscoveredBoardResult(
        transport: "on-network", address: "192.168.1.23:80", name: "Lamp", nodeID: "N1")

    private static var printed: BoardIdentity {
        var identity = BoardIdentity(association: .challengeResponse, nodeID: NodeID("N1"))
        identity.takesCommands = false
        identity.reachedAt = "ble:PROV_a1b2c3"
        var printed = PrintedIdentity()
        (printed.chip, printed.revision, printed.macAddress) = ("esp32c3", "v0.4", "7C:DF:A1:00:00:01")
        (printed.application, printed.applicationVersion, printed.framework) = ("switch", "v1.0", "v5.5.1")
        (printed.startReason, printed.serviceName) = ("power on, or the reset button", "PROV_a1b2c3")
        (printed.isProvisioned, printed.address) = (true, "192.168.1.23")
        identity.printed = printed
        return identity
    }

    private static var summary: DeviceSummary {
        var summary = DeviceSummary()
        (summary.chip, summary.starts, summary.nodeID) = ("esp32c3", 3, NodeID("N1"))
        (summary.revision, summary.macAddress, summary.frameworkVersion) = ("v0.4", "7C:DF:A1:00:00:01", "v5.5.1")
        (summary.project, summary.version, summary.serviceName) = ("switch", "v1.0", "PROV_a1b2c3")
        summary.reset = ResetReason(number: 1, straps: 0xC)
        (summary.isProvisioned, summary.address, summary.troubles) = (true, "192.168.1.23", [.taskWatchdog])
        return summary
    }
}
