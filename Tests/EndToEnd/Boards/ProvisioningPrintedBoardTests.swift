// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Boards on the chip's own USB, which print their log and take no commands: the log names the way to them.
@Suite("rainctl provision: a board that only prints")
struct ProvisioningPrintedBoardTests {
    static let logs = ["led-light", "switch"]

    @Test(
        "is reached over Bluetooth by what its log says, and no proof of possession is typed",
        arguments: logs + ["older"])
    func bluetooth(log: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-printed"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let port = folder.file("port")
            let radio = try await SimulatedBluetooth.start(
                ["--console", port, "--console-dialect", "log-only", "--boot-log", log, "--join-delay", "0.2"]
                    + cloud.boardOptions(node: "node-printed"), in: folder)
            let outcome = try await maker.rainctl(
                [
                    "provision", "--port", port, "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                    folder.file("wifi"),
                    "--json", "--device-log", folder.file("device.log"), "-v",
                ], environment: radio.environment)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed" && outcome.document?["node_id"] == "node-printed")
            let kept = try folder.read("device.log")
            #expect(kept.contains("2nd stage bootloader") && kept.contains("Got IP"), "\(kept)")
            for text in [kept, outcome.standardError, outcome.standardOutput] {
                #expect(!text.contains(SimulatedBoard.proofOfPossession) && !text.contains(SimulatedBoard.passphrase))
            }
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("is reached at its own access point if its log names that", arguments: logs + ["wifi-prov"])
    func softAP(log: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-printed"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                Self.board(log, in: folder) + ["--http", "127.0.0.1:0", "--mapping", "ch-resp"]
                    + cloud.boardOptions(node: "node-printed"),
                in: folder)
            let outcome = try await maker.rainctl(
                "provision", "--port", try #require(board.console), "--device-host", try #require(board.http), "--ssid",
                SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
        }
    }

    private static func board(_ log: String, in folder: TemporaryFolder) -> [String] {
        [
            "--console", folder.file("port"), "--console-dialect", "log-only", "--boot-log", log, "--security", "2",
            "--mapping",
            "ch-resp", "--join-delay", "0.2",
        ]
    }

    @Test(
        "that does not start is reported with its cause",
        arguments: [
            ("empty-flash", "empty_flash", "Flash the firmware"), ("crash-loop", "crash", "firmware crashed"),
            ("brown-out", "brown_out", "shorter cable"), ("download", "download_mode", "press RESET"),
            ("no-application", "no_application", "Flash the firmware again"),
            ("wrong-chip", "wrong_chip", "another chip"),
            ("unreadable", "unreadable_log", "115200"), ("provisioned", "already_provisioned", "BOOT button"),
        ])
    func trouble(log: String, reason: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board(log, in: folder) + ["--mapping", "user"], in: folder)
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--port", try #require(board.console), "--ssid", "Home",
                "--passphrase-file",
                folder.file("wifi"), "--json")
            outcome.expectFailure(69, "unavailable", says: words)
            #expect(outcome.failure?["reason"]?.string == reason, "\(outcome.standardOutput)")
        }
    }

    @Test(
        "a console is still found where the same log comes, however late it boots",
        arguments: ["protocomm", "rainmaker"])
    func console(dialect: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("port"), "--console-dialect", dialect, "--boot-delay", "4", "--security",
                    "1",
                    "--join-delay", "0.2", "--mapping", "user",
                ], in: folder)
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--port", try #require(board.console), "--pop-file", folder.file("pop"),
                "--ssid",
                SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }

    @Test("a proof of possession in the log of a board with a console is not typed either")
    func consoleProof() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("port"), "--console-dialect", "protocomm", "--boot-log", "wifi-prov",
                    "--security", "1", "--join-delay", "0.2", "--mapping", "user",
                ], in: folder)
            let outcome = try await maker.rainctl(
                "provision", "--no-mapping", "--port", try #require(board.console), "--ssid", SimulatedBoard.ssid,
                "--passphrase-file", folder.file("wifi"), "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }
}
