// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The same as in ``KilledRunTests``, on RainMaker's own console, whose `wifi-prov` does not report its result.
@Suite("rainctl: a run that was killed on RainMaker's console")
struct KilledConsoleRunTests {
    struct Firmware: CustomTestStringConvertible, Sendable {
        var options: [String]
        var testDescription: String { options.joined(separator: " ") }

        /// Hands everything to the provisioning service, which refuses it while it tries something else.
        static let early = Firmware(options: ["--preset", "rainmaker-1.0", "--attempts", "3", "--reset-on-failure"])
        static let all = [
            Firmware(options: ["--attempts", "3", "--reset-on-failure", "--mapping", "user"]),
            Firmware(options: ["--attempts", "0", "--mapping", "user"]), early,
        ]
    }

    /// - Parameter body: gets the outcome of a run after one that was killed while the board was joining.
    private func afterKilledRun(
        _ firmware: Firmware, passphrase: String, ssid: String = SimulatedBoard.ssid, joinDelay: String = "1.4",
        _ body: (Maker.Outcome, SimulatedBoard) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-typed"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let options =
                BoardLine.rainmaker.options(in: folder) + [
                    "--security", "1", "--join-delay", joinDelay, "--console-noise", "none",
                    "--wifi", "Other:planted-passphrase", "--wifi", "Home:planted-passphrase",
                ]
            let board = try await SimulatedBoard.start(
                options + firmware.options + cloud.boardOptions(node: "node-typed"), in: folder)
            let child = try await maker.start(
                ["provision"] + Maker.way(to: board) + [
                    "--ssid", ssid, "--passphrase-file", folder.file(passphrase), "--events", "ndjson",
                ])
            try await child.output(containing: #""step":"connect""#)
            child.kill()
            _ = try await child.wait()
            let outcome = try await maker.provision(board, ["--json", "--events", "ndjson"])
            try await body(outcome, board)
        }
    }

    @Test("with a wrong password does not keep the next one from applying the right one", arguments: Firmware.all)
    func correctedPassword(firmware: Firmware) async throws {
        try await afterKilledRun(firmware, passphrase: "wrong") { outcome, board in
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
            let joined = try board.journal.entries(where: ["change": "joined"])
            #expect(joined.count == 1, "\(joined)")
        }
    }

    @Test("while the board was joining is finished by the next", arguments: Firmware.all)
    func whileJoining(firmware: Firmware) async throws {
        try await afterKilledRun(firmware, passphrase: "wifi", joinDelay: "6") { outcome, _ in
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
        }
    }

    @Test("with another network is followed on early firmware, and where the board is then is what is said")
    func otherNetwork() async throws {
        try await afterKilledRun(.early, passphrase: "wifi", ssid: "Other", joinDelay: "20") { outcome, _ in
            outcome.expectFailure(1, "other", says: "The board is already on the network Other")
            #expect(outcome.failure?["step"] == "join")
        }
    }
}
