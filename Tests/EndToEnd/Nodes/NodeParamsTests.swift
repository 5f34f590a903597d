// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

/// A board in the account that is online, and what a person does with it from the shell: over the cloud, its broker and back.
@Suite("rainctl node: a board that is online")
struct NodeParamsTests {
    private struct Scene {
        let cloud: SimulatedCloud
        let maker: Maker
        let board: SimulatedBoard

        func rainctl(_ arguments: String...) async throws -> Maker.Outcome { try await maker.rainctl(arguments) }
    }

    private func with(_ body: (Scene) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-light", "node-other"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + cloud.boardOptions(node: "node-light"), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            for what in ["config", "params"] {
                _ = try await cloud.journal.entry(where: ["event": "node", "what": .string(what), "node": "node-light"])
            }
            try await body(Scene(cloud: cloud, maker: maker, board: board))
        }
    }

    @Test("a board whose name has a comma is named by it, also where several may be")
    func comma() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("node", "rename", "nodelight", "Lamp, left", "--wait")
            let outcome = try await scene.done("node", "params", "set", "Lamp, left", "Light.Power=off", "--json")
            #expect(outcome.document?["nodes"]?.array?.count == 1, "\(outcome.standardOutput)")
            let none = try await scene.rainctl("node", "params", "set", "Lamp, right", "Light.Power=off", "--json")
            #expect(none.failure?["reason"] == "no_such_node", "\(none.standardOutput)")
        }
    }

    @Test("a name by which a board could not be named is refused, and one that another board has is a warning")
    func names() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.done("node", "rename", "nodefan", "Fan", "--wait")
            for (words, status, reason) in [
                (["rename", "nodelight", " "], 64, "usage"),
                (["params", "set", "nodelight", "Light.Name= "], 65, "not_allowed"),
                (["params", "set", "nodelight", "Light.Name="], 65, "not_allowed"),
                (["rename", "nodelight", "nodefan"], 65, "name_taken"),
                (["params", "set", "nodelight", "Light.Name=nodefan"], 65, "name_taken"),
            ] {
                let outcome = try await scene.maker.rainctl(["node"] + words + ["--json"])
                #expect(
                    outcome.status == status && outcome.failure?["reason"]?.string == reason,
                    "\(words): \(outcome.standardOutput)\(outcome.standardError)")
            }
            for command in [
                ["node", "rename", "nodelight", "fan"],
                ["node", "params", "set", "nodelight,nodefan", "Light.Name=Both"],
            ] {
                let outcome = try await scene.maker.rainctl(command + ["--wait", "--json"])
                #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
                let warning = outcome.document?["warnings"]?.array?.first
                #expect(warning?["reason"] == "name_taken" && warning?["message"]?.string?.contains("node") == true)
            }
            let own = try await scene.done("node", "rename", "nodelight", "nodelight", "--json")
            #expect(own.document?["warnings"] == nil, "its own id is no other board's")
        }
    }

    @Test("is shown, switched off, and reports the change itself")
    func set() async throws {
        try await with { scene in
            let shown = try await scene.rainctl("node", "show", "node-light")
            #expect(shown.status == 0 && shown.standardOutput.contains("Light.Power: true"), "\(shown.standardOutput)")
            #expect(shown.standardOutput.contains("online for "))
            let status = try await scene.rainctl("node", "status", "node-light", "--json")
            #expect(status.document?["connected"] == true && status.document?["since"] != nil)
            let set = try await scene.rainctl(
                "node", "params", "set", "node-light", "Light.Power=off", "--wait", "--json")
            #expect(
                set.document?["nodes"]?.array?.first?["state"] == "reported",
                "\(set.standardOutput)\(set.standardError)")
            _ = try await scene.board.journal.entry(where: ["event": "state", "change": "parameters_set"])
            let read = try await scene.rainctl("node", "params", "get", "node-light", "Light.Power")
            #expect(read.standardOutput == "false\n")
            let all = try await scene.rainctl("node", "params", "get", "node-light", "--json")
            #expect(all.document?["params"]?["Light"]?["Power"] == false)
            let config = try await scene.rainctl("node", "config", "node-light", "--json")
            #expect(config.document?["config"]?["devices"]?.array?.first?["name"] == "Light")
        }
    }

    @Test("is renamed, found by that name, and taken out of the account only by who means it")
    func rename() async throws {
        try await with { scene in
            let renamed = try await scene.rainctl("node", "rename", "Light", "Kitchen lamp", "--wait")
            #expect(renamed.status == 0, "\(renamed.standardError)")
            let list = try await scene.rainctl("node", "list", "--json")
            #expect(list.document?["nodes"]?.array?.first?["name"] == "Kitchen lamp", "\(list.standardOutput)")
            let set = try await scene.rainctl("node", "params", "set", "kitchen LAMP", "Light.Power=false", "--wait")
            #expect(
                set.status == 0 && set.standardOutput.contains("Set the values of Kitchen lamp"), "\(set.standardError)"
            )
            let asked = try await scene.rainctl("node", "remove", "Kitchen lamp", "--json")
            asked.expectFailure(64, "usage", says: "--yes")
            let removed = try await scene.rainctl("node", "remove", "Kitchen lamp", "--yes", "--json")
            #expect(removed.status == 0 && removed.document?["node_id"] == "node-light")
            let gone = try await scene.rainctl("node", "show", "Kitchen lamp", "--json")
            gone.expectFailure(1, "other", says: "rainctl node list")
            #expect(gone.failure?["reason"] == "no_such_node")
        }
    }

    @Test(
        "is sent nothing that it would not take",
        arguments: [
            (["Light.Power=bright"], "wrong_type", "true or false"),
            (["Lamp.Power=on"], "no_such_component", "its devices are: Light"),
            (["Light.Power=on", "Light.Bright=1"], "no_such_parameter", "Name, Power"),
        ])
    func refused(changes: [String], reason: String, words: String) async throws {
        try await with { scene in
            let outcome = try await scene.maker.rainctl(["node", "params", "set", "node-light", "--json"] + changes)
            outcome.expectFailure(65, "bad_data", says: words)
            #expect(outcome.failure?["reason"]?.string == reason)
            let sent = try scene.cloud.journal.entries(where: ["event": "request"]).filter {
                $0["method"] == "PUT" && $0["path"]?.string?.hasSuffix("user/nodes/params") == true
            }
            #expect(sent.isEmpty)
        }
    }

    @Test("values come from a file, and --wait has a deadline where the board is gone")
    func gone() async throws {
        try await with { scene in
            try scene.maker.folder.write(#"{"Light":{"Power":false,"Name":"Desk"}}"#, to: "values")
            let file = scene.maker.folder.file("values")
            let outcome = try await scene.rainctl("node", "params", "set", "node-light", "--file", file, "--wait")
            #expect(outcome.status == 0, "\(outcome.standardError)")
            try await scene.board.process.terminate()
            let late = try await scene.rainctl(
                "node", "params", "set", "node-light", "Light.Power=on", "--wait", "--timeout", "10", "--json")
            late.expectFailure(16, "deadline", says: "--timeout")
            #expect(late.document?["nodes"]?.array?.first?["state"] == "silent")
            // It had this value before it went away, which is not its word.
            let same = try await scene.rainctl(
                "node", "params", "set", "node-light", "Light.Power=off", "--wait", "--timeout", "10", "--json")
            same.expectFailure(16, "deadline", says: "--timeout")
            // Without it the cloud's word is all there is, and no more is claimed.
            let sent = try await scene.rainctl("node", "params", "set", "node-light", "Light.Power=on")
            #expect(sent.status == 0 && sent.standardOutput.contains("is offline: the cloud has sent"))
        }
    }

    @Test("several at once: each has its answer, and one that is away does not hide what the other has reported")
    func several() async throws {
        try await with { scene in
            let other = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + scene.cloud.boardOptions(node: "node-other"), in: scene.maker.folder)
            let outcome = try await scene.maker.provision(other, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            for what in ["config", "params"] {
                _ = try await scene.cloud.journal.entry(where: [
                    "event": "node", "what": .string(what), "node": "node-other",
                ])
            }
            let both = try await scene.rainctl(
                "node", "params", "set", "node-light,node-other", "Light.Power=off", "--wait", "--json")
            let states = both.document?["nodes"]?.array?.compactMap { $0["state"]?.string }
            #expect(both.status == 0 && states == ["reported", "reported"], "\(both.standardOutput)")
            try await other.process.terminate()
            let one = try await scene.rainctl(
                "node", "params", "set", "node-other,node-light", "Light.Power=on", "--wait", "--timeout", "20",
                "--json"
            )
            one.expectFailure(20, "batch_partial", says: "node-other")
            #expect(one.failure?["reason"] == "some_silent")
            let entries = one.document?["nodes"]?.array?.map { $0["state"]?.string }
            #expect(entries == ["silent", "reported"], "\(one.standardOutput)")
        }
    }
}
