// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

@testable import rainctl

extension GoldenResult {
    static let device: [GoldenResult] = [
        GoldenResult(
            DeviceInfoResult(
                BoardIdentity(
                    security: .init(version: 2, patch: 1, needsProofOfPossession: true), association: .userMapping,
                    needsClaim: true, nodeID: NodeID("N1"), version: "v1.1", capabilities: ["wifi_scan", "claim"])),
            json: """
                {"version":"v1.1","security":2,"patch":1,"proof_of_possession":true,"node_id":"N1",\
                "association":"user_mapping","needs_claim":true,"capabilities":["wifi_scan","claim"]}
                """,
            text: """
                version: v1.1
                security: 2, with proof of possession
                node id: N1
                association: user_mapping
                needs to be claimed
                capabilities: wifi_scan claim
                """),
        GoldenResult(
            DeviceInfoResult(BoardIdentity(association: .challengeResponse)),
            json: #"{"version":"","association":"challenge_response","needs_claim":false,"capabilities":[]}"#,
            text: "version: unknown\nassociation: challenge_response"),
        GoldenResult(
            DeviceInfoResult(BoardIdentity(association: .userMapping, needsClaim: nil)),
            json: #"{"version":"","association":"user_mapping","needs_claim":null,"capabilities":[]}"#,
            text: "version: unknown\nassociation: user_mapping\nneeds to be claimed: unknown, its console does not tell"
        ),
        GoldenResult(
            DeviceInfoResult(printed),
            json: """
                {"takes_commands":false,"reached_at":"ble:PROV_a1b2c3","node_id":"N1","chip":"esp32c3","chip_revision":"v0.4",\
                "mac":"7C:DF:A1:00:00:01","application":"switch","application_version":"v1.0","esp_idf":"v5.5.1",\
                "started":"power on, or the reset button","name":"PROV_a1b2c3","has_network":true,"ip":"192.168.1.23"}
                """,
            text: """
                takes no commands on this port; it is provisioned over Bluetooth
                node id: N1
                chip: esp32c3 v0.4
                mac: 7C:DF:A1:00:00:01
                application: switch v1.0
                ESP-IDF: v5.5.1
                last start: power on, or the reset button
                name: PROV_a1b2c3
                has a Wi-Fi network already, and waits for no other
                ip: 192.168.1.23
                """),
        GoldenResult(
            ClaimResult(
                node: NodeID("N1"), mac: "7CDFA1000042", image: nil, flashAddress: "0x340000", port: "/dev/ttyUSB0"),
            json: #"{"node_id":"N1","claimed":true,"mac":"7CDFA1000042","flash_address":"0x340000"}"#,
            text: """
                node id: N1
                board: 7CDFA1000042
                The board has its certificate. Next: rainctl provision --port /dev/ttyUSB0 --ssid NETWORK
                """),
        GoldenResult(
            ClaimResult(node: NodeID("N1"), mac: "7CDFA1000042", image: "claim.bin", flashAddress: nil),
            json: #"{"node_id":"N1","claimed":true,"mac":"7CDFA1000042","image":"claim.bin"}"#,
            text: """
                node id: N1
                board: 7CDFA1000042
                image: claim.bin, with the board's private key; flash it to the partition fctry, then delete it
                """),
        GoldenResult(
            QRShowResult(name: "PROV_a1b2c3", png: "code.png", svg: nil, modules: 33),
            json: #"{"name":"PROV_a1b2c3","png":"code.png","modules":33}"#, text: ""),
        GoldenResult(
            QRReadResult([
                Array(#"{"ver":"v1","name":"PROV_a1b2c3","pop":"p","transport":"ble","x":1}"#.utf8),
                Array("hello".utf8),
            ]),
            json: #"""
                {"codes":[{"payload":"{\"ver\":\"v1\",\"name\":\"PROV_a1b2c3\",\"pop\":\"p\",\"transport\":\"ble\",\"x\":1}","name":"PROV_a1b2c3",\#
                "transport":"ble"},{"payload":"hello"}]}
                """#,
            text: #"{"ver":"v1","name":"PROV_a1b2c3","pop":"p","transport":"ble","x":1}"# + "\nhello"),
        GoldenResult(
            DoctorResult(findings: [
                .ok("cloud", "api.example answers."),
                .warn("bluetooth", "powered_off", "hci0 is off.", fix: "bluetoothctl power on"),
                .fail("session", "not_signed_in", "Nobody is signed in.", fix: "rainctl login USER"),
            ]),
            json: """
                {"findings":[{"check":"cloud","state":"ok","reason":"ok","message":"api.example answers."},\
                {"check":"bluetooth","state":"warn","reason":"powered_off","message":"hci0 is off.","fix":"bluetoothctl power on"},\
                {"check":"session","state":"fail","reason":"not_signed_in","message":"Nobody is signed in.","fix":"rainctl login USER"}],\
                "failed":1,"warned":1}
                """,
            text: """
                ok    cloud      api.example answers.
                warn  bluetooth  hci0 is off.
                                 → bluetoothctl power on
                fail  session    Nobody is signed in.
                                 → rainctl login USER
                """),
        GoldenResult(
            SendResult("custom-data", sent: [1, 2], answered: Array("SUCCESS\0".utf8)),
            json: #"{"endpoint":"custom-data","bytes":2,"answer":"SUCCESS","answer_hex":"5355434345535300"}"#,
            text: "SUCCESS"),
        GoldenResult(
            SendResult("custom-data", sent: [1], answered: [0xFF, 0x00]),
            json: #"{"endpoint":"custom-data","bytes":1,"answer_hex":"ff00"}"#, text: "ff00"),
        GoldenResult(
            MonitorResult(summary, lines: 7),
            json: """
                {"lines":7,"starts":3,"chip":"esp32c3","chip_revision":"v0.4","mac":"7C:DF:A1:00:00:01","application":"switch",\
                "application_version":"v1.0","esp_idf":"v5.5.1","started":"power on, or the reset button","name":"PROV_a1b2c3",\
                "has_network":true,"ip":"192.168.1.23","node_id":"N1","troubles":\
                [{"reason":"task_watchdog","message":"A task of the board's firmware keeps the others from running. If the board \
                does not go on, restart it."}]}
                """,
            text: ""),
        GoldenResult(
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
            json: """
                {"networks":[{"ssid":"Home","ssid_hex":"486f6d65","bssid":"00:01:02:ab:cd:ef","channel":6,"rssi":-40,\
                "auth":"wpa2_psk"},{"ssid":"","ssid_hex":"","bssid":"01:01:01:01:01:01","channel":11,"rssi":-80,\
                "auth":"open"},{"ssid":"a\\\\b\\u0007c","ssid_hex":"615c620763","bssid":"01:01:01:01:01:02","channel":1,\
                "rssi":-81,"auth":"open"},{"ssid":null,"ssid_hex":"63e9","bssid":"01:01:01:01:01:03","channel":1,\
                "rssi":-82,"auth":"open"},{"ssid":null,"ssid_hex":"6100","bssid":"01:01:01:01:01:04","channel":1,\
                "rssi":-83,"auth":"open"}]}
                """,
            text: """
                -40 dBm  ch 6  00:01:02:ab:cd:ef  wpa2_psk  Home
                -80 dBm  ch 11  01:01:01:01:01:01  open  (hidden)
                -81 dBm  ch 1  01:01:01:01:01:02  open  a\\\\b\\x07c
                -82 dBm  ch 1  01:01:01:01:01:03  open  c\\xe9
                -83 dBm  ch 1  01:01:01:01:01:04  open  a\\x00
                """),
        GoldenResult(ScanResult([]), json: #"{"networks":[]}"#, text: ""),
        GoldenResult(
            ResetResult(), json: #"{"reset":true}"#, text: "The board has forgotten its last Wi-Fi settings."),
        GoldenResult(
            ClaimResult(
                OnboardedNode(nodeID: NodeID("N1"), network: nil, mapping: .skipped, claimed: true, elapsed: .zero)),
            json: #"{"node_id":"N1","claimed":true}"#, text: "node id: N1"),
        GoldenResult(
            ClaimResult(OnboardedNode(nodeID: NodeID("N1"), network: nil, mapping: .skipped, elapsed: .zero)),
            json: #"{"claimed":false}"#, text: "The board has its certificate already: nothing to claim."),
        GoldenResult(
            DiscoveredBoardResult(FoundBoard(.serial("/dev/ttyUSB0"))),
            json: #"{"transport":"serial","port":"/dev/ttyUSB0"}"#, text: "/dev/ttyUSB0"),
        GoldenResult(
            DiscoveredBoardResult(
                transport: "ble", address: "AA:BB", name: "PROV_1", rssi: -50, services: ["s1"], connected: false),
            json: """
                {"transport":"ble","address":"AA:BB","name":"PROV_1","rssi":-50,"services":["s1"],"connected":false}
                """,
            text: "PROV_1  AA:BB  -50 dBm"),
        GoldenResult(
            DiscoveredBoardResult(transport: "ble", address: "AA:BB", services: [], connected: true),
            json: #"{"transport":"ble","address":"AA:BB","services":[],"connected":true}"#,
            text: "(no name)  AA:BB  connected"),
        GoldenResult(
            DiscoveryResult(boards: [DiscoveredBoardResult(transport: "serial", port: "/dev/ttyACM0")]),
            json: #"{"boards":[{"transport":"serial","port":"/dev/ttyACM0"}]}"#, text: ""),
        GoldenResult(DiscoveryResult(boards: []), json: #"{"boards":[]}"#, text: ""),
    ]

    static let provisionWhole = GoldenResult(
        ProvisionResult(
            OnboardedNode(
                nodeID: NodeID("N1"), network: JoinedNetwork(address: "10.0.0.2", ssid: SSID("Home"), channel: 6),
                mapping: .confirmed, claimed: true, resumed: true, elapsed: .milliseconds(1500))),
        json: """
            {"node_id":"N1","ip":"10.0.0.2","ssid":"Home","mapping":"confirmed","claimed":true,"resumed":true,\
            "elapsed_ms":1500,"ssid_hex":"486f6d65"}
            """,
        text: "node id: N1\nip: 10.0.0.2\nmapping: confirmed")

    static let provisionBare = GoldenResult(
        ProvisionResult(OnboardedNode(nodeID: nil, network: nil, mapping: .skipped, elapsed: .milliseconds(7))),
        json: #"{"mapping":"skipped","claimed":false,"resumed":false,"elapsed_ms":7}"#, text: "mapping: skipped")
}

extension GoldenResult {
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
