// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainAccount
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Testing
import RainCore

@Suite("A node's parameters")
struct ParameterTests {
    private static let configuration = NodeConfiguration([
        "devices": [
            [
                "name": "Light", "type": "esp.device.lightbulb",
                "params": [
                    [
                        "name": "Name", "type": "esp.param.name", "data_type": "string",
                        "properties": ["read", "write"],
                    ],
                    ["name": "Power", "data_type": "bool", "properties": ["read", "write"]],
                    [
                        "name": "Brightness", "data_type": "int", "properties": ["read", "write"],
                        "bounds": ["min": 0, "max": 100, "step": 5],
                    ],
                    [
                        "name": "Warmth", "data_type": "float", "properties": ["read", "write"],
                        "bounds": ["min": 0.5, "max": 1.5, "step": 0.1],
                    ],
                    [
                        "name": "Mode", "data_type": "string", "properties": ["read", "write"],
                        "valid_strs": ["Auto", "Manual"],
                    ],
                    ["name": "Heat", "data_type": "float", "properties": ["read"]],
                    ["name": "Map", "data_type": "object", "properties": ["read", "write"]],
                    ["name": "Odd"],
                ],
            ]
        ], "services": [["name": "Schedule", "type": "esp.service.schedule", "params": []]],
    ])!

    @Test(
        "a value is read by the parameter's type",
        arguments: [
            ("Power", "on", true), ("Power", "FALSE", false), ("Brightness", "40", 40),
            ("Warmth", "0.8", .number(0.8)), ("Warmth", "1", 1), ("Mode", "Auto", "Auto"), ("Name", "007", "007"),
            ("Name", "true", "true"), ("Map", #"{"a":1}"#, ["a": 1]), ("Odd", "12", 12), ("Odd", "word", "word"),
        ] as [(String, String, JSONValue)])
    func text(parameter: String, text: String, value: JSONValue) throws {
        let path = ParameterPath(component: "Light", parameter: parameter)
        #expect(try Self.configuration.change(path, from: text).value == value)
    }

    @Test(
        "a value that the node would not accept is refused, with the accepted values",
        arguments: [
            ("Lamp.Power", "on", ParameterError.Code.noSuchComponent, "its devices are: Light"),
            ("Light.Pover", "on", .noSuchParameter, "Brightness"), ("Light.Heat", "20", .readOnly, "is read-only"),
            ("Light.Power", "bright", .wrongType, "true or false"),
            ("Light.Brightness", "dark", .wrongType, "a whole number from 0 to 100 in steps of 5"),
            ("Light.Brightness", "1.5", .wrongType, "whole number"),
            ("Light.Brightness", "105", .outOfBounds, "0 to 100"),
            ("Light.Brightness", "-5", .outOfBounds, "not -5"), ("Light.Brightness", "42", .outOfBounds, "steps of 5"),
            ("Light.Warmth", "0.4", .outOfBounds, "from 0.5 to 1.5"),
            ("Light.Mode", "auto", .notAllowed, "Auto, Manual"),
            ("Light.Name", "", .notAllowed, "cannot be blank"), ("Light.Name", " \t", .notAllowed, "cannot be blank"),
            ("Light.Map", "[1]", .wrongType, "JSON object"),
        ])
    func refused(path: String, text: String, code: ParameterError.Code, words: String) throws {
        let parts = path.split(separator: ".").map(String.init)
        let error = #expect(throws: ParameterError.self) {
            try Self.configuration.change(ParameterPath(component: parts[0], parameter: parts[1]), from: text)
        }
        #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test(
        "comparisons of a parameter",
        arguments: [
            ("Brightness", ">", 30, nil), ("Brightness", "<=", 1000, nil), ("Heat", ">=", .number(21.5), nil),
            ("Power", "==", true, nil), ("Mode", "!=", "Auto", nil), ("Odd", "<", 3, nil), ("Odd", "==", "x", nil),
            ("Power", ">", true, "not a number"), ("Mode", "<", "Auto", "not a number"),
            ("Odd", "<", "x", "not a number"),
            ("Brightness", "==", "dark", "a whole number"), ("Brightness", ">", .number(1.5), "a whole number"),
            ("Heat", "==", "hot", "a number"), ("Power", "==", 1, "true or false"), ("Pover", "==", 1, "Brightness"),
        ] as [(String, String, JSONValue, String?)])
    func comparisons(parameter: String, sign: String, value: JSONValue, refusal: String?) {
        do throws(ParameterError) {
            let path = ParameterPath(component: "Light", parameter: parameter)
            let change = try Self.configuration.comparison(path, sign, value)
            #expect(change.value == value && refusal == nil)
        } catch {
            #expect(refusal.map { error.message.contains($0) } == true, "\(error.message)")
        }
    }

    @Test(
        "a node reports the values that were set, except write-only parameters and triggers",
        arguments: [
            ("esp.param.power", ["read", "write"], true), ("esp.param.ota_url", ["write"], false),
            ("esp.param.reboot", ["read", "write"], false), ("esp.param.factory-reset", ["read", "write"], false),
            ("esp.param.wifi-reset", ["read", "write"], false), ("my.param.auto-reset", ["read", "write"], true),
            (nil, nil, true),
        ] as [(String?, [String]?, Bool)])
    func reports(type: String?, properties: [String]?, isReported: Bool) {
        var parameter: [JSONValue.Member] = [.init("name", "P")]
        if let type { parameter.append(.init("type", .string(type))) }
        if let properties { parameter.append(.init("properties", .array(properties.map { .string($0) }))) }
        let configuration = NodeConfiguration(["devices": [["name": "D", "params": [.object(parameter)]]]])
        #expect(configuration?.component("D")?.parameter("P")?.reportsWhatIsSet == isReported)
    }

    @Test("changes are one object, and are read from one")
    func json() throws {
        let changes = [
            ParameterChange(.init(component: "Light", parameter: "Power"), true),
            ParameterChange(.init(component: "Fan", parameter: "Speed"), 3),
            ParameterChange(.init(component: "Light", parameter: "Name"), "Lamp"),
        ]
        #expect(changes.json == ["Light": ["Power": true, "Name": "Lamp"], "Fan": ["Speed": 3]])
        #expect([ParameterChange](changes.json)?.json == changes.json)
        #expect([ParameterChange]([1]) == nil && [ParameterChange](["Light": 1]) == nil)
        #expect([ParameterChange](reported: ["odd": 5, "Fan": ["Speed": 3]]).json == ["Fan": ["Speed": 3]])
    }

    @Test("30 nodes are set by two calls, and a failure names its node")
    func several() async throws {
        let script = try ScriptedCloud()
        let replies = (0..<25).map { number in
            number == 3
                ? #"{"node_id":"n3","status":"failure","error_code":100010}"#
                : #"{"node_id":"n\#(number)","status":"success","description":"Success"}"#
        }
        script.http.expect(.put, "/v1/user/nodes/params", status: 207, "[\(replies.joined(separator: ","))]")
        // The cloud omits one of the last five.
        let rest = (25..<29).map { #"{"node_id":"n\#($0)","status":"success","description":"Success"}"# }
        script.http.expect(.put, "/v1/user/nodes/params", "[\(rest.joined(separator: ","))]")
        let change = ParameterChange(.init(component: "Light", parameter: "Power"), true)
        let outcomes = try await script.cloud.set((0..<30).map { (NodeID("n\($0)"), [change]) })
        #expect(outcomes.count == 30)
        #expect(outcomes.filter { $0.failure != nil }.map(\.node) == [NodeID("n3"), NodeID("n29")])
        #expect(outcomes[3].failure?.contains("belongs to another user") == true && outcomes[3].serverCode == 100010)
        try script.http.finish()
    }

    @Test("a failed call does not discard the outcomes of earlier calls")
    func laterFailure() async throws {
        let script = try ScriptedCloud()
        let replies = (0..<25).map { #"{"node_id":"n\#($0)","status":"success","description":"Success"}"# }
        script.http.expect(.put, "/v1/user/nodes/params", "[\(replies.joined(separator: ","))]")
        script.http.expect(
            .put, "/v1/user/nodes/params", status: 429,
            #"{"status":"failure","error_code":100070,"description":"Too many requests"}"#)
        let change = ParameterChange(.init(component: "Light", parameter: "Power"), true)
        let outcomes = try await script.cloud.set((0..<27).map { (NodeID("n\($0)"), [change]) })
        #expect(outcomes.count { $0.failure == nil } == 25)
        #expect(outcomes.suffix(2).allSatisfy { $0.serverCode == 100070 && $0.untold == nil })
    }

    @Test("a call whose answer is lost leaves its nodes uncertain, and the next call is sent")
    func lostAnswer() async throws {
        let script = try ScriptedCloud()
        let replies = (0..<75).map { #"{"node_id":"n\#($0)","status":"success","description":"Success"}"# }
        script.http.expect(.put, "/v1/user/nodes/params", "[\(replies[..<25].joined(separator: ","))]")
        script.http.expect(.put, "/v1/user/nodes/params", failure: .timeout)
        script.http.expect(.put, "/v1/user/nodes/params", "[\(replies[50...].joined(separator: ","))]")
        let change = ParameterChange(.init(component: "Light", parameter: "Power"), true)
        let outcomes = try await script.cloud.set((0..<75).map { (NodeID("n\($0)"), [change]) })
        #expect(outcomes.map(\.node) == (0..<75).map { NodeID("n\($0)") })
        for (index, outcome) in outcomes.enumerated() {
            #expect(outcome.untold?.code == (25..<50 ~= index ? .timeout : nil), "\(index)")
            #expect((outcome.failure != nil) == (25..<50 ~= index), "\(index)")
        }
        try script.http.finish()
    }

    @Test("a cancelled caller sends nothing more, and gets an error")
    func cancelled() async throws {
        let script = try ScriptedCloud()
        let replies = (0..<25).map { #"{"node_id":"n\#($0)","status":"success","description":"Success"}"# }
        script.http.expect(.put, "/v1/user/nodes/params", "[\(replies.joined(separator: ","))]")
        script.http.expect(.put, "/v1/user/nodes/params", failure: .cancelled)
        let change = ParameterChange(.init(component: "Light", parameter: "Power"), true)
        let error = await accountError { () throws(AccountError) in
            try await script.cloud.set((0..<75).map { (NodeID("n\($0)"), [change]) })
        }
        #expect(error?.code == .cancelled)
        try script.http.finish()
    }

    @Test("for a node that is named twice each answer counts once")
    func twice() async throws {
        let script = try ScriptedCloud()
        script.http.expect(
            .put, "/v1/user/nodes/params", status: 207,
            #"[{"node_id":"n1","status":"success"},{"node_id":"n1","status":"failure","description":"busy"}]"#)
        let change = ParameterChange(.init(component: "Light", parameter: "Power"), true)
        let outcomes = try await script.cloud.set([(NodeID("n1"), [change]), (NodeID("n1"), [change])])
        #expect(outcomes.map(\.failure) == [nil, "busy"])
    }

    @Test("any description of a node gives a configuration or nil")
    func strange() {
        for json in [[], 1, "x", .null] as [JSONValue] { #expect(NodeConfiguration(json) == nil) }
        let odd = NodeConfiguration(["devices": [1, [:], ["name": ""], ["name": "A", "params": [1, ["name": 2]]]]])
        #expect(odd?.components.map(\.name) == ["A"] && odd?.components[0].parameters.isEmpty == true)
    }
}
