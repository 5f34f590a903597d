// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKitTesting
import RainMaker
import Testing

@testable import RainKit

@Suite("Schedules and scenes")
struct SchedulesTests {
    private static let put = "/v1/user/nodes/params?node_id=n1"
    private static let on = SignedInClient.change("Power", true)
    private static let past: JSONValue = ["m": 600, "dd": 1, "mm": 1, "yy": 2020]

    private func entry(_ id: String, _ name: String, _ triggers: JSONValue = [["m": 450, "d": 31]]) -> JSONValue {
        ["id": .string(id), "name": .string(name), "enabled": false, "triggers": triggers, "action": [:]]
    }

    @Test("a schedule is added in the nodes' format, under a free id, and a missing time zone is reported")
    func added() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, SignedInClient.done)
        let node = try SignedInClient.light(zone: ["TZ": ""])
        let outcome = try await client.kit.addSchedule(
            "Evening", values: [Self.on], time: try ScheduleTime(at: "19:30", days: "mon-fri"), at: node)
        #expect(outcome.id == "0A0A" && outcome.operation == .add && outcome.isReported == nil)
        #expect(outcome.missingTimeZone == ParameterPath(component: "Time", parameter: "TZ"))
        let sent = client.bodies.last?["Schedule"]?["Schedules"]?.array?.first
        #expect(sent?["name"] == "Evening" && sent?["operation"] == "add" && sent?["id"] == "0A0A")
        #expect(sent?["triggers"] == [["m": 1170, "d": 31]] && sent?["action"] == ["Light": ["Power": true]])
        try client.http.finish()
    }

    @Test("an edit keeps the parts that it leaves out, also unknown members of the time")
    func edited() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, SignedInClient.done)
        let node = try SignedInClient.light(schedules: [entry("A1", "Work", [["m": 450, "d": 31, "x": 1]])])
        let outcome = try await client.kit.editSchedule("work", time: .at(minutes: 480, on: nil), at: node)
        #expect(outcome.id == "A1" && outcome.changesTime && outcome.missingTimeZone == nil)
        let sent = client.bodies.last?["Schedule"]?["Schedules"]?.array?.first
        #expect(sent?["triggers"] == [["m": 480, "d": 31, "x": 1]] && sent?["name"] == nil && sent?["action"] == nil)
        try client.http.finish()
    }

    @Test("entries that a node would not take are refused before anything is sent")
    func refused() async throws {
        let client = try SignedInClient()
        let twice: JSONValue = [["m": 60, "d": 1], ["m": 90, "d": 2]]
        let schedules: [JSONValue] = [
            entry("A1", "Past", [Self.past]), entry("A2", "Twice", twice), entry("A3", "Same"), entry("A4", "same"),
        ]
        let node = try SignedInClient.light(schedules: .array(schedules), maximum: 4)
        let (kit, time) = (client.kit, ScheduleTime.at(minutes: 450, on: nil))
        let errors = [
            await kitError { try await kit.addSchedule("E", values: [Self.on], time: time, at: node) },
            await kitError { try await kit.enableSchedule("Past", at: node) },
            await kitError { try await kit.editSchedule("Twice", time: time, at: node) },
            await kitError { try await kit.removeSchedule("Same", at: node) },
            await kitError { try await kit.disableSchedule("None", at: node) },
            await kitError { try await kit.addScene("S", values: [Self.on], at: node) },
            await kitError { try await kit.editSchedule("A3", name: String(repeating: "x", count: 33), at: node) },
            await kitError { try await kit.editSchedule("A3", time: .after(seconds: 0), at: node) },
        ]
        #expect(
            errors.map { $0?.reason } == [
                "list_full", "usage", "several_triggers", "several_entries", "no_such_entry", "no_service",
                "not_allowed", "usage",
            ])
        #expect(errors[1]?.message.hasSuffix("would never act: that time has passed.") == true)
        #expect(errors[1]?.remedies == [.laterSchedule])
        #expect(client.http.requests.isEmpty)
    }

    @Test("a change waits for the node's report")
    func waited() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, SignedInClient.done)
        let node = try SignedInClient.light(schedules: [entry("A1", "Work")])
        let gone = #"""
            {"node_details":[{"id":"n1","role":"primary","status":{"connectivity":{"connected":true,"timestamp":1}},
            "config":{"services":[{"name":"Schedule","type":"esp.service.schedule","params":[{"name":"Schedules",
            "type":"esp.param.schedules"}]}]},"params":{"Schedule":{"Schedules":[]}}}]}
            """#
        client.http.expect(.get, "/v1/user/nodes?node_id=n1&node_details=true", gone)
        let outcome = try await client.kit.removeSchedule("Work", at: node, waiting: .seconds(600))
        #expect(outcome.isReported == true && outcome.unknown == nil)
        try client.http.finish()
    }
}
