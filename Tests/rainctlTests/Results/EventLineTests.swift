// SPDX-License-Identifier: Apache-2.0
import Logging
@testable import RainKit
import Testing

@testable import rainctl

@Suite("rainctl's lines of JSON")
struct EventLineTests {
    @Test("the last event has the members of the result or the error behind its own")
    func ending() {
        func line(_ details: EventDocument.Details, node: NodeID?) -> String {
            JSONText.line(
                EventDocument(
                    time: "T", run: "r", device: "d", step: node == nil ? nil : "confirm", state: "done",
                    elapsed: .milliseconds(12), nodeID: node, details))
        }
        #expect(
            line(.result(ProvisionResult.sample), node: NodeID("N1")) == """
                {"ts":"T","run":"r","device":"d","step":"confirm","state":"done","code":"ok","attempt":1,"elapsed_ms":12,\
                "node_id":"N1","ip":"10.0.0.2","ssid":"Home","mapping":"confirmed","claimed":true,"resumed":false,"ssid_hex":"486f6d65"}

                """)
        #expect(
            line(.error(.init(CommandFailure(.usage, message: "No.", step: "join"))), node: nil) == """
                {"ts":"T","run":"r","device":"d","step":null,"state":"done","code":"ok","attempt":1,"elapsed_ms":12,\
                "exit":64,"reason":"usage","message":"No."}

                """)
    }

    @Test("a found board and a warning are separate events")
    func found() {
        #expect(
            JSONText.line(
                TimedDocument(FoundEvent(DiscoveredBoardResult(transport: "serial", port: "/dev/ttyUSB0")), at: "T"))
                == "{\"ts\":\"T\",\"event\":\"found\",\"transport\":\"serial\",\"port\":\"/dev/ttyUSB0\"}\n")
        #expect(
            JSONText.line(TimedDocument(WarningEvent(Warning(reason: "no_bluez", message: "No.")), at: "T"))
                == "{\"ts\":\"T\",\"event\":\"warning\",\"reason\":\"no_bluez\",\"message\":\"No.\"}\n")
    }

    @Test("a line of a board's log has its time first")
    func monitor() {
        #expect(
            JSONText.line(TimedDocument(MonitorEvent(event: "line", text: "boot"), at: "T"))
                == #"{"ts":"T","event":"line","text":"boot"}"# + "\n")
    }

    @Test("a line of the log has its metadata behind, sorted")
    func log() {
        #expect(
            JSONText.line(
                LogLine(
                    time: "T", level: .debug, label: "rainctl", message: "m", metadata: ["peer": "p", "cause": "c"]))
                == #"{"ts":"T","level":"debug","label":"rainctl","message":"m","cause":"c","peer":"p"}"# + "\n")
    }
}

extension ProvisionResult {
    fileprivate static let sample = ProvisionResult(
        nodeID: "N2", ip: "10.0.0.2", ssid: "Home", mapping: "confirmed", claimed: true,
        resumed: false,
        elapsedMs: 99, ssidHex: "486f6d65")
}
