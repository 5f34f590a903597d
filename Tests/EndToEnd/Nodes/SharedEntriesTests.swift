// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Schedules and scenes that several boards have under one id, against cloud-sim with three boards.
@Suite("rainctl node schedule, node scene: several boards")
struct SharedEntriesTests {
    private static let ids = ["node-one", "node-two", "node-three"]
    private static let all = ids.joined(separator: ",")

    /// The entries that the boards have reported to the cloud, without rainctl: board, entry.
    private static func reported(
        _ member: String, of nodes: [String] = ids, _ scene: OnlineBoards
    ) async throws -> [(node: String, entry: JSONValue)] {
        let service = member == "schedules" ? ("Schedule", "Schedules") : ("Scenes", "Scenes")
        var all: [(node: String, entry: JSONValue)] = []
        for id in nodes {
            let values = try await scene.done("node", "params", "get", id, "--json").document?["params"]
            for entry in values?[service.0]?[service.1]?.array ?? [] { all.append((node: id, entry: entry)) }
        }
        return all
    }

    /// Waits until the boards' reports are so.
    private static func expect(
        _ member: String, of nodes: [String] = ids, _ scene: OnlineBoards,
        _ isDone: ([(node: String, entry: JSONValue)]) -> Bool
    ) async throws {
        let end = ContinuousClock.now + .waitLimit
        while !isDone(try await reported(member, of: nodes, scene)) {
            guard ContinuousClock.now < end else { throw ProcessError("the boards have not reported it") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Sends a board's list directly, as an app does.
    private static func send(_ element: JSONValue, to node: String, _ scene: OnlineBoards) async throws {
        let file = "element-\(node).json"
        try scene.maker.folder.write(
            String(decoding: (["Schedule": ["Schedules": [element]]] as JSONValue).serialized(), as: UTF8.self),
            to: file)
        try await scene.done("node", "params", "set", node, "--file", scene.maker.folder.file(file))
    }

    private static func states(_ outcome: Maker.Outcome) -> [String?]? {
        outcome.document?["nodes"]?.array?.map { $0["state"]?.string }
    }

    @Test("three boards are one entry: added, changed, disabled, enabled, extended, reduced and removed")
    func journey() async throws {
        try await OnlineBoards.with(Self.ids) { scene in
            let added = try await scene.done(
                "node", "schedule", "add", Self.all, "--name", "Night", "--at", "23:00", "--days", "daily",
                "Light.Power=off", "node-two:Light.Power=on", "--wait", "--json")
            let id = try #require(added.document?["id"]?.string)
            #expect(Self.states(added) == ["reported", "reported", "reported"], "\(added.standardOutput)")
            let entries = try await Self.reported("schedules", scene)
            #expect(entries.map { $0.entry["action"]?["Light"]?["Power"] } == [false, true, false])
            for app in PhoneApp.allCases {
                #expect(Set(entries.map { app.key($0.entry) }).count == 1, "one entry in \(app)")
            }
            let calls = try scene.cloud.journal.entries(where: ["event": "request", "method": "PUT"]).filter {
                $0["path"]?.string?.hasSuffix("user/nodes/params") == true
            }
            #expect(calls.count == 1, "one call for all boards")

            let whole = try await scene.done("node", "schedule", "list", "--json")
            let entry = try #require(whole.document?["schedules"]?.array?.first)
            #expect(entry["id"]?.string == id && entry["in_sync"] == true && entry["differs"] == .array([]))
            #expect(entry["node_ids"]?.array?.count == 3 && entry["nodes"]?.array?.first?["entry"]?["name"] == "Night")
            let text = try await scene.done("node", "schedule", "list", Self.all)
            #expect(text.standardOutput.hasPrefix("\(id)  on   Night  at 23:00 daily  Light (node-one), "))

            try await scene.done("node", "schedule", "edit", Self.all, "night", "--at", "22:30", "--wait")
            try await scene.done("node", "schedule", "disable", Self.all, id, "--wait")
            try await scene.done(
                "node", "schedule", "edit", Self.all, id, "--remove-board", "node-three", "--wait")
            #expect(try await Self.reported("schedules", scene).map(\.node) == ["node-one", "node-two"])
            // The others set different values, so none can be chosen for it.
            let unclear = try await scene.rainctl(
                "node", "schedule", "edit", "node-one,node-two", id, "--add-board", "node-three", "--json")
            unclear.expectFailure(64, "usage", says: "cannot get its values for")
            let back = try await scene.done(
                "node", "schedule", "edit", "node-one,node-two", id, "--add-board", "node-three",
                "node-three:Light.Power=on", "--wait", "--json")
            #expect(Self.states(back) == ["unchanged", "unchanged", "reported"], "\(back.standardOutput)")
            let after = try await Self.reported("schedules", scene)
            #expect(
                after.allSatisfy { $0.entry["triggers"] == [["m": 1350, "d": 127]] && $0.entry["enabled"] == false })
            #expect(after.map { $0.entry["action"]?["Light"]?["Power"] } == [false, true, true])
            try await scene.done("node", "schedule", "enable", Self.all, id, "--wait")
            let removed = try await scene.done("node", "schedule", "remove", Self.all, "Night", "--wait")
            #expect(removed.standardOutput.split(separator: "\n").count == 3)
            #expect(try await scene.done("node", "schedule", "list").standardOutput == "There are no schedules.\n")
        }
    }

    @Test("a board that goes offline in the middle is reported, and repaired later")
    func offline() async throws {
        try await OnlineBoards.with(Self.ids) { scene in
            try await scene.done(
                "node", "schedule", "add", Self.all, "--name", "Night", "--at", "23:00", "--days", "daily",
                "Light.Power=off", "--wait")
            scene.boards[2].process.kill()
            _ = try await scene.cloud.journal.entry(where: [
                "event": "node", "what": "disconnected", "node": "node-three",
            ])
            let edited = try await scene.rainctl(
                "node", "schedule", "edit", Self.all, "Night", "--at", "22:00", "--wait", "--timeout", "20", "--json")
            edited.expectFailure(20, "batch_partial", says: "(it is offline)")
            #expect(edited.failure?["reason"] == "some_silent")
            #expect(Self.states(edited) == ["reported", "reported", "silent"], "\(edited.standardOutput)")
            #expect(edited.failure?["message"]?.string?.contains("--repair") == true)
            let listed = try await scene.done("node", "schedule", "list", "--json")
            #expect(listed.document?["schedules"]?.array?.first?["differs"] == ["triggers"])
            let warning = listed.document?["warnings"]?.array?.first
            #expect(warning?["reason"] == "out_of_sync")
            #expect(warning?["message"]?.string?.contains("copy acts at 23:00 daily. Repair it: ") == true)
            // The phone apps show two entries meanwhile.
            let entries = try await Self.reported("schedules", scene)
            #expect(PhoneApp.allCases.map { app in Set(entries.map { app.key($0.entry) }).count } == [2, 2, 1])
            // Without --wait, the cloud's word is all there is.
            let sent = try await scene.done("node", "schedule", "disable", Self.all, "Night")
            #expect(sent.standardOutput.contains("is offline: the cloud has sent the change of schedule Night"))

            // firmware-sim begins with empty lists: the copy is missing.
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + scene.cloud.boardOptions(node: "node-three"), in: scene.maker.folder)
            let again = try await scene.maker.provision(board, ["--json"])
            #expect(again.status == 0, "\(again.standardOutput)\(again.standardError)")
            try await Self.expect("schedules", scene) { $0.count == 2 }
            let missing = try await scene.rainctl("node", "schedule", "enable", Self.all, "Night", "--json")
            missing.expectFailure(65, "bad_data", says: "has no copy of Night")
            let repaired = try await scene.done(
                "node", "schedule", "edit", Self.all, "Night", "--repair", "--wait", "--json")
            #expect(Self.states(repaired) == ["unchanged", "unchanged", "reported"], "\(repaired.standardOutput)")
            let whole = try await Self.reported("schedules", scene)
            #expect(whole.count == 3 && whole.allSatisfy { $0.entry["enabled"] == false })
            for app in PhoneApp.allCases { #expect(Set(whole.map { app.key($0.entry) }).count == 1, "\(app)") }
        }
    }

    @Test("copies that were changed apart are out of sync, and repaired like the one that is right")
    func outOfSync() async throws {
        try await OnlineBoards.with(["node-one", "node-two"]) { scene in
            let both = "node-one,node-two"
            try await scene.done("node", "scene", "add", both, "--name", "Film", "Light.Power=off", "--wait")
            try await scene.done("node", "scene", "edit", "node-two", "Film", "--name", "Late", "--wait")
            let listed = try await scene.done("node", "scene", "list", both)
            #expect(listed.standardOutput.hasSuffix("out of sync\n") && listed.standardError.contains("--like BOARD"))
            let tie = try await scene.rainctl("node", "scene", "edit", both, "Film", "--repair", "--json")
            tie.expectFailure(64, "usage", says: "--like BOARD")
            #expect(tie.failure?["reason"] == "out_of_sync")
            let done = try await scene.done(
                "node", "scene", "edit", both, "Film", "--repair", "--like", "node-two", "--wait")
            #expect(done.standardOutput.contains("already has scene Late") && !done.standardOutput.contains("Film"))
            let tsv = try await scene.done("node", "scene", "list", "--format", "tsv")
            #expect(tsv.standardOutput.hasSuffix("\tLate\ttrue\t\tnode-one,node-two\n"), "\(tsv.standardOutput)")
            try await scene.done("node", "params", "set", both, "Light.Power=on", "--wait")
            try await scene.done("node", "scene", "activate", both, "Late")
            for id in ["node-one", "node-two"] {
                #expect(try await scene.value("Light.Power", of: id, becomes: "false"))
            }
            try await scene.done("node", "scene", "remove", "node-one", "Late", "--wait")
            // A command that is repeated after a failure removes the rest.
            let rest = try await scene.done("node", "scene", "remove", both, "Late", "--wait", "--json")
            #expect(Self.states(rest) == ["unchanged", "reported"])
        }
    }

    @Test(
        "what the phone apps write to three boards is one entry, and can be changed as one",
        arguments: PhoneApp.allCases)
    func apps(app: PhoneApp) async throws {
        try await OnlineBoards.with(Self.ids) { scene in
            for (index, id) in Self.ids.enumerated() {
                let action: JSONValue = ["Light": ["Power": .bool(index == 1)]]
                try await Self.send(app.newSchedule("Night", minutes: 1110, days: 31, action: action), to: id, scene)
            }
            try await Self.expect("schedules", scene) { $0.count == 3 }
            let listed = try await scene.done("node", "schedule", "list", "--json")
            let schedules = try #require(listed.document?["schedules"]?.array)
            #expect(schedules.count == 1 && schedules[0]["in_sync"] == true)
            #expect(schedules[0]["id"]?.string == app.newID && schedules[0]["node_ids"]?.array?.count == 3)
            try await scene.done("node", "schedule", "edit", Self.all, "Night", "--days", "daily", "--wait")
            let entries = try await Self.reported("schedules", scene)
            #expect(Set(entries.map { app.key($0.entry) }).count == 1)
            #expect(entries.allSatisfy { $0.entry["triggers"] == [["m": 1110, "d": 127]] })
            #expect(entries.map { $0.entry["action"]?["Light"]?["Power"] } == [false, true, false])
        }
    }

    @Test("Espressif's client shows the same id at each board, and what it changes at one board is repaired")
    func officialClient() async throws {
        try await OnlineBoards.with(Self.ids) { scene in
            let client = try await OfficialClient(api: scene.cloud.api, in: scene.maker.folder)
            try await client.logIn()
            let added = try await scene.done(
                "node", "schedule", "add", Self.all, "--name", "Night", "--at", "23:00", "--days", "daily",
                "Light.Power=off", "--wait", "--json")
            let id = try #require(added.document?["id"]?.string)
            for node in Self.ids {
                let shown = try await client.run(["getschedules", node]).standardOutput
                #expect(shown.contains(id) && shown.contains("Night"), "\(shown)")
            }
            let edited = try await client.run([
                "setschedule", "node-two", "--operation", "edit", "--id", id, "--name", "Late", "--trigger",
                #"{"m":1200,"d":127}"#, "--action", #"{"Light":{"Power":false}}"#,
            ])
            #expect(edited.standardOutput.contains("successfully"), "\(edited.standardOutput)")
            try await Self.expect("schedules", scene) { $0.contains { $0.entry["name"] == "Late" } }
            // A copy with another name and another time may be another entry, so it is replaced only on demand.
            let other = try await scene.rainctl("node", "schedule", "edit", Self.all, id, "--repair", "--json")
            other.expectFailure(65, "bad_data", says: "Two different schedules have the id")
            let repaired = try await scene.done(
                "node", "schedule", "edit", Self.all, id, "--repair", "--like", "node-one", "--wait", "--json")
            #expect(Self.states(repaired) == ["unchanged", "reported", "unchanged"])
            let shown = try await client.run(["getschedules", "node-two"]).standardOutput
            #expect(shown.contains("Night") && !shown.contains("Late"), "\(shown)")
        }
    }

    @Test("what cannot be done is refused before anything is sent")
    func refused() async throws {
        try await OnlineBoards.with(["node-one", "node-two"]) { scene in
            let both = "node-one,node-two"
            func add(_ boards: String, _ values: String...) -> [String] {
                ["node", "schedule", "add", boards, "--name", "Night", "--at", "23:00", "--json"] + values
            }
            func edit(_ boards: String, _ options: String...) -> [String] {
                ["node", "schedule", "edit", boards, "Night", "--json"] + options
            }
            let cases: [([String], Int, String, String)] = [
                (add("node-one,Nobody", "Light.Power=on"), 1, "no_such_node", "Nobody"),
                (add("Light,node-one", "Light.Power=on"), 64, "several_nodes", "node-two"),
                (add(both, "node-one:Light.Power=on"), 64, "usage", "Give the values that"),
                (add(both, "Hall:Light.Power=on"), 64, "usage", "A value is given for the board Hall"),
                (add(both, "Light:Light.Power=on"), 64, "several_nodes", "use a node id"),
                (add(both, "Light.Power=on", "node-two:Light.Pover=on"), 65, "no_such_parameter", "node-two"),
                (edit(both, "--repair", "--name", "X"), 64, "usage", "--repair"),
                (edit("node-one", "--repair"), 64, "usage", "name all boards"),
                (edit(both, "--name", "X"), 65, "no_such_entry", "have no schedule"),
            ]
            for (arguments, status, reason, words) in cases {
                let outcome = try await scene.maker.rainctl(arguments)
                #expect(outcome.status == status, "\(arguments): \(outcome.standardOutput)")
                #expect(outcome.failure?["reason"]?.string == reason, "\(arguments): \(outcome.standardOutput)")
                #expect(outcome.failure?["message"]?.string?.contains(words) == true, "\(outcome.standardOutput)")
            }
            let calls = try scene.cloud.journal.entries(where: ["event": "request", "method": "PUT"]).filter {
                $0["path"]?.string?.hasSuffix("user/nodes/params") == true
            }
            #expect(calls.isEmpty)
            // The same board twice is one board, and its document is that of one.
            let twice = try await scene.done(
                "node", "scene", "add", "node-one,node-one", "--name", "Film", "Light.Power=on", "--wait", "--json")
            #expect(twice.document?["node_id"] == "node-one" && twice.document?["state"] == "reported")
            // Another entry has the id there.
            let id = try #require(twice.document?["id"]?.string)
            try scene.maker.folder.write(
                #"{"Scenes":{"Scenes":[{"id":"\#(id)","operation":"add","name":"Other","action":{"Fan":{"Power":true}}}]}}"#,
                to: "other.json")
            try await scene.done(
                "node", "params", "set", "node-two", "--file", scene.maker.folder.file("other.json"))
            try await Self.expect("scenes", of: ["node-two"], scene) { $0.count == 1 }
            let taken = try await scene.rainctl("node", "scene", "remove", both, id, "--json")
            taken.expectFailure(65, "bad_data", says: "Two different scenes have the id \(id)")
            #expect(taken.failure?["reason"] == "id_taken")
        }
    }

    @Test("boards whose names have commas are named alone, with other boards by their ids")
    func commas() async throws {
        try await OnlineBoards.with(["node-one", "node-two"]) { scene in
            try await scene.done("node", "rename", "node-one", "Hall, upstairs: left", "--wait")
            try await scene.done("node", "rename", "node-two", "Desk", "--wait")
            try await scene.done(
                "node", "scene", "add", "Hall, upstairs: left", "--name", "Day", "Light.Power=on", "--wait")
            try await scene.done(
                "node", "scene", "add", "node-one,desk", "--name", "Night", "Hall, upstairs: left:Light.Power=off",
                "DESK:Light.Power=on", "--wait")
            let entries = try await Self.reported("scenes", of: ["node-one", "node-two"], scene).filter {
                $0.entry["name"] == "Night"
            }
            #expect(entries.map { $0.entry["action"]?["Light"]?["Power"] } == [false, true])
        }
    }
}
