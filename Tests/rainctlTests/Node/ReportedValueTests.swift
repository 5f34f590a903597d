// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// Whether a board has what it was set to, by a report that is written otherwise, and what is said where it has another value.
@Suite("rainctl node params set --wait: values as boards report them")
struct ReportedValueTests {
    @Test(
        "what firmware reports of a value that it has, and what of another",
        arguments: [
            ("0.7", "0.69999998807907104", true), ("0.7", "0.70000", true), ("0.7", "0.7", true),
            ("0.7", "0.71", false),
            ("0.7", "0.7001", false), ("3.14159265", "3.14159", true), ("3.14159265", "3.1415927410125732", true),
            ("3.14159265", "3.1415", false), ("-0.1", "-0.10000000149011612", true), ("-0.1", "0.1", false),
            ("1234567.8", "1234567.75000", true), ("1234567.8", "1234568", false), ("50", "50.00000", true),
            ("50.0", "50", true), ("16777217", "16777217", true), ("16777217", "16777216", false), ("1", "true", false),
            ("1e300", "1e300", true), ("1e300", "1e299", false), (#""0.7""#, "0.7", false), ("null", "0", false),
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, true), (#"{"a":1}"#, #"{"b":2,"a":1}"#, false),
            (#"{"a":1,"b":2}"#, #"{"a":1}"#, false), (#"{"a":1,"b":2}"#, #"{"a":1,"c":2}"#, false),
            (#"{"a":[{"x":0.7,"y":1.0}]}"#, #"{"a":[{"y":1,"x":0.69999998807907104}]}"#, true),
            (#"{"a":[{"x":0.7}]}"#, #"{"a":[{"x":0.8}]}"#, false), ("[1,2]", "[2,1]", false), ("[1,2]", "[1]", false),
            (#"{"a":1,"a":2}"#, #"{"a":2}"#, true),
        ])
    func report(wanted: String, reported: String, isHeld: Bool) throws {
        let (wanted, reported) = (
            try JSONValue(parsing: Array(wanted.utf8)), try JSONValue(parsing: Array(reported.utf8))
        )
        #expect(reported.isReport(of: wanted) == isHeld)
        let path = ParameterPath(component: "Light", parameter: "Level")
        #expect(
            ParameterSetter.holds([ParameterChange(path, wanted)], in: ["Light": ["Level": reported]]) == isHeld)
    }

    @Test("of values that a board has instead the names and values are told, and no secret")
    func others() {
        let change = { (component: String, parameter: String, value: JSONValue) in
            ParameterChange(ParameterPath(component: component, parameter: parameter), value)
        }
        let values: JSONValue = ["Light": ["Bright.ness": 30, "Power": true], "Local Control": ["POP": "planted"]]
        let wanted = [
            change("Light", "Bright.ness", 25), change("Light", "Power", true), change("Light", "Hue", 1),
            change("Local Control", "POP", "other"),
        ]
        #expect(
            ParameterSetter.others(wanted, in: values, nil)
                == "reports Light.Bright.ness=30, Local Control.POP=<secret>")
        #expect(ParameterSetter.others([wanted[1]], in: values, nil) == nil)
        #expect(ParameterSetter.others(wanted, in: nil, nil) == nil)
        let outcomes = [ParameterSetter.Outcome(node: NodeID("n1"), isReported: false, seen: "reports Light.Hue=2")]
        #expect(
            ParamsSetResult(outcomes, isLocal: true).text
                == "n1  has taken it, and does not report it; it reports Light.Hue=2")
    }

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
                "--timeout", "5", "--json",
            ])
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            #expect(outcome.document?["nodes"]?.array?.first?["state"] == "reported", "\(outcome.standardOutput)")
        }
    }

    @Test("a board that has adjusted the value, and one that is offline, are told apart")
    func adjusted() async throws {
        let set = ["node", "params", "set", "n1", "Light.Brightness=25", "--wait", "--timeout", "1"]
        try await Self.run([Self.node(#"{"Brightness":10}"#), Self.node(#"{"Brightness":30}"#)]) { maker in
            let json = try await maker.rainctl(set + ["--json"])
            json.expectFailure(16, "deadline", says: "by n1 (it reports Light.Brightness=30)")
            let entry = json.document?["nodes"]?.array?.first
            #expect(entry?["state"] == "silent" && entry?["message"] == "reports Light.Brightness=30")
            let text = try await maker.rainctl(set)
            #expect(
                text.standardOutput
                    == "n1  sent by the cloud; the board has not reported it in time; it reports Light.Brightness=30\n")
        }
        try await Self.run([Self.node(#"{"Brightness":25}"#, isOnline: false)]) { maker in
            let json = try await maker.rainctl(set + ["--json"])
            json.expectFailure(16, "deadline", says: "by n1 (it is offline)")
        }
    }
}
