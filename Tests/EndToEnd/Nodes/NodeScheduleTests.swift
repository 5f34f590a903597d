// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import RainKit

@Suite("rainctl node schedule, node scene")
struct NodeScheduleTests {
    @Test("a schedule is added, edited, switched off and on and removed, each time as the board reports it")
    func journey() async throws {
        try await OnlineBoards.with { scene in
            let added = try await scene.done(
                "node", "schedule", "add", "nodelight", "--name", "Evening", "--at", "19:30", "--days", "mon-fri",
                "Light.Power=on", "--wait", "--json")
            #expect(added.document?["state"] == "reported" && added.standardError.contains("no time zone"))
            let id = try #require(added.document?["id"]?.string)
            try await scene.done(
                "node", "schedule", "edit", "nodelight", "evening", "--at", "6:05", "--days", "sat,sun", "--wait")
            try await scene.done("node", "schedule", "disable", "nodelight", id, "--wait")
            let list = try await scene.done("node", "schedule", "list", "nodelight", "--json")
            let entry = try #require(list.document?["schedules"]?.array?.first)
            #expect(entry["enabled"] == false && entry["name"] == "Evening")
            #expect(entry["triggers"] == [["m": 365, "d": 96]])
            #expect(entry["action"] == ["Light": ["Power": true]], "an edit that names no values keeps them")
            try await scene.done("node", "schedule", "enable", "nodelight", "Evening", "--wait")
            let text = try await scene.done("node", "schedule", "list", "nodelight")
            #expect(text.standardOutput == "\(id)  on   Evening  at 06:05 sat,sun  Light.Power=true\n")
            try await scene.done("node", "schedule", "remove", "nodelight", "Evening", "--wait")
            #expect(
                try await scene.done("node", "schedule", "list", "nodelight").standardOutput
                    == "There are no schedules.\n")
        }
    }

    @Test("the board acts when it is time, and a scene when it is activated")
    func acts() async throws {
        try await OnlineBoards.with { scene in
            let added = try await scene.done(
                "node", "schedule", "add", "nodelight", "--name", "Soon", "--in", "10s", "Light.Power=off", "--wait")
            #expect(!added.standardError.contains("time zone"), "seconds need none")
            #expect(try await scene.value("Light.Power", becomes: "false"))
            let list = try await scene.done("node", "schedule", "list", "nodelight", "--json")
            #expect(list.document?["schedules"]?.array?.first?["enabled"] == false, "it does not repeat")
            try await scene.done("node", "scene", "add", "nodelight", "--name", "Day", "Light.Power=on", "--wait")
            try await scene.done("node", "scene", "activate", "nodelight", "day")
            #expect(try await scene.value("Light.Power", becomes: "true"))
            try await scene.done("node", "scene", "edit", "nodelight", "Day", "--name", "Noon", "--wait")
            let scenes = try await scene.done("node", "scene", "list", "nodelight", "--json")
            #expect(scenes.document?["scenes"]?.array?.first?["name"] == "Noon")
            try await scene.done("node", "scene", "remove", "nodelight", "Noon", "--wait")
        }
    }

    @Test("what a board does not accept is reported before anything is sent")
    func refused() async throws {
        try await OnlineBoards.with(options: ["--services", "scenes"]) { scene in
            let absent = try await scene.rainctl(
                "node", "schedule", "add", "nodelight", "--name", "E", "--at", "10:00", "Light.Power=on", "--json")
            absent.expectFailure(65, "bad_data", says: "esp.service.schedule")
            #expect(absent.failure?["reason"] == "no_service")
            let wrong = try await scene.rainctl(
                "node", "scene", "add", "nodelight", "--name", "E", "Light.Power=bright", "--json")
            wrong.expectFailure(65, "bad_data", says: "true or false")
            let long = try await scene.rainctl(
                "node", "scene", "add", "nodelight", "--name", String(repeating: "x", count: 33), "Light.Power=on",
                "--json")
            long.expectFailure(65, "bad_data", says: "32 bytes")
            let unknown = try await scene.rainctl("node", "scene", "activate", "nodelight", "Night", "--json")
            unknown.expectFailure(65, "bad_data", says: "it has no scenes")
            let sent = try scene.cloud.journal.entries(where: ["event": "request", "method": "PUT"]).filter {
                $0["path"]?.string?.hasSuffix("user/nodes/params") == true
            }
            #expect(sent.isEmpty)
        }
    }

    @Test("a board whose list is full is not sent another one")
    func full() async throws {
        try await OnlineBoards.with { scene in
            for number in 1...10 {
                try await scene.done(
                    "node", "scene", "add", "nodelight", "--name", "S\(number)", "Light.Power=on", "--wait")
            }
            let more = try await scene.rainctl(
                "node", "scene", "add", "nodelight", "--name", "S11", "Light.Power=on", "--json")
            more.expectFailure(65, "bad_data", says: "already has 10 scenes")
            #expect(more.failure?["reason"] == "list_full")
        }
    }

    @Test("an edit keeps of the time what it does not name")
    func editing() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done(
                "node", "schedule", "add", "nodelight", "--name", "Evening", "--at", "19:30", "--days", "mon-fri",
                "Light.Power=on", "--wait")
            let trigger = { () async throws -> JSONValue? in
                try await scene.done("node", "schedule", "list", "nodelight", "--json").document?["schedules"]?.array?
                    .first?["triggers"]
            }
            try await scene.done("node", "schedule", "edit", "nodelight", "Evening", "--at", "20:00", "--wait")
            #expect(try await trigger() == [["m": 1200, "d": 31]])
            try await scene.done("node", "schedule", "edit", "nodelight", "Evening", "--days", "daily", "--wait")
            #expect(try await trigger() == [["m": 1200, "d": 127]])
        }
    }

    @Test("a schedule with several times shows them all, and an edit drops none")
    func severalTriggers() async throws {
        // As the apps make them.
        let node = #"""
            {"node_details":[{"id":"n1","role":"primary","config":{"node_id":"n1","services":[{"name":"Schedule","type":"esp.service.schedule",
            "params":[{"name":"Schedules","type":"esp.param.schedules","data_type":"array","properties":["read","write"]}]}]},
            "params":{"Schedule":{"Schedules":[{"id":"AB12","name":"Twice","enabled":true,"triggers":[{"m":60,"d":1},{"m":90,"d":2}],
            "action":{}}]}}}]}
            """#
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": [(status: 200, body: node)],
            "PUT /v1/user/nodes/params?node_id=n1": [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            let list = try await maker.succeeds(["node", "schedule", "list", "n1"])
            #expect(list.standardOutput.contains("at 01:00 mon; at 01:30 tue"), "\(list.standardOutput)")
            for time in [["--at", "2:00"], ["--in", "30d"], ["--at", "2:00", "--days", "daily"]] {
                let outcome = try await maker.rainctl(["node", "schedule", "edit", "n1", "Twice", "--json"] + time)
                outcome.expectFailure(65, "bad_data", says: "at 01:00 mon, at 01:30 tue")
                #expect(outcome.failure?["reason"] == "several_triggers")
            }
            #expect(!cloud.calls.contains { $0.hasPrefix("PUT") })
            try await maker.succeeds(["node", "schedule", "edit", "n1", "Twice", "--name", "Both"])
            #expect(cloud.calls.contains { $0.hasPrefix("PUT") }, "members other than the time may be changed")
        }
    }

    @Test("a day is over by the clock of the board, not by this machine's")
    func overByTheBoardsClock() async throws {
        try await OnlineBoards.with { scene in
            let add = { (day: CalendarDay, time: String) async throws -> Maker.Outcome in
                try await scene.rainctl(
                    "node", "schedule", "add", "nodelight", "--name", "E", "--at", time, "--date", day.text,
                    "Light.Power=on", "--json")
            }
            let utc = try await add(BoardClock().reading(hoursEast: 0).day, "0:00")
            utc.expectFailure(64, "usage", says: "would never act")
            try await scene.done("node", "params", "set", "nodelight", "Time.TZ=Etc/GMT-14", "--wait")
            let east = try await add(BoardClock().reading(hoursEast: 14).day, "0:00")
            east.expectFailure(64, "usage", says: "would never act")
            try await scene.done("node", "params", "set", "nodelight", "Time.TZ=Etc/GMT+12", "--wait")
            // Where it is over by UTC it may be to come there. Both days are at least an hour away.
            let west = BoardClock().reading(hoursEast: -11)
            let later = try await add(west.day, "\(west.minutes / 60):59")
            #expect(later.status == 0, "\(later.standardOutput)")
        }
    }
}

extension CalendarDay {
    fileprivate var text: String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year ?? 0)-\(two(month))-\(two(day))"
    }
}
