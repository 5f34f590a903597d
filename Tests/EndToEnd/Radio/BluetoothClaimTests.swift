// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Claims over Bluetooth: the same conversation, and links that break in the middle of it.
@Suite("rainctl and unclaimed boards over Bluetooth")
struct BluetoothClaimTests {
    /// - Parameter body: gets what the command said, what happened at the board, and the id that it had before.
    private func provision(
        _ options: [String], _ body: (Maker.Outcome, [String], String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud, claims: true)
            let bus = try await SessionBusDaemon(in: folder)
            let environment = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "TMPDIR": folder.path]
            let journal = Journal(path: folder.file("board.ndjson"))
            let board = try await ChildProcess.start(
                try Executables.path("firmware-sim"),
                SimulatedBoard.arguments(
                    [
                        "--ble", "--name", "PROV_c1a1m0", "--journal", journal.path, "--pop",
                        SimulatedBoard.proofOfPossession,
                        "--wifi", "\(SimulatedBoard.ssid):\(SimulatedBoard.passphrase)",
                    ] + cloud.unclaimedBoardOptions + options), environment: environment)
            let ready = try JSONValue(parsing: Array(try await board.readyLine().utf8))
            let outcome = try await maker.rainctl(
                [
                    "provision", "--transport", "ble", "--device-name", "PROV_c1a1m0", "--pop-file", folder.file("pop"),
                    "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--json",
                ] + SimulatedBoard.consent(to: options), environment: environment)
            let changes = try journal.entries(where: ["event": "state"]).compactMap { $0["change"]?.string }
            try await body(outcome, changes, ready["node_id"]?.string ?? "")
            try await board.terminate()
        }
    }

    @Test(
        "an unclaimed board is claimed, mapped and put online",
        arguments: [
            ["--security", "0"], ["--security", "1"], ["--security", "2", "--mapping", "ch-resp"],
            ["--security", "2", "--patch", "0"], ["--security", "1", "--ble-fault", "stack=bluedroid"],
        ])
    func success(options: [String]) async throws {
        try await provision(options) { outcome, changes, formerID in
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["claimed"] == true && outcome.document?["mapping"] == "confirmed")
            #expect(outcome.document?["node_id"]?.string != formerID)
            #expect(changes.contains("claimed") && !changes.contains("claim_aborted"))
        }
    }

    @Test(
        "a board that restarts breaks its link, and the claim starts again in the same run",
        arguments: ["start", "init", "csr", "verify"])
    func restart(step: String) async throws {
        try await provision(["--claim-fault", "reboot-at=\(step)"]) { outcome, changes, _ in
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["claimed"] == true)
            #expect(changes.contains("rebooted") && !changes.contains("claim_aborted"))
            #expect(changes.filter { $0 == "claimed" }.count == 1)
        }
    }

    @Test(
        "a link that breaks over the last piece of the certificate leaves open whether the board has it, which is said")
    func lastPiece() async throws {
        try await provision(["--claim-fault", "reboot-at=store"]) { outcome, changes, _ in
            #expect(outcome.status == 17, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["message"]?.string?.contains("estart") == true, "\(outcome.standardOutput)")
            #expect(changes.last == "rebooted" || !changes.contains("claim_aborted"))
            #expect(changes.filter { $0 == "claim_started" }.count == 1)
        }
    }

    @Test(
        "a claim goes on over the new link where one was lost, at whichever write", arguments: 1...6)
    func lostOnce(seed: Int) async throws {
        let options = [
            "--security", "1", "--mapping", "user", "--ble-fault", "lose=1", "--ble-fault", "losses=1", "--seed",
            "\(seed)",
        ]
        try await provision(options) { outcome, changes, _ in
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["claimed"] == true && outcome.document?["mapping"] == "confirmed")
            #expect(!changes.contains("claim_aborted") && !changes.contains("claim_over"))
        }
    }

    @Test("a claim goes on over broken links, and the board is never told that it ended", arguments: 1...4)
    func brokenLinks(seed: Int) async throws {
        try await provision(["--ble-fault", "lose=0.3", "--seed", "\(seed)"]) { outcome, changes, _ in
            #expect([0, 17].contains(outcome.status), "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(!changes.contains("claim_aborted") && !changes.contains("claim_over"))
            #expect((outcome.status == 0) == changes.contains("mqtt_connected"))
        }
    }

    @Test(
        "a lost piece ends the claim, and the board is informed",
        arguments: ["lose-fragment=2", "oversize-csr", "wrong-csr"])
    func fault(fault: String) async throws {
        try await provision(["--claim-fault", fault]) { outcome, changes, _ in
            #expect(outcome.status == 17, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(changes.contains("claim_aborted") && !changes.contains("claimed"))
            #expect(outcome.failure?["message"]?.string?.contains("estart") == true, "\(outcome.standardOutput)")
        }
    }
}
