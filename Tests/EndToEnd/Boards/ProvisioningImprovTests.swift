// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Boards that take their Wi-Fi by Improv, over the cable.
@Suite("rainctl provision: Improv")
struct ProvisioningImprovTests {
    private static func board(_ folder: TemporaryFolder, _ more: [String] = []) async throws -> SimulatedBoard {
        try await SimulatedBoard.start(
            [
                "--console", folder.file("tty"), "--console-dialect", "improv", "--security", "1", "--mapping", "none",
                "--join-delay", "0.2", "--attempts", "1",
            ] + more, in: folder)
    }

    private static func provision(_ maker: Maker, _ passphrase: String = "wifi") async throws -> Maker.Outcome {
        try await maker.rainctl(
            "provision", "--no-mapping", "--port", maker.folder.file("tty"), "--ssid", SimulatedBoard.ssid,
            "--passphrase-file", maker.folder.file(passphrase), "--json", "--timeout", "120")
    }

    @Test(
        "puts the board on Wi-Fi, whatever it says in the end and however late it boots",
        arguments: [
            [], ["--console-fault", "no-url=1"], ["--console-fault", "result-first=1"],
            ["--console-fault", "silent-success=1"], ["--console-fault", "replug-on-success=1"],
            ["--boot-delay", "3"], ["--console-fault", "storm=50", "--console-noise", "inside"],
            ["--console-fault", "double-line=0.2"],
        ])
    func joins(more: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder, more)
            defer { board.process.kill() }
            let outcome = try await Self.provision(maker)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["ssid"]?.string == SimulatedBoard.ssid)
            let joined = try board.journal.entries(where: ["event": "state", "change": "joined"])
            #expect(joined.count == 1)
        }
    }

    @Test("puts the board into the account as well, over its network: Wi-Fi by cable, account by network")
    func associates() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-improv"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                [
                    "--console", folder.file("tty"), "--console-dialect", "improv", "--security", "1", "--mapping",
                    "ch-resp", "--join-delay", "0.2", "--on-network", "127.0.0.1:0",
                ] + cloud.boardOptions(node: "node-improv"), in: folder)
            defer { board.process.kill() }
            let outcome = try await maker.rainctl(
                "provision", "--port", folder.file("tty"), "--device-host", try #require(board.onNetwork),
                "--pop-file", folder.file("pop"), "--ssid", SimulatedBoard.ssid, "--passphrase-file",
                folder.file("wifi"), "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed" && outcome.document?["node_id"] == "node-improv")
            #expect(outcome.document?["ssid"]?.string == SimulatedBoard.ssid)
        }
    }

    @Test("a wrong password is the network's refusal")
    func wrongPassword() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            defer { board.process.kill() }
            let outcome = try await Self.provision(maker, "wrong")
            outcome.expectFailure(11, "wifi_auth_failed", says: "name and password")
        }
    }

    @Test(
        "a board that takes no settings says why",
        arguments: [("stopped=1", "improv_stopped", "Restart the board"), ("button=1", "not_authorized", "button")])
    func refuses(fault: String, reason: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder, ["--console-fault", fault])
            defer { board.process.kill() }
            let outcome = try await Self.provision(maker)
            outcome.expectFailure(1, "other", says: words)
            #expect(outcome.failure?["reason"]?.string == reason, "\(outcome.standardOutput)")
        }
    }

    @Test("the board is named and its networks are listed")
    func looks() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await Self.board(folder)
            defer { board.process.kill() }
            let info = try await maker.rainctl("device", "info", "--port", folder.file("tty"), "--json")
            #expect(info.status == 0 && info.standardOutput.contains("improv_example 1.0.0"), "\(info)")
            let scan = try await maker.rainctl("device", "scan", "--port", folder.file("tty"), "--json")
            #expect(scan.document?["networks"]?.array?.first?["ssid"]?.string == SimulatedBoard.ssid, "\(scan)")
        }
    }
}
