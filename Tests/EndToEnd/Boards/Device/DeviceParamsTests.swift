// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The values of a board that has no network yet, in the session that would provision it.
@Suite("rainctl device params")
struct DeviceParamsTests {
    private func run(_ options: [String], _ body: (Maker, SimulatedBoard, [String]) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--mapping", "user", "--node-id", "nodelight"] + options, in: folder)
            let way = [
                "--transport", "softap", "--device-host", board.http ?? "", "--pop-file", folder.file("pop"), "--json",
            ]
            try await body(try Maker(folder), board, way)
        }
    }

    @Test("are read in fragments and set, with each security scheme", arguments: [1, 2])
    func values(security: Int) async throws {
        try await run(["--local-data", "--security", "\(security)"]) { maker, board, way in
            let read = try await maker.rainctl(["device", "params", "get"] + way)
            #expect(read.document?["node_id"] == "nodelight", "\(read.standardOutput)\(read.standardError)")
            #expect(read.document?["params"]?["Light"]?["Power"] == true)
            #expect(read.document?["params"]?["Schedule"]?["Schedules"] == [])
            let set = try await maker.rainctl(["device", "params", "set", "Light.Power=off", "Light.Name=Desk"] + way)
            #expect(set.document?["nodes"]?.array?.first?["state"] == "reported", "\(set.standardOutput)")
            _ = try await board.journal.entry(where: ["change": "parameters_set"])
            let again = try await maker.rainctl(["device", "params", "get", "Light.Name"] + way)
            #expect(again.document?["params"] == ["Light": ["Name": "Desk"]])
            // More than one fragment of 200 bytes was asked for.
            let requests = try board.journal.entries(where: ["event": "request", "endpoint": "get_config"])
            #expect(requests.count > 3)
        }
    }

    @Test("what the board does not take, and a board without them")
    func refused() async throws {
        try await run(["--local-data", "--security", "1"]) { maker, board, way in
            let wrong = try await maker.rainctl(["device", "params", "set", "Light.Power=bright"] + way)
            wrong.expectFailure(65, "bad_data", says: "true or false")
            #expect(try board.journal.entries(where: ["change": "parameters_set"]).isEmpty)
        }
        try await run(["--security", "1"]) { maker, _, way in
            let absent = try await maker.rainctl(["device", "params", "get"] + way)
            absent.expectFailure(1, "other", says: "rainctl node params")
            #expect(absent.failure?["reason"] == "unsupported")
        }
    }
}
