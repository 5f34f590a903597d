// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The cloud has accepted the request, and refuses to report its result. The message must still say that the request was sent.
@Suite("rainctl node: a refusal while boards are waited for")
struct RefusedWaitTests {
    private static let get = "GET /v1/user/nodes?node_id=n1&node_details=true"
    private static let refusal = CannedCloud.refusal(199_999)

    private static func node(_ id: String = "n1") -> (status: Int, body: String) {
        let body = #"""
            {"node_details":[{"id":"\#(id)","role":"primary","status":{"connectivity":{"connected":true,"timestamp":1}},
            "config":{"node_id":"\#(id)","devices":[{"name":"Light","params":[
            {"name":"Power","data_type":"bool","properties":["read","write"]}]}],
            "services":[{"name":"Scenes","type":"esp.service.scenes","params":[{"name":"Scenes","type":"esp.param.scenes",
            "data_type":"array","properties":["read","write"]}]}]},
            "params":{"Light":{"Power":false}}}]}
            """#
        return (200, body)
    }

    @Test("a command: its id, the boards and the command for the answers are shown")
    func command() async throws {
        let first = #"{"node_id":"n1","request_id":"r1","status":"requested"}"#
        let answers = [
            Self.get: [Self.node()], "GET /v1/user/nodes?node_id=n2&node_details=true": [Self.node("n2")],
            "POST /v1/user/nodes/cmd": [
                (
                    207,
                    #"{"request_id":"r1","responses":[{"node_id":"n1","status":"success"},{"node_id":"n2","status":"failure","description":"no"}]}"#
                )
            ],
            "GET /v1/user/nodes/cmd?request_id=r1": [(200, #"{"requests":[\#(first)]}"#), Self.refusal],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            let outcome = try await maker.rainctl([
                "node", "command", "send", "n1,n2", "7", "--timeout", "90", "--json",
            ])
            outcome.expectFailure(1, "other", says: "To see the answers, run: rainctl node command result r1")
            #expect(outcome.failure?["reason"] == "rejected")
            #expect(outcome.document?["request_id"] == "r1", "\(outcome.standardOutput)")
            let nodes = outcome.document?["nodes"]?.array
            #expect(nodes?.compactMap { $0["node_id"]?.string } == ["n1", "n2"], "\(outcome.standardOutput)")
            #expect(nodes?.compactMap { $0["status"]?.string } == ["requested", "refused"])
            #expect(cloud.calls.count { $0 == "POST /v1/user/nodes/cmd" } == 1)
        }
    }

    @Test("values: that they are out is said, with the boards")
    func values() async throws {
        let answers = [
            Self.get: [Self.node(), Self.refusal], "PUT /v1/user/nodes/params?node_id=n1": [CannedCloud.done],
        ]
        for isJSON in [true, false] {
            try await AccountScene.run(answers, signedIn: true) { maker, _ in
                let set = ["node", "params", "set", "n1", "Light.Power=on", "--wait", "--timeout", "120"]
                let outcome = try await maker.rainctl(set + (isJSON ? ["--json"] : []))
                #expect(outcome.status == 1)
                let words =
                    "The cloud has sent the values, but did not show whether these boards have reported them: n1: "
                let message = isJSON ? outcome.failure?["message"]?.string ?? "" : outcome.standardError
                #expect(message.contains(words + "rainctl node params get n1 shows the values."), "\(message)")
                guard isJSON else {
                    #expect(
                        outcome.standardOutput
                            == "Sent the values to n1; it is not known whether the board has them\n")
                    return
                }
                #expect(outcome.failure?["reason"] == "rejected")
                let entry = outcome.document?["nodes"]?.array?.first
                #expect(entry?["node_id"] == "n1" && entry?["state"] == "sent", "\(outcome.standardOutput)")
                #expect(entry?["message"] != nil)
            }
        }
    }

    @Test("values: a cloud that falls silent while they are waited for does not hide that they are out")
    func silence() async throws {
        let answers = [
            Self.get: [Self.node(), CannedCloud.silence], "PUT /v1/user/nodes/params?node_id=n1": [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl([
                "node", "params", "set", "n1", "Light.Power=on", "--wait", "--timeout", "9", "--json",
            ])
            outcome.expectFailure(75, "temporary", says: "The cloud has sent the values, but did not show whether")
            #expect(outcome.failure?["reason"] == "timeout")
            #expect(outcome.document?["nodes"]?.array?.first?["state"] == "sent", "\(outcome.standardOutput)")
        }
    }

    @Test("values for several: a refusal for one board keeps no other from being waited for")
    func several() async throws {
        let on = Self.node("n2").body.replacing(#""Power":false"#, with: #""Power":true"#)
        let answers = [
            Self.get: [Self.node(), Self.refusal],
            "GET /v1/user/nodes?node_id=n2&node_details=true": [Self.node("n2"), Self.node("n2"), (200, on)],
            "PUT /v1/user/nodes/params": [
                (200, #"[{"node_id":"n1","status":"success"},{"node_id":"n2","status":"success"}]"#)
            ],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl([
                "node", "params", "set", "n1,n2", "Light.Power=on", "--wait", "--timeout", "120", "--json",
            ])
            outcome.expectFailure(1, "other", says: "reported them: n1: rainctl node params get n1 shows the values.")
            let states = outcome.document?["nodes"]?.array?.compactMap { $0["state"]?.string }
            #expect(states == ["sent", "reported"], "\(outcome.standardOutput)")
        }
    }

    @Test("a scene: that it is out is said, with its id")
    func scene() async throws {
        let answers = [
            Self.get: [Self.node(), Self.refusal], "PUT /v1/user/nodes/params?node_id=n1": [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl([
                "node", "scene", "add", "n1", "--name", "Night", "Light.Power=off", "--wait", "--timeout", "120",
                "--json",
            ])
            outcome.expectFailure(1, "other", says: "To see the board's list, run: rainctl node scene list n1")
            #expect(outcome.document?["state"] == "sent" && outcome.document?["id"]?.string?.isEmpty == false)
        }
    }
}
