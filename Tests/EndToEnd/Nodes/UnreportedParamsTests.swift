// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Values that no board reports as they were set, and names that have dots.
@Suite("rainctl node params: what is not read back, and names with dots")
struct UnreportedParamsTests {
    /// A board in two states: what it reports while it is asked, and afterwards.
    private static func node(power: Bool) -> (status: Int, body: String) {
        let body = #"""
            {"node_details":[{"id":"n1","role":"primary","status":{"connectivity":{"connected":true,"timestamp":1}},
            "config":{"node_id":"n1","devices":[{"name":"Lamp 1.5","params":[
            {"name":"Power","data_type":"bool","properties":["read","write"]},
            {"name":"Key","data_type":"string","properties":["write"]}]}]},
            "params":{"Lamp 1.5":{"Power":\#(power)}}}]}
            """#
        return (200, body)
    }
    private static let put = "PUT /v1/user/nodes/params?node_id=n1"
    private static func answers(_ nodes: [(status: Int, body: String)]) -> [String: [(status: Int, body: String)]] {
        [
            "GET /v1/user/nodes?node_id=n1&node_details=true": nodes, put: [CannedCloud.done],
            "GET /v1/user/nodes/params?node_id=n1": [(200, #"{"Lamp 1.5":{"Power":true}}"#)],
        ]
    }

    @Test("--wait takes what can only be written for done once it is sent, and waits for the rest")
    func writeOnly() async throws {
        try await AccountScene.run(Self.answers([Self.node(power: false)]), signedIn: true) { maker, _ in
            let set = ["node", "params", "set", "n1", "Lamp 1.5.Key=x", "--wait", "--timeout", "120"]
            let outcome = try await maker.succeeds(set + ["--json"])
            let entry = outcome.document?["nodes"]?.array?.first
            #expect(entry?["state"] == "sent", "\(outcome.standardOutput)")
            #expect(entry?["not_reported"] == ["Lamp 1.5.Key"])
            let text = try await maker.succeeds(set)
            #expect(text.standardOutput == "Sent the values to n1; the board does not report them\n")
        }
        let states = [Self.node(power: false), Self.node(power: false), Self.node(power: true)]
        try await AccountScene.run(Self.answers(states), signedIn: true) { maker, cloud in
            let both = try await maker.succeeds([
                "node", "params", "set", "n1", "Lamp 1.5.Key=x", "Lamp 1.5.Power=on", "--wait", "--timeout", "120",
            ])
            #expect(
                both.standardOutput
                    == "Set the values of n1; not confirmed, because the board does not report them: Lamp 1.5.Key\n"
            )
            #expect(cloud.bodies(Self.put) == [["Lamp 1.5": ["Key": "x", "Power": true]]])
        }
        // What can be read is waited for as before.
        try await AccountScene.run(Self.answers([Self.node(power: false)]), signedIn: true) { maker, _ in
            let late = try await maker.rainctl([
                "node", "params", "set", "n1", "Lamp 1.5.Key=x", "Lamp 1.5.Power=on", "--wait", "--timeout", "15",
                "--json",
            ])
            late.expectFailure(16, "deadline", says: "n1 reports Lamp 1.5.Power=false, and has not reported the values")
        }
    }

    @Test("a restart is not waited for, over the cloud and at the board itself")
    func reboot() async throws {
        try await OnlineBoards.with(options: ["--local-control", "127.0.0.1:0"]) { scene in
            let set = ["node", "params", "set", "nodelight", "System.Reboot=true", "--json"]
            let outcome = try await scene.maker.rainctl(set + ["--wait", "--timeout", "120"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let entry = outcome.document?["nodes"]?.array?.first
            #expect(entry?["state"] == "sent" && entry?["not_reported"] == ["System.Reboot"])
        }
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                ["--local-control", "127.0.0.1:0", "--node-id", "nodelight", "--security", "1"], in: folder)
            let outcome = try await Maker(folder).rainctl(
                "node", "params", "set", "nodelight", "System.Reboot=true", "--local", "--host",
                try #require(board.localControl), "--pop-file", folder.file("pop"))
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.standardOutput == "Sent the values to nodelight; the board cannot report them back\n")
        }
    }

    @Test("a device whose name has a dot is read, set, compared and kept in schedules and scenes as it is shown")
    func dots() async throws {
        try await AccountScene.run(Self.answers([Self.node(power: true)]), signedIn: true) { maker, cloud in
            let one = try await maker.succeeds(["node", "params", "get", "n1", "Lamp 1.5.Power"])
            #expect(one.standardOutput == "true\n")
            let device = try await maker.succeeds(["node", "params", "get", "n1", "Lamp 1.5"])
            #expect(device.standardOutput == "Lamp 1.5.Power: true\n")
            try await maker.succeeds(["node", "params", "set", "n1", "Lamp 1.5.Power=off"])
            #expect(cloud.bodies(Self.put) == [["Lamp 1.5": ["Power": false]]])
            let wrong = try await maker.rainctl(["node", "params", "set", "n1", "Lamp 1.5.Pover=off", "--json"])
            wrong.expectFailure(65, "bad_data", says: "The device Lamp 1.5 has no parameter Pover")
        }
        let services = #"""
            "services":[{"name":"Scenes","type":"esp.service.scenes","params":[{"name":"Scenes","type":"esp.param.scenes",
            "data_type":"array","properties":["read","write"]}]}]
            """#
        let body = Self.node(power: true).body.replacing("}]}]}", with: "}]}],\(services)}")
        var answers = Self.answers([(200, body)])
        answers["POST /v1/user/node_automation"] = [(200, #"{"automation_id":"a1"}"#)]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            try await maker.succeeds(["node", "scene", "add", "n1", "--name", "Night", "Lamp 1.5.Power=off"])
            let scene = cloud.bodies(Self.put).first??["Scenes"]?["Scenes"]?.array?.first
            #expect(scene?["action"] == ["Lamp 1.5": ["Power": false]])
            try await maker.succeeds([
                "automation", "add", "Rule", "--of", "n1", "--when", "Lamp 1.5.Power=on", "--set",
                "n1:Lamp 1.5.Power=off",
            ])
            let rule = cloud.bodies("POST /v1/user/node_automation").first.flatMap(\.self)
            #expect(rule?["events"]?.array?.first?["params"] == ["Lamp 1.5": ["Power": true]])
            #expect(rule?["actions"]?.array?.first?["params"] == ["Lamp 1.5": ["Power": false]])
        }
    }
}
