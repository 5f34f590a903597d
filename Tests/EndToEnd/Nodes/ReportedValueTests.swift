// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// Whether a board has what it was set to, by a report that is written otherwise, and what is said where it has another value.
@Suite("rainctl node params set --wait: values as boards report them")
struct ReportedValueTests {
    private static func node(_ values: String, isOnline: Bool = true) -> (status: Int, body: String) {
        let body = #"""
            {"node_details":[{"id":"n1","role":"primary",
            "status":{"connectivity":{"connected":\#(isOnline),"timestamp":1}},
            "config":{"node_id":"n1","devices":[{"name":"Light","params":[
            {"name":"Level","data_type":"float","properties":["read","write"]},
            {"name":"Brightness","data_type":"int","properties":["read","write"]},
            {"name":"Colors","data_type":"object","properties":["read","write"]}]}]},
            "params":{"Light":\#(values)}}]}
            """#
        return (200, body)
    }

    private static func run(
        _ nodes: [(status: Int, body: String)], _ body: (Maker) async throws -> Void
    ) async throws {
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": nodes,
            "PUT /v1/user/nodes/params?node_id=n1": [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in try await body(maker) }
    }

    @Test("--wait knows a float and an object in the report")
    func waited() async throws {
        let after = #"{"Level":0.69999998807907104,"Brightness":25,"Colors":{"b":2,"a":1}}"#
        try await Self.run([Self.node(#"{"Level":0.1}"#), Self.node(after)]) { maker in
            let outcome = try await maker.rainctl([
                "node", "params", "set", "n1", "Light.Level=0.7", #"Light.Colors={"a":1.0,"b":2}"#, "--wait",
                "--timeout", "120", "--json",
            ])
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            #expect(outcome.document?["nodes"]?.array?.first?["state"] == "reported", "\(outcome.standardOutput)")
        }
    }

    @Test("a board that has adjusted the value, and one that is offline, are distinguished")
    func adjusted() async throws {
        let set = ["node", "params", "set", "n1", "Light.Brightness=25", "--wait", "--timeout", "8"]
        try await Self.run([Self.node(#"{"Brightness":10}"#), Self.node(#"{"Brightness":30}"#)]) { maker in
            let json = try await maker.rainctl(set + ["--json"])
            json.expectFailure(16, "deadline", says: "n1 reports Light.Brightness=30, and has not")
            let entry = json.document?["nodes"]?.array?.first
            #expect(entry?["state"] == "silent" && entry?["message"] == "reports Light.Brightness=30")
            let text = try await maker.rainctl(set)
            #expect(
                text.standardOutput
                    == "n1 has not reported the values in time; the cloud has sent them; it reports Light.Brightness=30\n"
            )
        }
        try await Self.run([Self.node(#"{"Brightness":25}"#, isOnline: false)]) { maker in
            let json = try await maker.rainctl(set + ["--json"])
            json.expectFailure(16, "deadline", says: "n1 is offline, and has not")
        }
    }
}
