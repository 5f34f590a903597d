// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

/// `rainctl provision --provider --backend` without a browser: what the backend gets of the user's sign-in.
@Suite("What a backend of one's own gets of a sign-in")
struct OwnCloudSignInTests {
    /// A user who has signed in by password, a backend, and a board that nobody has set up.
    private struct Scene {
        let maker: Maker
        let simulated: SimulatedIdentity
        let board: SimulatedBoard
        let provider: String

        func provision(
            _ other: SimulatedBoard? = nil, backend: String, _ more: [String] = []
        ) async throws -> Maker.Outcome {
            try maker.folder.write(backend, to: "backend.json")
            return try await maker.provision(
                other ?? board,
                ["--provider", provider, "--json", "--backend", maker.folder.file("backend.json")] + more)
        }

        func description(without names: String...) throws -> String {
            let json = try JSONValue(parsing: Array(try simulated.mappingDescription().utf8))
            let members = (json.members ?? []).filter { !names.contains($0.name) }
            return String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
        }

        func requests() throws -> [JSONValue] { try board.journal.entries(where: ["event": "request"]) }
        func states(_ event: String) throws -> [String] {
            try simulated.journal.entries(where: ["event": .string(event)]).compactMap { $0["state"]?.string }
        }
    }

    private func withScene(
        _ provider: String, login options: [String], _ body: (Scene) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start(provider, in: folder)
            let maker = try Maker(folder)
            folder.writePrivately(Array(SimulatedIdentity.password.utf8), to: "ada-password")
            for client in ["app-1", "other-1", "screens-2"] {
                folder.writePrivately(Array("\(client)-secret".utf8), to: client)
            }
            let login = try await maker.rainctl(
                [
                    "login", SimulatedIdentity.user, "--provider", provider, "--base-url", try simulated.url(provider),
                    "--password-file", folder.file("ada-password"), "--store", "file",
                ] + options.map { $0.replacing("FOLDER", with: folder.path) })
            #expect(login.status == 0, "\(login.standardError)")
            let board = try await Self.board("own-node", in: folder)
            try await body(Scene(maker: maker, simulated: simulated, board: board, provider: provider))
        }
    }

    private static func board(_ node: String, in folder: TemporaryFolder) async throws -> SimulatedBoard {
        try await SimulatedBoard.start(["--http", "127.0.0.1:0", "--node-id", node], in: folder)
    }

    private static let spidLogin = ["--client-id", "app-1", "--client-secret-file", "FOLDER/app-1"]

    @Test(
        "SPiD: the backend gets a one-time code, registers the user, and is signed out of; the app's token stays here")
    func spid() async throws {
        try await withScene("spid", login: Self.spidLogin) { scene in
            // Without the setting that lets the app's token go out.
            let backend = try scene.description(without: "sendsProviderToken")
            let outcome = try await scene.provision(backend: backend)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["mapping"] == "confirmed")
            let journal = scene.simulated.journal
            #expect(
                try journal.entries(where: ["event": "exchange", "outcome": "granted", "client": "app-1"]).count == 1)
            let redeemed = try journal.entries(where: [
                "event": "token", "outcome": "granted", "client": "backend-1", "kind": "authorization_code",
            ])
            #expect(redeemed.count == 1)
            #expect(try scene.states("backend_session") == ["registered", "signed_in", "signed_out"])
            #expect(
                try journal.entries(where: ["event": "node_mapping", "user_id": "1001", "state": "confirmed"]).count
                    == 1)

            // A user who is registered signs in again.
            let second = try await Self.board("second-node", in: scene.maker.folder)
            let again = try await scene.provision(second, backend: backend)
            #expect(again.status == 0, "\(again.standardOutput)")
            #expect(
                try scene.states("backend_session") == [
                    "registered", "signed_in", "signed_out", "signed_in", "signed_out",
                ])
        }
    }

    @Test("SPiD: the app's token goes out by the explicit setting only, and without either nothing is sent")
    func explicitly() async throws {
        try await withScene("spid", login: Self.spidLogin) { scene in
            let silent = try scene.description(without: "signIn", "signOut", "sendsProviderToken")
            let refusal = try await scene.provision(backend: silent)
            #expect(refusal.status == 78 && refusal.failure?["reason"] == "unreadable_definition")
            #expect(refusal.failure?["message"]?.string?.contains("sendsProviderToken") == true)
            #expect(try scene.requests().isEmpty)

            let explicit = try scene.description(without: "signIn", "signOut")
            #expect(try await scene.provision(backend: explicit).status == 0)
            #expect(try scene.states("backend_session").isEmpty)
        }
    }

    @Test(
        "SPiD: a client of another merchant, or an address that takes no code, ends the run before the board gets its user"
    )
    func refusedCode() async throws {
        try await withScene("spid", login: Self.spidLogin) { scene in
            let description = try scene.description()
            let foreign = try await scene.provision(
                backend: description.replacing("\"backend-1\"", with: "\"other-1\""))
            #expect(foreign.status == 78 && foreign.failure?["reason"] == "client_refused", "\(foreign.standardOutput)")
            let wrong = try await scene.provision(backend: description.replacing("sessions\"", with: "nothing\""))
            #expect(wrong.status == 77 && wrong.failure?["reason"] == "invalid_grant", "\(wrong.standardOutput)")
            // The board got no user, and the backend no board.
            #expect(try scene.states("node_mapping").isEmpty && scene.states("backend_session").isEmpty)
            #expect(try !scene.requests().contains { $0["endpoint"] == "cloud_user_assoc" })
        }
    }

    @Test(
        "Liferay's modes without an access token are refused before the board is asked", arguments: ["basic", "cookie"])
    func liferay(mode: String) async throws {
        try await withScene("liferay", login: ["--mode", mode, "--save-credentials"]) { scene in
            let outcome = try await scene.provision(backend: try scene.description(), ["--forget-pending"])
            #expect(outcome.status == 78 && outcome.failure?["reason"] == "invalid_configuration")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(message.contains("rainctl login --provider liferay --mode oauth2Redirect"), "\(message)")
            #expect(try scene.requests().isEmpty)
            #expect(
                outcome.standardError.contains("There are no unfinished mappings of earlier runs"),
                "\(outcome.standardError)")
        }
    }

    @Test("what a run left can be given up")
    func givenUp() async throws {
        let options = [
            "--mode", "oauth2UsernameAndPassword", "--client-id", "screens-2", "--client-secret-file",
            "FOLDER/screens-2",
            "--scope", "liferay-json-web-services.everything",
        ]
        try await withScene("liferay", login: options) { scene in
            let description = try scene.description()
            try await scene.simulated.setBackend(status: 503)
            let left = try await scene.provision(backend: description, ["--timeout", "90"])
            #expect(left.status == 75, "\(left.standardOutput)")
            #expect(left.failure?["message"]?.string?.contains("kept") == true)
            try await scene.simulated.setBackend(status: nil)
            let second = try await Self.board("second-node", in: scene.maker.folder)
            let outcome = try await scene.provision(second, backend: description, ["--forget-pending"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["resumed"] == false)
            #expect(
                outcome.document?["warnings"]?.array?.contains { $0["reason"] == "pending_forgotten" } == true,
                "\(outcome.standardOutput)")
            #expect(outcome.standardError.contains("own-node"))
        }
    }
}
