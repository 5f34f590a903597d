// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl automation: rules")
struct AutomationRuleTests {
    @Test("conditions that never hold and values that no board takes are refused, on the command line and in files")
    func wrongRules() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            let folder = scene.maker.folder
            let add = ["automation", "add", "X", "--of", "nodelight", "--json"]
            for (more, status, words) in [
                (["--when", "Light.Power>on", "--set", "nodefan:Light.Power=off"], 65, "is not a number"),
                (["--when", "Light.Name<abc", "--set", "nodefan:Light.Power=off"], 65, "is not a number"),
                (
                    [
                        "--when", "Light.Power=on", "--set", "nodefan:Light.Power=on", "--set",
                        "nodefan:Light.Power=off",
                    ],
                    64, "given twice"
                ),
            ] {
                let outcome = try await scene.maker.rainctl(add + more)
                outcome.expectFailure(status, status == 64 ? "usage" : "bad_data", says: words)
            }
            // One board by its id and by its name.
            try await scene.done("node", "rename", "nodefan", "Fan", "--wait")
            let twice = try await scene.maker.rainctl(
                add + ["--when", "Light.Power=on", "--set", "nodefan:Light.Power=on", "--set", "Fan:Light.Power=off"])
            twice.expectFailure(64, "usage", says: "Light.Power is given twice")

            let light = #"{"Light":{"Power":true}}"#
            for (events, actions, words) in [
                (#"{"params":{"Light":{"Power":"bright"}},"check":"=="}"#, light, "true or false"),
                (#"{"params":{"Light":{"Power":true}},"check":">"}"#, light, "is not a number"),
                (#"{"params":{"Light":{"Power":true}},"check":"=="}"#, #"{"Light":{"Heat":3}}"#, "no parameter Heat"),
            ] {
                let rule = #"""
                    {"event_type":"node_params","node_id":"nodelight","events":[\#(events)],
                    "actions":[{"node_id":"nodefan","params":\#(actions)}]}
                    """#
                try folder.write(rule, to: "rule.json")
                let outcome = try await scene.rainctl(
                    "automation", "add", "X", "--file", folder.file("rule.json"), "--json")
                outcome.expectFailure(65, "bad_data", says: words)
            }
            #expect(try await scene.done("automation", "list").standardOutput == "There are no automations.\n")
        }
    }

    @Test("--any and --retrigger are changes of their own, can be taken back, and are not dropped beside a file")
    func flags() async throws {
        try await OnlineBoards.with { scene in
            let rule = { () async throws -> JSONValue? in
                try await scene.done("automation", "list", "--json").document?["automations"]?.array?.first
            }
            try await scene.done(
                "automation", "add", "Rule", "--of", "nodelight", "--when", "Light.Power=on", "--when",
                "Light.Name!=x", "--set", "nodelight:Light.Power=off", "--any")
            #expect(try await rule()?["event_operator"] == "or")
            try await scene.done("automation", "edit", "Rule", "--retrigger", "--no-any")
            #expect(try await rule()?["retrigger"] == true)
            #expect(try await rule()?["event_operator"] == "and")
            try await scene.done("automation", "edit", "Rule", "--no-retrigger", "--any")
            #expect(try await rule()?["retrigger"] == false)
            #expect(try await rule()?["event_operator"] == "or")
            for flag in ["--any", "--retrigger"] {
                let outcome = try await scene.rainctl(
                    "automation", "add", "X", "--file", "/dev/null", flag, "--json")
                outcome.expectFailure(64, "usage", says: "Give the rule with --file or with the other options")
            }
        }
    }

    @Test("a blank name is refused before anything is sent")
    func blankName() async throws {
        try await AccountScene.run { maker, cloud in
            let rule = ["--of", "n1", "--when", "Light.Power=on", "--set", "n1:Light.Power=off"]
            for words in [["add", ""] + rule, ["add", " "] + rule, ["edit", "a1", "--name", ""]] {
                let outcome = try await maker.rainctl(["automation"] + words + ["--json"])
                outcome.expectFailure(64, "usage", says: "name must not be blank")
            }
            #expect(cloud.calls.isEmpty)
        }
    }

    @Test("conditions are moved to a board that has what they compare, and to no other")
    func moved() async throws {
        func node(_ id: String, _ device: String) -> (status: Int, body: String) {
            let body = #"""
                {"node_details":[{"id":"\#(id)","role":"primary","config":{"node_id":"\#(id)","devices":[{"name":"\#(device)",
                "params":[{"name":"Power","data_type":"bool","properties":["read","write"]}]}]}}]}
                """#
            return (200, body)
        }
        let rule = #"""
            {"automation_trigger_actions":[{"automation_id":"a1","name":"Rule","event_type":"node_params","node_id":"n1",
            "events":[{"params":{"Light":{"Power":true}},"check":"=="}],"actions":[]}]}
            """#
        let answers = [
            "GET /v1/user/nodes?node_id=n2&node_details=true": [node("n2", "Fan")],
            "GET /v1/user/nodes?node_id=n3&node_details=true": [node("n3", "Light")],
            "GET /v1/user/node_automation": [(status: 200, body: rule)],
            "PUT /v1/user/node_automation?automation_id=a1": [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            let wrong = try await maker.rainctl("automation", "edit", "Rule", "--of", "n2", "--json")
            wrong.expectFailure(65, "bad_data", says: "no device \"Light\"")
            try maker.folder.write(#"{"node_id":"n2"}"#, to: "moved.json")
            let file = try await maker.rainctl(
                "automation", "edit", "Rule", "--file", maker.folder.file("moved.json"), "--json")
            file.expectFailure(65, "bad_data", says: "no device \"Light\"")
            #expect(!cloud.calls.contains { $0.hasPrefix("PUT") })
            try await maker.succeeds(["automation", "edit", "Rule", "--of", "n3"])
            let sent = cloud.bodies("PUT /v1/user/node_automation?automation_id=a1")
            #expect(sent.first??["node_id"] == "n3")
        }
    }
}
