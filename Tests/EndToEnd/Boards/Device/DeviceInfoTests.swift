// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl device info")
struct DeviceInfoTests {
    @Test(
        "a board that only prints is known by its log, and nothing else is looked for",
        arguments: [("switch", "softap:?device-name=PROV_", false), ("provisioned", nil, true)])
    func printed(log: String, reached: String?, hasNetwork: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("port"), "--console-dialect", "log-only", "--boot-log", log, "--mapping",
                    "user", "--security", "1",
                ], in: folder)
            let port = try #require(board.console)
            let outcome = try await maker.rainctl("device", "info", "--port", port, "--json")
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let document = try #require(outcome.document)
            #expect(document["takes_commands"] == false && document["association"] == nil)
            #expect(document["chip"] == "esp32c3" && document["esp_idf"] == "v5.5.1")
            #expect(document["reached_at"]?.string?.hasPrefix(reached ?? "?") == (reached == nil ? nil : true))
            #expect((document["has_network"] == true) == hasNetwork)
        }
    }

    @Test("a board that does not start is reported with its cause")
    func down() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("port"), "--console-dialect", "log-only", "--boot-log", "empty-flash",
                    "--mapping", "user", "--security", "1",
                ], in: folder)
            let outcome = try await maker.rainctl("device", "info", "--port", try #require(board.console), "--json")
            outcome.expectFailure(69, "unavailable", says: "Flash the firmware")
        }
    }
}
