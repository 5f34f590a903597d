// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

/// Whichever way a profile comes to lead elsewhere: what was stored for one address is not heard of at another.
@Suite("A session and its address")
struct SessionAddressTests {
    /// Commands that send the session somewhere, or hand it over for the profile's address.
    private static let commands = [
        ["whoami", "--json"], ["node", "list", "--json"], ["account", "token", "--json"],
        ["account", "header", "--json"], ["account", "refresh", "--json"],
        ["account", "update", "--json", "--name", "Ada"], ["account", "curl", "--json", "--", "/v1/user/nodes"],
    ]

    /// Answers nothing good, and remembers what it was sent.
    private func recorder() throws -> LoopbackServer {
        try LoopbackServer { peer in
            while peer.readRequest() != nil { peer.respond("400 Bad Request", "{}") }
        }
    }

    /// - Parameter claim: the profile's claim service.
    private func lead(_ maker: Maker, to base: String, claim: String? = nil) throws {
        let claim = claim.map { #","claim_url":"\#($0)""# } ?? ""
        let content =
            #"{"schemaVersion":1,"current":"sim","deployments":[{"name":"sim","base_url":"\#(base)"\#(claim)}]}"#
        maker.folder.writePrivately(Array(content.utf8), to: "config/rainkit/deployments.json")
    }

    @Test("profile add refuses a name that exists, says the way out, and leaves profile and session as they are")
    func existingName() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let elsewhere = try recorder()
            let refused = try await bench.maker.rainctl(
                "profile", "add", "sim", "--base-url", elsewhere.url, "--json")
            #expect(refused.status == 78 && refused.failure?["code"] == "config", "\(refused.standardOutput)")
            #expect(refused.failure?["message"]?.string?.contains("rainctl profile remove") == true)
            #expect(try await bench.maker.rainctl("whoami").status == 0)
            let shown = try await bench.maker.rainctl("profile", "show", "--json")
            #expect(shown.document?["base_url"] == .string(bench.cloud.api))
            #expect(elsewhere.connections == 0)
        }
    }

    @Test(
        "the tokens of a profile whose address was changed are sent nowhere, nor handed over for it",
        arguments: commands)
    func changedAddress(command: [String]) async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let elsewhere = try recorder()
            try lead(bench.maker, to: elsewhere.url)
            let outcome = try await bench.maker.rainctl(command)
            #expect(outcome.status == 77 && outcome.failure?["reason"] == "wrong_context", "\(outcome.standardOutput)")
            #expect(outcome.failure?["message"]?.string?.contains(bench.cloud.api) == true)
            #expect(elsewhere.connections == 0, "\(elsewhere.seen)")
            // Set back, it goes on.
            try lead(bench.maker, to: bench.cloud.api)
            #expect(try await bench.maker.rainctl("whoami").status == 0)
        }
    }

    @Test("the official client gets no session that is for another address than the profile's")
    func export() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            try lead(bench.maker, to: "http://127.0.0.1:1")
            let outcome = try await bench.maker.rainctl("account", "export", "--to", bench.folder.file("official"))
            #expect(outcome.status == 77, "\(outcome.standardError)")
            #expect(SecretHunt.mode(of: bench.folder.file("official/profiles/sim_config.json")) == nil)
        }
    }

    @Test("a claim service that the session was not made with gets no token")
    func changedClaimService() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let elsewhere = try recorder()
            try lead(bench.maker, to: bench.cloud.api, claim: elsewhere.url)
            let outcome = try await bench.maker.rainctl("whoami", "--json")
            #expect(outcome.status == 77 && outcome.failure?["reason"] == "wrong_context", "\(outcome.standardOutput)")
            #expect(elsewhere.connections == 0)
        }
    }

    @Test(
        "signing out of a profile with a changed address ends the session here, and reports that no server was informed"
    )
    func signOut() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let elsewhere = try recorder()
            try lead(bench.maker, to: elsewhere.url)
            let outcome = try await bench.maker.rainctl("logout", "--json")
            #expect(outcome.status == 0 && outcome.document?["revoked"] == false, "\(outcome.standardOutput)")
            #expect(outcome.standardError.contains(bench.cloud.api), "\(outcome.standardError)")
            #expect(elsewhere.connections == 0)
            #expect(try await bench.maker.rainctl("profile", "remove", "sim").status == 0)
        }
    }

    @Test("signing in again at the new address replaces the session; the old one is not sent there")
    func signInAnew() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            try await withTemporaryFolder { folder in
                let second = try await SimulatedCloud.start(in: folder)
                try lead(bench.maker, to: second.api)
                #expect(try await bench.logIn().status == 0)
                #expect(try await bench.maker.rainctl("whoami").status == 0)
                let paths = try second.journal.entries(where: [:]).compactMap { $0["path"]?.string }
                #expect(paths.contains("/v1/login2") && !paths.contains("/v1/logout2"))
            }
        }
    }

    @Test("a session that was stored before sessions had an address belongs to the one where it is first used")
    func olderSession() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn(["--store", "file"]).status == 0)
            let store = FileCredentialStore(folder: bench.folder.file("state/rainkit/sessions"))
            let key = try CredentialKey("sim", account: SimulatedCloud.user)
            var session = try #require(try store.load(key))
            session.context = [:]
            let older = session
            try await store.exclusively(key, within: .waitLimit) { access async throws(AccountError) in
                try await access.save(older)
            }
            #expect(try await bench.maker.rainctl("account", "status").status == 0)
            let elsewhere = try recorder()
            try lead(bench.maker, to: elsewhere.url)
            let outcome = try await bench.maker.rainctl("whoami", "--json")
            #expect(outcome.status == 77, "\(outcome.standardOutput)")
            #expect(elsewhere.connections == 0)
        }
    }

    @Test("a sign-in that waits for its code is not finished at another address")
    func waitingSignIn() async throws {
        try await StoreBench.with { bench in
            let begun = try await bench.maker.rainctl("login", SimulatedCloud.user, "--one-time-code", "--json")
            #expect(begun.status == 0, "\(begun.standardOutput)")
            let elsewhere = try recorder()
            try lead(bench.maker, to: elsewhere.url)
            let outcome = try await bench.maker.rainctl(
                ["login", SimulatedCloud.user, "--code-stdin", "--json"], input: .text("123456\n"))
            #expect(outcome.failure?["reason"] == "no_pending_sign_in", "\(outcome.standardOutput)")
            #expect(elsewhere.connections == 0)
        }
    }
}
