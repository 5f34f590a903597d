// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl provision over a console that logs in the middle of its answers")
struct NoisyConsoleTests {
    @Test("ends as over a quiet one", arguments: [1, 2])
    func provision(seed: Int) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-noisy"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("tty"), "--security", "1", "--console-noise", "inside", "--seed",
                    "\(seed)",
                ] + cloud.boardOptions(node: "node-noisy"), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"]?.string == "confirmed")
        }
    }

    /// The lines a second of the storm. Where nothing else runs it is 3 MB of log, as much as the chip's own USB carries. Elsewhere it is
    /// 6 kB, which any machine reads in time: half of what a cable at 115,200 baud carries.
    private static let linesPerSecond = Timings.isAlone ? 45_000 : 100

    @Test("ends also where the log comes without a pause", arguments: ["rainmaker", "protocomm", "log-only"])
    func storm(dialect: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-storm"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("tty"), "--console-dialect", dialect, "--security", "1", "--mapping",
                    "ch-resp", "--join-delay", "0.2", "--console-fault", "storm=\(Self.linesPerSecond)",
                ] + (dialect == "log-only" ? ["--http", "127.0.0.1:0"] : []) + cloud.boardOptions(node: "node-storm"),
                in: folder)
            let place = board.http.map { ["--device-host", $0] } ?? []
            let outcome = try await maker.rainctl(
                [
                    "provision", "--port", try #require(board.console), "--ssid", SimulatedBoard.ssid,
                    "--passphrase-file",
                ]
                    + [folder.file("wifi"), "--pop-file", folder.file("pop"), "--json"] + place)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
        }
    }

    @Test(
        "ends at its time limit where the log comes faster than this machine reads it",
        arguments: ["rainmaker", "log-only"])
    func flood(dialect: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("tty"), "--console-dialect", dialect, "--security", "1", "--console-fault",
                    "storm=100000",
                ] + (dialect == "log-only" ? ["--http", "127.0.0.1:0"] : []), in: folder)
            let outcome = try await maker.rainctl([
                "provision", "--port", try #require(board.console), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                folder.file("wifi"), "--pop-file", folder.file("pop"), "--no-mapping", "--no-input", "--timeout", "10s",
                "--json",
            ])
            // A fast machine reads it all. A slow one may lose the prompt in it.
            #expect([0, 14, 16, 69].contains(outcome.status), "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }
}
