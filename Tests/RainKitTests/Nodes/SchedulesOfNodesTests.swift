// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@testable import RainKit

/// What is sent to which node, and what the cloud's answers mean.
@Suite("Schedules and scenes of several nodes: calls")
struct SchedulesOfNodesTests {
    private static let put = "/v1/user/nodes/params"
    private static let on = SignedInClient.change("Power", true)
    private static let off = SignedInClient.change("Power", false)
    private static let evening = ScheduleTime.at(minutes: 1170, on: .week(31))

    private static func entry(
        _ id: String, _ name: String = "Night", minutes: Int64 = 1110, enabled: Bool = true,
        with more: [(String, JSONValue)] = []
    ) -> JSONValue {
        EntryGroupTests.entry(id, name, minutes: minutes, enabled: enabled, with: more)
    }

    private static func light(_ id: String, _ schedules: JSONValue..., maximum: Int = 10) throws -> Node {
        try SignedInClient.light(id, schedules: .array(schedules), maximum: maximum)
    }

    /// The answer for these nodes, each with its status.
    private static func answer(_ statuses: [(String, String)]) -> String {
        "[" + statuses.map { #"{"node_id":"\#($0.0)","status":"\#($0.1)"}"# }.joined(separator: ",") + "]"
    }

    private static func succeeds(_ ids: String...) -> String { answer(ids.map { ($0, "success") }) }

    /// The elements that each node was sent by the last call.
    private static func sent(_ client: SignedInClient) -> [String: [JSONValue]] {
        var sent: [String: [JSONValue]] = [:]
        for element in client.bodies.last?.array ?? [] {
            let payload = element["payload"]
            let list = payload?["Schedule"]?["Schedules"] ?? payload?["Scenes"]?["Scenes"]
            sent[element["node_id"]?.string ?? ""] = list?.array ?? []
        }
        return sent
    }

    @Test("one call adds a schedule under one free id, with each node's own values, and the apps see one entry")
    func added() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, Self.succeeds("n1", "n2", "n3"))
        // 0A0A is the first id that the client makes.
        let nodes = [
            try Self.light("n1"), try Self.light("n2", Self.entry("0A0A")), try Self.light("n3", Self.entry("0A0B")),
        ]
        let outcomes = try await client.kit.addSchedule(
            "Evening", values: [(nodes[0], [Self.on]), (nodes[1], [Self.off]), (nodes[2], [Self.on])],
            time: Self.evening)
        #expect(outcomes.map(\.id) == ["0A0C", "0A0C", "0A0C"] && outcomes.map(\.node.rawValue) == ["n1", "n2", "n3"])
        #expect(outcomes.allSatisfy { $0.operation == .add && $0.failure == nil && $0.isReported == nil })
        let sent = Self.sent(client)
        #expect(sent["n1"]?.first?["action"] == ["Light": ["Power": true]])
        #expect(sent["n2"]?.first?["action"] == ["Light": ["Power": false]])
        let elements = sent.values.compactMap(\.first)
        #expect(elements.count == 3 && elements.allSatisfy { $0["id"] == "0A0C" && $0["operation"] == "add" })
        for app in PhoneApp.allCases { #expect(Set(elements.map { app.key($0) }).count == 1, "\(app)") }
        try client.http.finish()
    }

    @Test("at most 25 nodes are in a call", arguments: [(25, [25]), (26, [25, 1]), (51, [25, 25, 1])])
    func split(count: Int, calls: [Int]) async throws {
        let client = try SignedInClient()
        let ids = (1...count).map { "n\($0)" }
        var start = 0
        for size in calls {
            client.http.expect(.put, Self.put, Self.answer(ids[start..<(start + size)].map { ($0, "success") }))
            start += size
        }
        let outcomes = try await client.kit.addSchedule(
            "Evening", values: try ids.map { (try Self.light($0), [Self.on]) }, time: Self.evening)
        #expect(outcomes.map(\.node.rawValue) == ids && outcomes.allSatisfy { $0.failure == nil })
        #expect(client.bodies.compactMap { $0.array?.count } == calls)
        #expect(Set(client.bodies.flatMap { $0.array ?? [] }.compactMap { $0["node_id"]?.string }) == Set(ids))
        try client.http.finish()
    }

    @Test("each node has the status that the answer gives it, with 207 as with 200", arguments: [200, 207])
    func mixed(status: Int) async throws {
        let client = try SignedInClient()
        let body = #"""
            [{"node_id":"n2","status":"failure","error_code":100015,"description":"Node not found"},
            {"node_id":"n1","status":"success"}]
            """#
        client.http.expect(.put, Self.put, status: status, body)
        let nodes = try ["n1", "n2", "n3"].map { try Self.light($0, Self.entry("A1")) }
        let outcomes = try await client.kit.disableSchedule("A1", at: nodes)
        #expect(outcomes.map { $0.failure == nil } == [true, false, false])
        #expect(outcomes.map(\.serverCode) == [nil, 100_015, nil])
        #expect(outcomes[2].failure == "the cloud did not report the outcome")
        let result = EntryBoardsResult(outcomes, noun: "schedule", names: [NodeID("n2"): "Hall"])
        #expect(result.nodes.map(\.state) == ["sent", "failed", "failed"])
        let failure = try #require(result.failure())
        #expect(failure.code == .batchPartial && failure.reason == "some_failed")
        #expect(failure.message.hasPrefix("The schedule Night was not changed on 2 of 3 boards: Hall: "))
        try client.http.finish()
    }

    @Test(
        "if a later call is lost, it is unknown what its nodes have; a refusal there is a failure",
        arguments: [502, 429])
    func later(status: Int) async throws {
        let client = try SignedInClient()
        let ids = (1...26).map { "n\($0)" }
        client.http.expect(.put, Self.put, Self.answer(ids.prefix(25).map { ($0, "success") }))
        client.http.expect(
            .put, Self.put, status: status, #"{"message":"d"}"#)
        let outcomes = try await client.kit.removeSchedule(
            "A1", at: try ids.map { try Self.light($0, Self.entry("A1")) })
        #expect(outcomes.prefix(25).allSatisfy { $0.failure == nil && !$0.isSendingUnknown })
        #expect(outcomes[25].isSendingUnknown == (status == 502) && (outcomes[25].failure != nil) == (status == 429))
        let result = EntryBoardsResult(outcomes, noun: "schedule", names: [:])
        let failure = try #require(result.failure())
        #expect(failure.code == (status == 502 ? .temporary : .batchPartial))
        #expect(
            status == 429 || failure.message.contains("It is not known whether the cloud has sent the change to n26."))
        try client.http.finish()
    }

    @Test("boards that do not report in time are named; if it is all of them, the code is another one")
    func silent() {
        func outcome(_ id: String, _ isReported: Bool) -> EntryOutcome {
            EntryOutcome(
                node: NodeID(id), id: "A1", name: "Night", operation: .add, isReported: isReported,
                seen: isReported ? nil : "is offline")
        }
        let some = EntryBoardsResult([outcome("n1", true), outcome("n2", false)], noun: "scene", names: [:]).failure()
        #expect(some?.code == .batchPartial && some?.reason == "some_silent")
        #expect(
            some?.message
                == "The cloud has sent the scene Night, but these boards have not reported it in time: n2 (it is offline)."
        )
        let all = EntryBoardsResult([outcome("n1", false), outcome("n2", false)], noun: "scene", names: [:]).failure()
        #expect(all?.code == .deadline && all?.reason == "deadline")
        #expect(EntryBoardsResult([outcome("n1", true)], noun: "scene", names: [:]).failure() == nil)
        let removed = EntryOutcome(
            node: NodeID("n1"), id: "A1", name: "Night", operation: .remove, isReported: false, seen: nil)
        let removal = EntryBoardsResult([removed], noun: "scene", names: [:]).failure()?.message
        #expect(removal?.hasPrefix("The cloud has sent the removal of the scene Night, but these boards") == true)
        let mixed = EntryBoardsResult([outcome("n2", false), removed], noun: "scene", names: [:]).failure()?.message
        #expect(mixed?.hasPrefix("The cloud has sent the change of the scene Night, but these boards") == true)
    }

    @Test("an edit changes each node's copy; a part of a time is taken from the copy that most nodes have")
    func edited() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, Self.succeeds("n1", "n2", "n3"))
        let nodes = [
            try Self.light("n1", Self.entry("A1", with: [("triggers", [["m": 60, "d": 1]])])),
            try Self.light("n2", Self.entry("A1")), try Self.light("n3", Self.entry("A1")),
        ]
        let change = EntryGroupChange(
            name: "Late", time: .at(minutes: 1200, on: nil), values: [NodeID("n2"): [Self.on]])
        let outcomes = try await client.kit.editSchedule("night", change, at: nodes)
        #expect(outcomes.allSatisfy { $0.operation == .edit && $0.name == "Late" && $0.changesTime })
        let sent = Self.sent(client)
        for id in ["n1", "n2", "n3"] {
            #expect(sent[id]?.first?["triggers"] == [["m": 1200, "d": 31]] && sent[id]?.first?["name"] == "Late")
        }
        #expect(sent["n2"]?.first?["action"] == ["Light": ["Power": true]] && sent["n1"]?.first?["action"] == nil)
        try client.http.finish()
    }

    @Test("an edit adds boards and drops boards in the same call, and leaves the others alone")
    func boards() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, Self.succeeds("n2", "n3", "n4"))
        let disabled = Self.entry("A1", enabled: false, with: [("info", "x"), ("flags", 2)])
        let change = EntryGroupChange(
            values: [NodeID("n4"): [Self.on]], added: [try Self.light("n3"), try Self.light("n4")],
            removed: [try Self.light("n2")])
        let outcomes = try await client.kit.editSchedule(
            "A1", change, at: [try Self.light("n1", disabled), try Self.light("n2", disabled)])
        #expect(outcomes.map(\.operation) == [.edit, .remove, .add, .add])
        #expect(outcomes.map(\.isUnchanged) == [true, false, false, false])
        let sent = Self.sent(client)
        #expect(sent["n1"] == nil && sent["n2"] == [["id": "A1", "operation": "remove"]])
        // Firmware enables what it adds, so a second element disables it.
        #expect(sent["n3"]?.map { $0["operation"] } == ["add", "disable"])
        let copy = try #require(sent["n3"]?.first)
        #expect(copy["name"] == "Night" && copy["info"] == "x" && copy["flags"] == 2)
        #expect(copy["triggers"] == [["m": 1110, "d": 31]] && copy["action"] == ["Light": ["Power": false]])
        #expect(sent["n4"]?.first?["action"] == ["Light": ["Power": true]], "with its own values")
        try client.http.finish()
    }

    @Test("a repair sends an add where the copy is missing, what differs where it differs, and nothing else")
    func repaired() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, Self.succeeds("n3", "n4", "n5"))
        let right = Self.entry("A1", "Late", minutes: 1200)
        let nodes = [
            try Self.light("n1", right), try Self.light("n2", right), try Self.light("n3"),
            try Self.light(
                "n4", Self.entry("A1", "Late", with: [("info", "x"), ("validity", ["start": 1, "end": 2])])),
            try Self.light("n5", Self.entry("A1", "Late", minutes: 1200, enabled: false)),
        ]
        let outcomes = try await client.kit.repairSchedule("Late", at: nodes)
        #expect(outcomes.map(\.isUnchanged) == [true, true, false, false, false])
        #expect(outcomes.map(\.operation) == [.edit, .edit, .add, .edit, .enable])
        let sent = Self.sent(client)
        #expect(
            sent["n3"] == [
                [
                    "id": "A1", "operation": "add", "name": "Late", "triggers": [["m": 1200, "d": 31]],
                    "action": ["Light": ["Power": false]],
                ]
            ])
        #expect(
            sent["n4"] == [
                [
                    "id": "A1", "operation": "edit", "triggers": [["m": 1200, "d": 31]], "info": "",
                    "validity": ["start": 0, "end": 0],
                ]
            ])
        #expect(sent["n5"] == [["id": "A1", "operation": "enable"]])
        try client.http.finish()
        #expect(try await client.kit.repairSchedule("Late", at: Array(nodes.prefix(2))).allSatisfy { $0.isUnchanged })
    }

    @Test("a repair of two copies needs the right one, and then also replaces another entry under the same id")
    func repairedLike() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put + "?node_id=n1", SignedInClient.done)
        client.http.expect(.put, Self.put + "?node_id=n2", SignedInClient.done)
        let nodes = [
            try Self.light("n1", Self.entry("A1", minutes: 1)), try Self.light("n2", Self.entry("A1", minutes: 2)),
        ]
        let error = await kitError { try await client.kit.repairSchedule("A1", at: nodes) }
        #expect(error?.reason == "out_of_sync")
        try await client.kit.repairSchedule("A1", at: nodes, like: NodeID("n2"))
        #expect(client.bodies.last?["Schedule"]?["Schedules"]?.array?.first?["triggers"] == [["m": 2, "d": 31]])
        let others = [nodes[0], try Self.light("n2", Self.entry("A1", "Film", minutes: 7))]
        #expect(await kitError { try await client.kit.repairSchedule("A1", at: others) }?.reason == "id_taken")
        try await client.kit.repairSchedule("A1", at: others, like: NodeID("n1"))
        #expect(client.bodies.last?["Schedule"]?["Schedules"]?.array?.first?["name"] == "Night")
        try client.http.finish()
    }

    @Test("a change waits for the report of each node")
    func waited() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, Self.put, Self.succeeds("n1", "n2"))
        for id in ["n1", "n2"] {
            let node = #"""
                {"node_details":[{"id":"\#(id)","role":"primary","status":{"connectivity":{"connected":true,"timestamp":1}},
                "config":{"services":[{"name":"Schedule","type":"esp.service.schedule","params":[{"name":"Schedules",
                "type":"esp.param.schedules"}]}]},"params":{"Schedule":{"Schedules":[]}}}]}
                """#
            client.http.expect(unordered: .get, "/v1/user/nodes?node_id=\(id)&node_details=true") { _ in
                HTTPResponse(
                    status: 200, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(node.utf8))
            }
        }
        let nodes = try ["n1", "n2", "n3"].map { id in
            id == "n3" ? try Self.light(id) : try Self.light(id, Self.entry("A1"))
        }
        let outcomes = try await client.kit.removeSchedule("Night", at: nodes, waiting: .seconds(600))
        #expect(
            outcomes.map(\.isReported) == [true, true, nil] && outcomes.map(\.isUnchanged) == [false, false, true])
        try client.http.finish()
    }

    @Test("scenes: added, renamed, activated and removed under one id; parameters have the nodes' own names")
    func scenes() async throws {
        let client = try SignedInClient()
        for _ in 1...4 { client.http.expect(.put, Self.put, Self.succeeds("n1", "n2")) }
        let scene: JSONValue = ["id": "S1", "name": "Film", "action": ["Light": ["Power": true]]]
        let bare = try ["n1", "n2"].map { try SignedInClient.light($0, scenes: []) }
        let nodes = try ["n1", "n2"].map { try SignedInClient.light($0, scenes: [scene]) }
        let added = try await client.kit.addScene("Film", values: [(bare[0], [Self.on]), (bare[1], [Self.off])])
        #expect(added.map(\.id) == ["0A0A", "0A0A"])
        let first = Self.sent(client).values.compactMap(\.first)
        for app in PhoneApp.allCases { #expect(Set(first.map { app.key($0) }).count == 1, "\(app)") }
        try await client.kit.editScene("film", EntryGroupChange(name: "Late"), at: nodes)
        #expect(Self.sent(client)["n2"] == [["id": "S1", "operation": "edit", "name": "Late"]])
        try await client.kit.activateScene("S1", at: nodes)
        #expect(Self.sent(client)["n1"] == [["id": "S1", "operation": "activate"]])
        try await client.kit.removeScene("Film", at: nodes)
        #expect(Self.sent(client)["n1"] == [["id": "S1", "operation": "remove"]])
        try client.http.finish()
    }

    @Test("what a node would not take is refused for all nodes, before anything is sent")
    func refused() async throws {
        let client = try SignedInClient()
        let kit = client.kit
        let (one, two) = (try Self.light("n1", Self.entry("A1")), try Self.light("n2", Self.entry("A1")))
        let (bare, full) = (try Self.light("n3"), try Self.light("n4", Self.entry("B2", "Day"), maximum: 1))
        let film = try Self.light("n5", Self.entry("A1", "Film", minutes: 7))
        let twin = try Self.light("n6", Self.entry("C3", "Night"))
        let long = Self.entry("123456789", "Long")
        let tea = Self.entry("A1", "Tea", with: [("triggers", [["rsec": 60]])])
        let fan = Self.entry("A1", with: [("action", ["Fan": ["Speed": 1]])])
        func errors(_ calls: [() async throws -> [EntryOutcome]]) async -> [String?] {
            var reasons: [String?] = []
            for call in calls { reasons.append(await kitError { try await call() }?.reason) }
            return reasons
        }
        let adds = await errors([
            { try await kit.addSchedule("E", values: [(bare, [Self.on]), (full, [Self.on])], time: Self.evening) },
            { try await kit.addSchedule("E", values: [(bare, [Self.on]), (bare, [Self.on])], time: Self.evening) },
            { try await kit.addSchedule("E", values: [(bare, [Self.on]), (one, [])], time: Self.evening) },
            { try await kit.addSchedule("E", values: [], time: Self.evening) },
            { try await kit.addScene("E", values: [(one, [Self.on]), (two, [Self.on])]) },
            {
                try await kit.addSchedule(
                    String(repeating: "x", count: 33), values: [(one, [Self.on]), (two, [Self.on])], time: Self.evening)
            },
            {
                try await kit.addSchedule(
                    "E", values: [(one, [Self.on]), (two, [SignedInClient.change("Level", 101)])], time: Self.evening)
            },
        ])
        #expect(adds == ["list_full", "usage", "usage", "usage", "no_service", "not_allowed", "out_of_bounds"])
        let changes = await errors([
            { try await kit.disableSchedule("Night", at: [one, bare]) },
            { try await kit.removeSchedule("None", at: [one, two]) },
            { try await kit.removeSchedule("Night", at: [one, twin]) },
            { try await kit.removeSchedule("A1", at: [one, film]) },
            { try await kit.removeSchedule("A1", at: [one, one]) },
            { try await kit.editSchedule("A1", EntryGroupChange(added: [full]), at: [one, two]) },
            { try await kit.editSchedule("A1", EntryGroupChange(added: [film]), at: [one, two]) },
            { try await kit.editSchedule("A1", EntryGroupChange(added: [two]), at: [one]) },
            { try await kit.editSchedule("A1", EntryGroupChange(removed: [bare]), at: [one, two]) },
            { try await kit.editSchedule("A1", EntryGroupChange(removed: [one, two]), at: [one, two]) },
            { try await kit.editSchedule("A1", EntryGroupChange(values: [bare.id: [Self.on]]), at: [one, two]) },
            { try await kit.repairSchedule("Long", at: [try Self.light("n1", long), bare]) },
            { try await kit.repairSchedule("Tea", at: [try Self.light("n1", tea), bare]) },
            { try await kit.repairSchedule("Night", at: [one, try Self.light("n2", fan), bare]) },
            { try await kit.repairSchedule("Night", at: [try Self.light("n2", fan), bare]) },
        ])
        #expect(
            changes == [
                "no_such_entry", "no_such_entry", "several_entries", "id_taken", "usage", "list_full", "id_taken",
                "usage", "usage", "usage", "usage", "not_allowed", "usage", "usage", "no_such_component",
            ])
        #expect(client.http.requests.isEmpty)
    }

    @Test("the whole account is read once, and grouped")
    func account() async throws {
        let client = try SignedInClient()
        let night = #"{"id":"A1","name":"Night","enabled":true,"triggers":[{"m":1110,"d":31}],"action":{}}"#
        func node(_ id: String, _ schedules: String) -> String {
            #"""
            {"id":"\#(id)","role":"primary","config":{"services":[{"name":"Zeitplan","type":"esp.service.schedule","params":[
            {"name":"Liste","type":"esp.param.schedules"}]}]},"params":{"Zeitplan":{"Liste":[\#(schedules)]}}}
            """#
        }
        let nodes = [node("n1", night), node("n2", ""), node("n3", night), #"{"id":"n4","role":"primary"}"#]
        let target = "/v1/user/nodes?node_details=true"
        client.http.expect(.get, target, #"{"node_details":[\#(nodes.joined(separator: ","))]}"#)
        let groups = try await client.kit.entryGroups(of: .schedules)
        #expect(groups.map(\.id) == ["A1"] && groups[0].copies.map(\.node.rawValue) == ["n1", "n3"])
        try client.http.finish()
    }
}
