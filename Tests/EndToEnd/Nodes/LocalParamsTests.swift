// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl node params --local")
struct LocalParamsTests {
    private struct Scene {
        let folder: TemporaryFolder
        let maker: Maker
        let board: SimulatedBoard

        var host: String { board.localControl ?? "" }
        func rainctl(_ arguments: String...) async throws -> Maker.Outcome { try await maker.rainctl(arguments) }
    }

    /// A board on its network, and nobody who has an account.
    private static func with(_ options: [String], _ body: (Scene) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                ["--local-control", "127.0.0.1:0", "--node-id", "nodelight"] + options, in: folder)
            try await body(Scene(folder: folder, maker: try Maker(folder), board: board))
        }
    }

    @Test(
        "values are read and set without a cloud, with each security scheme",
        arguments: [(0, ["--sec-ver", "0"]), (1, []), (2, [])])
    func values(security: Int, more: [String]) async throws {
        try await Self.with(["--security", "\(security)"]) { scene in
            let way =
                ["--local", "--host", scene.host] + (security == 0 ? [] : ["--pop-file", scene.folder.file("pop")])
                + more
            let read = try await scene.maker.rainctl(["node", "params", "get", "nodelight", "--json"] + way)
            #expect(read.document?["params"]?["Light"]?["Power"] == true, "\(read.standardOutput)\(read.standardError)")
            #expect(read.document?["node_id"] == "nodelight")
            let set = try await scene.maker.rainctl(
                ["node", "params", "set", "nodelight", "Light.Power=off", "Light.Name=Desk", "--json"] + way)
            #expect(
                set.document?["nodes"]?.array?.first?["state"] == "reported",
                "\(set.standardOutput)\(set.standardError)")
            let again = try await scene.maker.rainctl(["node", "params", "get", "nodelight", "Light.Power"] + way)
            #expect(again.standardOutput == "false\n")
        }
    }

    @Test("the board's proof of possession is among its values, and shown only to those who ask for it by name")
    func secret() async throws {
        try await Self.with(["--security", "1"]) { scene in
            let way = ["--local", "--host", scene.host, "--pop-file", scene.folder.file("pop")]
            let all = try await scene.maker.rainctl(["node", "params", "get", "nodelight", "--json"] + way)
            #expect(all.document?["params"]?["Local Control"]?["POP"] == "<secret>", "\(all.standardOutput)")
            let service = try await scene.maker.rainctl(["node", "params", "get", "nodelight", "Local Control"] + way)
            #expect(service.standardOutput.contains("Local Control.POP: <secret>"), "\(service.standardOutput)")
            let named = try await scene.maker.rainctl(
                ["node", "params", "get", "nodelight", "Local Control.POP"] + way)
            #expect(named.standardOutput == "\(SimulatedBoard.proofOfPossession)\n")
        }
    }

    @Test(
        "values that the board does not accept are reported before they are sent, and a service is set as in the cloud")
    func refused() async throws {
        try await Self.with(["--security", "1"]) { scene in
            let way = ["--local", "--host", scene.host, "--pop-file", scene.folder.file("pop"), "--json"]
            let wrong = try await scene.maker.rainctl(
                ["node", "params", "set", "nodelight", "Light.Power=bright"] + way)
            wrong.expectFailure(65, "bad_data", says: "true or false")
            let absent = try await scene.maker.rainctl(["node", "params", "get", "nodelight", "Fan.Speed"] + way)
            absent.expectFailure(65, "bad_data", says: "not reported Fan.Speed")
            #expect(try scene.board.journal.entries(where: ["change": "parameters_set"]).isEmpty)
            let zone = try await scene.maker.rainctl(
                ["node", "params", "set", "nodelight", "Time.TZ=Europe/Berlin"] + way)
            #expect(zone.status == 0, "\(zone.standardOutput)")
        }
    }

    @Test("a board other than the named one is reported, and nothing is set")
    func otherNode() async throws {
        try await Self.with(["--security", "1"]) { scene in
            let way = ["--local", "--host", scene.host, "--pop-file", scene.folder.file("pop"), "--json"]
            let set = try await scene.maker.rainctl(["node", "params", "set", "nodedesk", "Light.Power=off"] + way)
            set.expectFailure(65, "bad_data", says: "is nodelight, not nodedesk")
            #expect(set.failure?["reason"] == "other_node")
            #expect(try scene.board.journal.entries(where: ["change": "parameters_set"]).isEmpty)
            let get = try await scene.maker.rainctl(["node", "params", "get", "nodedesk"] + way)
            get.expectFailure(65, "bad_data", says: "is nodelight, not nodedesk")
        }
    }

    @Test("a wrong proof, none at all, a board that is gone, and one that speaks something else")
    func failures() async throws {
        try await Self.with(["--security", "1"]) { scene in
            let get = [
                "node", "params", "get", "nodelight", "--local", "--host", scene.host, "--timeout", "60", "--json",
            ]
            let wrong = try await scene.maker.rainctl(get + ["--pop-file", scene.folder.file("wrong")])
            wrong.expectFailure(10, "wrong_pop", says: "differs from the proof on the label")
            #expect(!wrong.standardOutput.contains("five wrong proofs"))
            let address = try await scene.maker.rainctl([
                "node", "params", "get", "nodelight", "--local", "--host", "http://127.0.0.1/", "--pop-file",
                scene.folder.file("pop"), "--json",
            ])
            address.expectFailure(64, "usage", says: "--host HOST")
            #expect(!address.standardOutput.contains("--device-host"))
            let none = try await scene.maker.rainctl(get)
            #expect(none.status == 10 || none.status == 64, "\(none.standardOutput)")
            #expect(none.standardOutput.contains("differs from the proof on the label"), "\(none.standardOutput)")
            try await scene.board.process.terminate()
            let gone = try await scene.maker.rainctl(get + ["--pop-file", scene.folder.file("pop")])
            gone.expectFailure(69, "unavailable", says: "")
            let usage = try await scene.rainctl("node", "params", "get", "nodelight", "--host", "127.0.0.1:1", "--json")
            usage.expectFailure(64, "usage", says: "--local")
        }
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", "1"], in: folder)
            let outcome = try await Maker(folder).rainctl(
                "node", "params", "get", "x", "--local", "--host", board.http ?? "", "--pop-file", folder.file("pop"),
                "--timeout", "60", "--json")
            #expect(outcome.status != 0 && outcome.failure?["message"] != nil)
        }
    }

    @Test(
        "the proof of possession is the one that the board has told the cloud, and what is set locally is known there")
    func cloud() async throws {
        try await OnlineBoards.with(options: ["--local-control", "127.0.0.1:0"]) { scene in
            let host = try #require(scene.boards.first?.localControl)
            let set = try await scene.done(
                "node", "params", "set", "nodelight", "Light.Power=off", "--local", "--host", host, "--json")
            #expect(set.document?["nodes"]?.array?.first?["state"] == "reported")
            #expect(try await scene.value("Light.Power", becomes: "false"))
            let zone = try await scene.done(
                "node", "params", "set", "nodelight", "Time.TZ=Europe/Oslo", "--local", "--host", host)
            #expect(zone.standardOutput.contains("Set the values of nodelight"))
            #expect(try await scene.value("Time.TZ", becomes: "Europe/Oslo"))
        }
    }

    @Test("if the cloud was asked for the proof and has none, no message advises a sign-in")
    func untold() async throws {
        let node = #"{"node_details":[{"id":"nodelight","role":"primary","config":{"node_id":"nodelight"}}]}"#
        let answers = ["GET /v1/user/nodes?node_details=true": [(status: 200, body: node)]]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let board = try await SimulatedBoard.start(
                ["--local-control", "127.0.0.1:0", "--node-id", "nodelight", "--security", "1"], in: maker.folder)
            let outcome = try await maker.rainctl(
                "node", "params", "get", "nodelight", "--local", "--host", board.localControl ?? "", "--timeout", "60",
                "--json")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(outcome.status == 10 || outcome.status == 64, "\(outcome.standardOutput)")
            #expect(message.contains("nodelight has not reported this proof to the cloud"), "\(message)")
            #expect(message.contains("--pop-file") && !message.lowercased().contains("sign in"), "\(message)")
        }
    }
}
