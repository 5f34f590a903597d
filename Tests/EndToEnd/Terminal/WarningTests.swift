// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A script that reads documents or events, and nobody's standard error, learns what a person is warned of.
@Suite("rainctl warnings")
struct WarningTests {
    private static let board = ["--http", "127.0.0.1:0", "--security", "1", "--no-pop", "--join-delay", "0"]

    @Test("are in the document, even if nothing is printed for people", arguments: [[], ["--quiet"]])
    func document(quiet: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board, in: folder)
            let outcome = try await maker.provision(board, ["--no-mapping", "--json"] + quiet)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let warnings = outcome.document?["warnings"]?.array ?? []
            #expect(warnings.first?["reason"] == "proof_not_used", "\(outcome.standardOutput)")
            #expect(warnings.first?["message"]?.string?.contains("is not used") == true)
            #expect(warnings.count == 1)
            #expect(outcome.standardError.contains("warning:") == quiet.isEmpty)
        }
    }

    @Test("are in an error's document, in the order in which they came")
    func failure() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board + ["--fail", "not-found"], in: folder)
            let outcome = try await maker.rainctl(
                ["provision"] + Maker.way(to: board) + [
                    "--pop", "planted-pop", "--ssid", "Home", "--passphrase-file", folder.file("wifi"), "--no-mapping",
                    "--json",
                ])
            #expect(outcome.status == 12, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.failure?["code"] == "wifi_ap_not_found")
            let warnings = outcome.document?["warnings"]?.array ?? []
            #expect(warnings.first?["reason"] == "secret_in_arguments", "\(outcome.standardOutput)")
            #expect(warnings.last?["reason"] == "proof_not_used", "\(outcome.standardOutput)")
        }
    }

    @Test("are events", arguments: [false, true])
    func events(json: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(Self.board, in: folder)
            let outcome = try await maker.provision(
                board, ["--no-mapping", "--events", "ndjson"] + (json ? ["--json"] : []))
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let warnings = try outcome.events().filter { $0["state"] == "warning" }
            #expect(warnings.count == 1, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(warnings.first?["step"] == "secure")
            #expect(warnings.first?["code"] == "ok")
            #expect(warnings.first?["reason"] == "proof_not_used")
            #expect(warnings.first?["detail"]?.string?.contains("is not used") == true)
        }
    }

    @Test("are not in a document that has none")
    func none() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let board = try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--security", "1"], in: folder)
            let outcome = try await maker.rainctl(["device", "info", "--json"] + Maker.way(to: board))
            #expect(outcome.status == 0)
            #expect(outcome.document != nil && outcome.document?["warnings"] == nil)
        }
    }
}
