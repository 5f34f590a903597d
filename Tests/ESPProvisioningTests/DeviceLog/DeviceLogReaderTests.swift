// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import Testing

@Suite("What stock firmware's log tells")
struct DeviceLogReaderTests {
    @Test("led_light with Security 2: the whole board")
    func ledLight() throws {
        var reader = DeviceLogReader()
        var codes: [QRPayload] = []
        var names: [String] = []
        for line in StockLogs.ledLight {
            for event in reader.take(Array(line.utf8)) {
                if case .code(let code) = event { codes.append(code) }
                if case .provisioningStarted(let name) = event { names.append(name) }
            }
        }
        let known = reader.summary
        #expect(known.chip == "esp32c3" && known.revision == "v0.4" && known.frameworkVersion == "v5.5.1-1-gabc")
        #expect(known.project == "led_light" && known.version == "v1.0-dirty")
        #expect(known.reset == ResetReason(number: 1, straps: 12, mode: "SPI_FAST_FLASH_BOOT") && known.starts == 1)
        #expect(known.macAddress == "60:55:F9:F6:03:3C" && known.nodeID == NodeID("6055F9F6033C"))
        #expect(known.hasConsole && !known.isProvisioned && known.troubles.isEmpty)
        #expect(known.serviceName == "PROV_a1b2c3" && names == ["PROV_a1b2c3"])
        let code = try #require(codes.first)
        #expect(codes.count == 1 && code.name == "PROV_a1b2c3" && code.username == "wifiprov" && code.transport == .ble)
        #expect(code.proofOfPossession == ProofOfPossession("abcd1234"))
    }

    @Test(
        "a code in each form that examples print",
        arguments: [
            (StockLogs.switchLine, "PROV_a1b2c3", QRPayload.Transport.ble),
            (StockLogs.wifiProv, "PROV_A1B2C3", .softap),
            ("https://rainmaker.espressif.com/qrcode.html?data=NP:PROV_a1b2c3|abcd1234|s", "PROV_a1b2c3", .softap),
            ("\u{1B}[0;32m\(StockLogs.switchLine)\u{1B}[0m\r", "PROV_a1b2c3", .ble),
        ])
    func codes(line: String, name: String, transport: QRPayload.Transport) throws {
        var reader = DeviceLogReader()
        guard case .code(let code)? = reader.take(Array(line.split(separator: "\r")[0].utf8)).first else {
            Issue.record("no code in \(line)")
            return
        }
        #expect(
            code.name == name && code.transport == transport && code.proofOfPossession == ProofOfPossession("abcd1234"))
    }

    @Test("an older application names its service and its proof of possession on a separate line")
    func older() throws {
        var reader = DeviceLogReader()
        let events = StockLogs.older.flatMap { reader.take(Array($0.utf8)) }
        guard case .announced(let name, let proof)? = events.last else {
            Issue.record("\(events.count) events")
            return
        }
        #expect(name == "PROV_d4e5f6" && proof == ProofOfPossession("0a1b2c3d"))
        guard
            case .announced(_, let none)? = reader.take(
                Array("I (9) app_wifi: Provisioning Started. Name : PROV_d4e5f6, POP : <null>".utf8)
            ).first
        else {
            Issue.record("not announced")
            return
        }
        #expect(none == nil)
    }

    @Test(
        "a text that only looks like a code names no board",
        arguments: [
            "I (1) app_main: Provisioning QR : not json", "I (1) app_main: Provisioning QR : ",
            #"I (1) app_main: Provisioning QR : {"ver":"v1","pop":"abcd1234"}"#,
            #"I (1) app_main: Provisioning QR : {"name":"PROV_a1b2c3","pop":"ab"#,
            #"https://espressif.github.io/esp-homekit-sdk/qrcode.html?data={"name":"PROV_a1b2c3","pop":"x"}"#,
            #"https://rainmaker.espressif.com/qrcode.html?data={"name":"\#(String(repeating: "n", count: 33))"}"#,
            "I (1) network_prov_mgr: Provisioning started with service name : ",
        ])
    func nothing(line: String) {
        var reader = DeviceLogReader()
        #expect(reader.take(Array(line.utf8)).isEmpty)
        #expect(reader.summary.serviceName == nil && reader.summary.code == nil)
    }

    @Test("no truncation of any line names another board, and no split of the stream changes what is read")
    func truncations() {
        for line in StockLogs.ledLight + StockLogs.older + [StockLogs.switchLine, StockLogs.wifiProv] {
            let bytes = Array(line.utf8)
            for count in 0..<bytes.count {
                var reader = DeviceLogReader()
                for event in reader.take(Array(bytes[..<count])) {
                    if case .code(let code) = event { #expect(["PROV_a1b2c3", "PROV_A1B2C3"].contains(code.name)) }
                }
                // Without its beginning a line says nothing at all of a board.
                reader = DeviceLogReader()
                for event in reader.take(Array(bytes[count...])) {
                    if case .code(let code) = event {
                        #expect(["PROV_a1b2c3", "PROV_A1B2C3"].contains(code.name) && code.proofOfPossession != nil)
                    }
                }
            }
        }
    }

    @Test("a board that is already set up is recognised, with its network")
    func provisioned() {
        var reader = DeviceLogReader()
        let lines =
            StockLogs.boot + [
                "I (800) app_wifi: Already provisioned, starting Wi-Fi STA",
                "I (2000) esp_netif_handlers: sta ip: 192.168.1.23, mask: 255.255.255.0, gw: 192.168.1.1",
                "I (2500) esp_mqtt_glue: Connecting to a1p72mufdu6064-ats.iot.us-east-1.amazonaws.com",
            ]
        for line in lines { _ = reader.take(Array(line.utf8)) }
        #expect(reader.summary.isProvisioned && reader.summary.address == "192.168.1.23")
        #expect(reader.summary.cloudHost == "a1p72mufdu6064-ats.iot.us-east-1.amazonaws.com")
        // A restart makes all of it unknown.
        _ = reader.take(Array("ESP-ROM:esp32c3-api1-20210207".utf8))
        #expect(!reader.summary.isProvisioned && reader.summary.address == nil && reader.summary.starts == 2)
    }

    @Test("a code with a member of the wrong type names no board, and its fault is kept until the next start")
    func faultyCode() {
        var reader = DeviceLogReader()
        let line =
            #"I (1) app_network: Provisioning QR : {"ver":"v1","name":"PROV_a1b2c3","pop":12345678,"transport":"ble"}"#
        #expect(reader.take(Array(line.utf8)).isEmpty)
        #expect(reader.summary.code == nil && reader.summary.codeFault?.contains("\"pop\" must be a string") == true)
        _ = reader.take(Array("ESP-ROM:esp32c3-api1-20210207".utf8))
        #expect(reader.summary.codeFault == nil)
    }
}
