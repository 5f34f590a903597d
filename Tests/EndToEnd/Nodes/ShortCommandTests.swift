// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// `rainctl on`, `off`, `toggle` and `set`, and what else is for every day.
@Suite("rainctl on, off, toggle and set")
struct ShortCommandTests {
    @Test("lamps are switched and report it; several are read and shown at once; names are completed without the cloud")
    func daily() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            let clash = try await scene.rainctl("on", "Light", "--json")
            clash.expectFailure(64, "usage", says: "node rename node")
            #expect(clash.failure?["reason"] == "several_nodes")
            let list = try await scene.done("node", "list")
            #expect(list.standardError.contains("2 boards are called Light"), "\(list.standardError)")
            let renamed = try await scene.done("node", "rename", "nodefan", "Fan", "--wait")
            #expect(renamed.standardOutput == "Renamed Light (nodefan) to Fan\n")
            try await scene.done("node", "rename", "nodelight", "Kitchen lamp", "--wait")

            let off = try await scene.done("off", "kitchen lamp", "Fan")
            #expect(
                off.standardOutput == "Switched off Kitchen lamp (Light)\nSwitched off Fan (Light)\n",
                "\(off.standardOutput)")
            let values = try await scene.done("node", "params", "get", "nodelight,Fan", "Light.Power")
            #expect(values.standardOutput == "nodelight  false\nnodefan  false\n")
            let toggled = try await scene.done("toggle", "Fan/light", "--json")
            let entry = toggled.document?["devices"]?.array?.first
            #expect(entry?["node_id"] == "nodefan" && entry?["path"] == "Light.Power" && entry?["value"] == true)
            #expect(entry?["state"] == "reported" && entry?["route"] == "cloud", "\(toggled.standardOutput)")
            let set = try await scene.done("set", "Kitchen lamp,Fan", "on", "--no-wait")
            #expect(set.standardOutput.contains("Set Fan to true (Light.Power), according to the cloud"))
            let shown = try await scene.done("node", "show", "nodelight,nodefan", "--json")
            #expect(shown.document?["nodes"]?.array?.map { $0["name"] } == ["Kitchen lamp", "Fan"])
            let none = try await scene.rainctl("on", "Fan/Lamp", "--json")
            none.expectFailure(65, "bad_data", says: "its devices are: Light")

            try await scene.cloud.process.terminate()
            let offered = try await scene.maker.rainctl(
                ["---completion", "on", "--", "positional@0", "2", "0", "rainctl", "on", ""],
                environment: ["SAP_SHELL": "bash", "SAP_SHELL_VERSION": "5.2"])
            #expect(
                offered.standardOutput.split(separator: "\n").sorted() == ["Fan", "Kitchen lamp"], "\(offered)")
        }
    }

    @Test("--local asks the board by the name of its user, and --auto asks the cloud if the board is not reached")
    func local() async throws {
        try await OnlineBoards.with(options: ["--local-control", "127.0.0.1:0"]) { scene in
            let host = try #require(scene.boards.first?.localControl)
            try await scene.done("node", "rename", "nodelight", "Desk", "--wait")
            for (command, value) in [(["off"], false), (["toggle"], true)] {
                let outcome = try await scene.maker.rainctl(command + ["Desk", "--local", "--host", host, "--json"])
                let entry = outcome.document?["devices"]?.array?.first
                #expect(
                    entry?["route"] == "local" && entry?["value"] == .bool(value) && entry?["name"] == "Desk",
                    "\(outcome.standardOutput)\(outcome.standardError)")
            }
            for (way, route) in [([host], "local"), (["127.0.0.1:9"], "cloud")] {
                let outcome = try await scene.maker.rainctl(["off", "Desk", "--auto", "--json", "--host"] + way)
                #expect(
                    outcome.document?["devices"]?.array?.first?["route"]?.string == route,
                    "\(outcome.standardOutput)\(outcome.standardError)")
            }
            let read = try await scene.done(
                "node", "params", "get", "Desk", "Light.Power", "--auto", "--host", "127.0.0.1:9")
            #expect(read.standardOutput == "false\n")
            let wrong = try await scene.rainctl("set", "Desk", "bright", "--auto", "--host", host, "--json")
            wrong.expectFailure(65, "bad_data", says: "true or false")
            try await scene.boards[0].process.terminate()
            let gone = try await scene.rainctl("on", "Desk", "--timeout", "10", "--json")
            gone.expectFailure(16, "deadline", says: "Desk")
            #expect(gone.document?["devices"]?.array?.first?["state"] == "silent", "\(gone.standardOutput)")
        }
    }

    @Test("a board gets its name when it is set up, and if that fails it is in the account anyway")
    func named() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["nodelight", "nodefan"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + cloud.boardOptions(node: "nodelight"), in: folder)
            let outcome = try await maker.provision(board, ["--name", "Kitchen lamp", "--events", "ndjson"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let events = try outcome.events()
            #expect(events.filter { $0["step"] == "name" }.map { $0["state"] } == ["started", "finished", "done"])
            #expect(events.last?["name"] == "Kitchen lamp")
            #expect(try await maker.succeeds(["on", "Kitchen lamp"]).standardOutput.contains("Kitchen lamp"))
            try await cloud.control(
                "faults",
                ["rules": [["method": "PUT", "path": "/v1/user/nodes/params", "action": "status", "status": 400]]])
            let other = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + cloud.boardOptions(node: "nodefan"), in: folder)
            let unnamed = try await maker.provision(other, ["--name", "Fan", "--json"])
            #expect(unnamed.status == 0 && unnamed.document?["name"] == nil, "\(unnamed.standardOutput)")
            let warning = unnamed.document?["warnings"]?.array?.first
            #expect(warning?["reason"] == "not_named", "\(unnamed.standardOutput)")
            #expect(warning?["message"]?.string?.hasSuffix("rainctl node rename nodefan Fan") == true)
            let blank = try await maker.rainctl("provision", "--name", " ", "--json")
            blank.expectFailure(64, "usage", says: "A name must have 1 to 64 bytes")
        }
    }

    @Test("a profile's settings are changed, but not the addresses of a signed-in session; advice repeats --profile")
    func profile() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: [], in: folder)
            let maker = try Maker(folder)
            _ = try await maker.succeeds(["profile", "add", "lab", "--base-url", cloud.api])
            let set = try await maker.succeeds([
                "profile", "set", "lab", "--claim-url", cloud.claim, "--client-id", "app", "--authorize-path", "/a",
            ])
            #expect(set.standardOutput == "Changed profile lab\n")
            let shown = try await maker.rainctl("profile", "show", "lab", "--json")
            #expect(shown.document?["claim_url"]?.string == cloud.claim && shown.document?["client_id"] == "app")
            _ = try await maker.succeeds(["profile", "set", "lab", "--client-id", ""])
            #expect(try await maker.rainctl("profile", "show", "lab", "--json").document?["client_id"] == nil)

            let absent = try await maker.rainctl("node", "list", "--profile", "lab", "--json")
            absent.expectFailure(77, "auth", says: "Run: rainctl login USER --profile lab")
            _ = try await maker.succeeds([
                "login", SimulatedCloud.user, "--password-file", folder.file("password"), "--profile", "lab",
            ])
            let used = try await maker.rainctl("profile", "set", "lab", "--claim-url", "", "--json")
            used.expectFailure(64, "usage", says: "rainctl logout --profile lab")
            #expect(used.failure?["reason"] == "in_use")
            let builtIn = try await maker.rainctl("profile", "set", "global", "--client-id", "x", "--json")
            builtIn.expectFailure(78, "config", says: "built in")
        }
    }
}
