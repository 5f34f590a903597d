// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// `rainctl provision --provider`: the user of another identity system, and a backend of the user's own that records whose a board is.
@Suite("Boards for users of another identity system", .browser, .serialized)
struct OwnCloudTests {
    /// One signed-in user with a backend beside their provider, and a board that nobody has set up.
    private struct Scene {
        let maker: Maker
        let simulated: SimulatedIdentity
        let board: SimulatedBoard
        let provider: String
        let userID: String
        let backend: String

        func provision(_ more: [String] = [], backend: Bool = true) async throws -> Maker.Outcome {
            let options = backend ? ["--backend", self.backend] : []
            return try await maker.provision(board, ["--provider", provider, "--json"] + options + more)
        }

        func mappings() throws -> [JSONValue] { try simulated.journal.entries(where: ["event": "node_mapping"]) }
        func requests() throws -> [JSONValue] { try board.journal.entries(where: ["event": "request"]) }
    }

    private func withScene(
        _ one: ProviderBrowserTests.Case, _ body: (Scene) async throws -> Void
    ) async throws {
        try await ProviderBrowserTests.withScene(one) { maker, options, browser, simulated in
            let child = try await maker.start(options + ["--no-browser", "--redirect", "loopback"])
            defer { child.kill() }
            try await ProviderBrowserTests.signIn(browser, at: try await ProviderBrowserTests.page(of: child))
            #expect(try await child.wait() == .exited(0), "\(child.standardError)")
            let who = try await maker.rainctl("whoami", "--provider", one.provider, "--json")
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--node-id", "own-node"], in: maker.folder)
            try maker.folder.write(try simulated.mappingDescription(), to: "backend.json")
            try await body(
                Scene(
                    maker: maker, simulated: simulated, board: board, provider: one.provider,
                    userID: try #require(who.document?["user_id"]?.string), backend: maker.folder.file("backend.json")))
        }
    }

    @Test("the backend learns the provider's user and the board", arguments: ProviderBrowserTests.ownClouds)
    func success(one: ProviderBrowserTests.Case) async throws {
        try await withScene(one) { scene in
            let outcome = try await scene.provision()
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["node_id"] == "own-node" && outcome.document?["mapping"] == "confirmed")
            let confirmed = try scene.mappings().filter { $0["state"] == "confirmed" }
            #expect(confirmed.count == 1, "\(confirmed)")
            #expect(confirmed.first?["node"] == "own-node")
            #expect(confirmed.first?["user_id"] == .string(scene.userID))
            #expect(confirmed.first?["provider"] == .string(scene.provider))
        }
    }

    @Test("without a backend it is a usage error, by option or by environment, and nothing goes to the board")
    func noBackend() async throws {
        try await withScene(ProviderBrowserTests.ownClouds[0]) { scene in
            let named = try await scene.provision(backend: false)
            #expect(named.status == 64, "\(named.standardOutput)")
            #expect(named.failure?["message"]?.string?.contains("--backend") == true)
            let byEnvironment = try await scene.maker.rainctl(
                ["provision", "--json"] + Maker.way(to: scene.board)
                    + ["--ssid", "Home", "--passphrase-file", scene.maker.folder.file("wifi")],
                environment: ["RAINKIT_PROVIDER": scene.provider])
            #expect(byEnvironment.status == 64, "\(byEnvironment.standardOutput)")
            #expect(try scene.requests().isEmpty)
        }
    }

    /// What is wrong with the backend, and how rainctl ends.
    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: Int
        var status: Int
        var isKept: Bool
        var testDescription: String { name }
    }

    static let faults = [
        Fault(name: "a token that is not taken", answer: 401, status: 77, isKept: true),
        Fault(name: "a backend that is down", answer: 503, status: 75, isKept: true),
        Fault(name: "a backend that refuses", answer: 422, status: 13, isKept: false),
    ]

    @Test(
        "a refused token, a backend that is down, and one that refuses the board are distinguished", arguments: faults)
    func refused(fault: Fault) async throws {
        try await withScene(ProviderBrowserTests.ownClouds[0]) { scene in
            try await scene.simulated.setBackend(status: fault.answer)
            let outcome = try await scene.provision(["--timeout", "60"])
            #expect(outcome.status == fault.status, "\(outcome.standardOutput)")
            guard fault.isKept else { return }
            // In its last second the board refuses every proof.
            _ = try await scene.board.journal.entry(where: ["change": "service_stopped"])
            // Nothing is lost: the next run finishes at the backend what this one could not.
            try await scene.simulated.setBackend(status: nil)
            let again = try await scene.provision()
            #expect(again.status == 0 && again.document?["mapping"] == "confirmed", "\(again.standardOutput)")
            #expect(try scene.mappings().contains { $0["state"] == "confirmed" && $0["node"] == "own-node" })
        }
    }
}
