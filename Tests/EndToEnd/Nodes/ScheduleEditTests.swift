// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Changes of schedules that the board has reported as a test wrote them down.
@Suite("rainctl node schedule: changes of what the board has reported")
struct ScheduleEditTests {
    private static let put = "PUT /v1/user/nodes/params?node_id=n1"

    private func with(_ schedules: String, _ body: (Maker, CannedCloud) async throws -> Void) async throws {
        let node = #"""
            {"node_details":[{"id":"n1","role":"primary","config":{"node_id":"n1","services":[{"name":"Schedule","type":"esp.service.schedule",
            "params":[{"name":"Schedules","type":"esp.param.schedules","data_type":"array","properties":["read","write"]}]}]},
            "params":{"Schedule":{"Schedules":[\#(schedules)]}}}]}
            """#
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": [(status: 200, body: node)],
            Self.put: [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true, body)
    }

    private func schedule(_ id: String, _ name: String, _ triggers: String) -> String {
        #"{"id":"\#(id)","name":"\#(name)","enabled":false,"triggers":[\#(triggers)],"action":{}}"#
    }

    @Test("one whose day is over is not enabled: it would never act")
    func over() async throws {
        let past = #"{"m":600,"dd":1,"mm":1,"yy":2020}"#
        let schedules = [
            schedule("A1", "Past", past), schedule("A2", "Yearly", #"{"m":600,"dd":1,"mm":1,"r":true}"#),
            schedule("A3", "Both", past + #",{"m":600,"d":127}"#),
        ]
        try await with(schedules.joined(separator: ",")) { maker, cloud in
            let outcome = try await maker.rainctl("node", "schedule", "enable", "n1", "Past", "--json")
            outcome.expectFailure(64, "usage", says: "would never act: that time has passed")
            #expect(cloud.bodies(Self.put).isEmpty)
            try await maker.succeeds(["node", "schedule", "disable", "n1", "Past"])
            try await maker.succeeds(["node", "schedule", "enable", "n1", "Yearly"])
            try await maker.succeeds(["node", "schedule", "enable", "n1", "Both"])
            #expect(cloud.bodies(Self.put).count == 3)
        }
    }

    @Test("an edit of the time that is not waited for says what the next one begins with")
    func notWaitedFor() async throws {
        try await with(schedule("A1", "Work", #"{"m":450,"d":31}"#)) { maker, _ in
            let time = try await maker.succeeds(["node", "schedule", "edit", "n1", "Work", "--at", "8:00"])
            #expect(time.standardOutput.contains("use --wait, or give the whole time"), "\(time.standardOutput)")
            let name = try await maker.succeeds(["node", "schedule", "edit", "n1", "Work", "--name", "Office"])
            #expect(!name.standardOutput.contains("the whole time"), "\(name.standardOutput)")
        }
    }

    @Test(
        "members of a time that are not known stay when it is edited, and not when it becomes one of another kind",
        arguments: [
            (["--at", "8:00"], ["m": 480, "d": 31, "x": ["y": 1]]),
            (["--days", "sat"], ["m": 450, "d": 32, "x": ["y": 1]]),
            (["--in", "5m"], ["rsec": 300]), (["--date", "12-24"], ["m": 450, "dd": 24, "mm": 2048, "r": true]),
        ] as [([String], JSONValue)])
    func unknownMembers(time: [String], trigger: JSONValue) async throws {
        try await with(schedule("A1", "Work", #"{"m":450,"x":{"y":1},"d":31}"#)) { maker, cloud in
            try await maker.succeeds(["node", "schedule", "edit", "n1", "Work"] + time)
            let sent = cloud.bodies(Self.put).first??["Schedule"]?["Schedules"]?.array?.first
            #expect(sent?["triggers"] == [trigger], "\(String(describing: sent))")
        }
    }

    @Test(
        "a schedule has one time: an option that is given twice is refused, not dropped",
        arguments: [
            ["--at", "7:30", "--at", "8:30"], ["--at", "7:30", "--days", "mon", "--days", "tue"],
            ["--at", "7:30", "--date", "12-24", "--date", "12-25"], ["--in", "5m", "--in", "6m"],
        ])
    func twice(time: [String]) async throws {
        let option = try #require(time.dropLast().last)
        try await with(schedule("A1", "Work", #"{"m":450,"d":31}"#)) { maker, cloud in
            for command in [["add", "n1", "--name", "E", "Light.Power=on"], ["edit", "n1", "Work"]] {
                let outcome = try await maker.rainctl(["node", "schedule"] + command + time + ["--json"])
                outcome.expectFailure(64, "usage", says: "\(option) is given 2 times")
            }
            #expect(cloud.bodies(Self.put).isEmpty)
        }
    }

    @Test("of several with one name, those are listed that have it")
    func severalEntries() async throws {
        let schedules = [("A1", "Work"), ("B2", "work"), ("C3", "Rest")].map {
            schedule($0.0, $0.1, #"{"m":450,"d":31}"#)
        }
        try await with(schedules.joined(separator: ",")) { maker, _ in
            let outcome = try await maker.rainctl("node", "schedule", "remove", "n1", "Work", "--json")
            outcome.expectFailure(64, "usage", says: "use an id, A1 (Work), B2 (work).")
            #expect(outcome.failure?["reason"] == "several_entries")
        }
    }
}
