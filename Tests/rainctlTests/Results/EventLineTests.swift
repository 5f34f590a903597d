// SPDX-License-Identifier: Apache-2.0
import Logging
import RainKit
import Testing

@testable import rainctl

@Suite("rainctl's lines of JSON")
struct EventLineTests {
    private func line(step: String?, node: String?, _ more: some Encodable) -> String {
        JSONText.line(
            EventLine(
                time: "T", run: "r", device: "d", step: step, state: "done", code: "ok", attempt: 1,
                elapsedMilliseconds: 12, nodeID: node, more: more))
    }

    @Test("an event has eight members; a step that is not there is null, a node id absent")
    func event() {
        #expect(
            line(step: nil, node: nil, EventDetail(detail: nil)) == """
                {"ts":"T","run":"r","device":"d","step":null,"state":"done","code":"ok","attempt":1,"elapsed_ms":12}

                """)
        #expect(
            line(step: "join", node: "N1", EventDetail(detail: "heard")) == """
                {"ts":"T","run":"r","device":"d","step":"join","state":"done","code":"ok","attempt":1,"elapsed_ms":12,\
                "node_id":"N1","detail":"heard"}

                """)
    }

    @Test("the last event has the result's members too, and keeps its own")
    func ending() {
        #expect(
            line(step: "confirm", node: "N1", ProvisionResult.sample) == """
                {"ts":"T","run":"r","device":"d","step":"confirm","state":"done","code":"ok","attempt":1,"elapsed_ms":12,\
                "node_id":"N1","ip":"10.0.0.2","ssid":"Home","mapping":"confirmed","claimed":true,"resumed":false,"ssid_hex":"486f6d65"}

                """)
        #expect(
            line(step: nil, node: nil, ErrorResult(CommandFailure(.usage, message: "No.", step: "join")).error) == """
                {"ts":"T","run":"r","device":"d","step":null,"state":"done","code":"ok","attempt":1,"elapsed_ms":12,\
                "exit":64,"reason":"usage","message":"No."}

                """)
    }

    @Test("a found board and a warning are separate events")
    func found() {
        #expect(
            JSONText.line(FoundEvent(DiscoveredBoardResult(transport: "serial", port: "/dev/ttyUSB0"), at: "T"))
                == "{\"ts\":\"T\",\"event\":\"found\",\"transport\":\"serial\",\"port\":\"/dev/ttyUSB0\"}\n")
        #expect(
            JSONText.line(WarningEvent(Warning(reason: "no_bluez", message: "No."), at: "T"))
                == "{\"ts\":\"T\",\"event\":\"warning\",\"reason\":\"no_bluez\",\"message\":\"No.\"}\n")
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
        elapsedMilliseconds: 99, ssidHex: "486f6d65")
}
