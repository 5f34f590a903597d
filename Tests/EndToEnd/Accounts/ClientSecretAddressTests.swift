// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

/// A client's secret belongs to that client id, at that address.
@Suite("A remembered client secret")
struct ClientSecretAddressTests {
    private static let secret = "planted-client-secret"

    /// Gives everybody a token.
    private func provider() throws -> LoopbackServer {
        try LoopbackServer { peer in
            while peer.readRequest() != nil {
                peer.respond("200 OK", #"{"access_token":"t","expires_in":3600,"sub":"u"}"#)
            }
        }
    }

    private func define(_ folder: TemporaryFolder, token: String = "{base}/token", more: String = "") throws {
        try folder.makeFolder("config/rainkit/providers")
        try folder.write(
            #"""
            {"schemaVersion":1,"id":"mine","endpoints":{"token":"\#(token)"},\#(more)
             "grants":{"clientCredentials":{"publicClient":false,"clientAuthentication":"post"}}}
            """#, to: "config/rainkit/providers/mine.json")
    }

    /// A maker who signed in with the secret of client `one` at `server`, which was sent there.
    private func signedIn(
        at server: LoopbackServer, by option: (String) -> [String] = { ["--base-url", $0] }, in folder: TemporaryFolder
    ) async throws -> Maker {
        let maker = try Maker(folder)
        folder.writePrivately(Array(Self.secret.utf8), to: "secret")
        let outcome = try await maker.rainctl(
            Self.login + option(server.url) + ["--client-id", "one", "--client-secret-file", folder.file("secret")])
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(uses(of: server) == 1)
        return maker
    }

    private static let login = [
        "login", "--provider", "mine", "--mode", "client-credentials", "--store", "file", "--json",
    ]

    /// How many requests had the secret in them.
    private func uses(of server: LoopbackServer) -> Int {
        server.seen.count { request in
            (request.lines.joined() + String(decoding: request.body, as: UTF8.self)).contains(Self.secret)
        }
    }

    @Test("is used again for the same client at the same address")
    func sameClient() async throws {
        try await withTemporaryFolder { folder in
            let server = try provider()
            try define(folder)
            let maker = try await signedIn(at: server, in: folder)
            #expect(try await maker.rainctl(Self.login).status == 0)
            #expect(uses(of: server) == 2)
        }
    }

    @Test("is not sent to another address, whether it is the base URL or another setting", arguments: [false, true])
    func otherAddress(bySetting: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (server, other) = (try provider(), try provider())
            if bySetting {
                let issuer = #""parameters":[{"name":"issuer"}],"resources":["{issuer}"],"#
                try define(folder, token: "{issuer}token", more: issuer)
            } else {
                try define(folder)
            }
            let address = { (url: String) in bySetting ? ["--set", "issuer=\(url)"] : ["--base-url", url] }
            let maker = try await signedIn(at: server, by: address, in: folder)
            let outcome = try await maker.rainctl(Self.login + address(other.url))
            #expect(outcome.status == 64, "\(outcome.standardOutput)")
            #expect(outcome.failure?["reason"] == "missing_parameter")
            #expect(outcome.failure?["message"]?.string?.contains("--client-secret-file") == true)
            #expect(uses(of: other) == 0, "\(other.seen)")
        }
    }

    @Test("is not used for another client id")
    func otherClient() async throws {
        try await withTemporaryFolder { folder in
            let server = try provider()
            try define(folder)
            let maker = try await signedIn(at: server, in: folder)
            let outcome = try await maker.rainctl(Self.login + ["--client-id", "two"])
            #expect(
                outcome.status == 64 && outcome.failure?["reason"] == "missing_parameter", "\(outcome.standardOutput)")
            #expect(uses(of: server) == 1, "\(server.seen)")
        }
    }

    @Test("is not sent to where the provider's definition leads meanwhile, and neither is the session")
    func otherDefinition() async throws {
        try await withTemporaryFolder { folder in
            let (server, other) = (try provider(), try provider())
            try define(folder)
            let maker = try await signedIn(at: server, in: folder)
            try define(folder, token: other.url + "token")
            for command in [Self.login, ["account", "refresh", "--provider", "mine", "--json"]] {
                let outcome = try await maker.rainctl(command)
                #expect(outcome.status != 0, "\(outcome.standardOutput)")
            }
            #expect(other.seen.isEmpty, "\(other.seen)")
        }
    }

    @Test("of the definition's own client is used for no other one, and nowhere else")
    func definedClient() async throws {
        try await withTemporaryFolder { folder in
            let (server, other) = (try provider(), try provider())
            let maker = try Maker(folder)
            folder.writePrivately(Array(Self.secret.utf8), to: "secret")
            let client = #""client":{"id":"own","secretFile":"\#(folder.file("secret"))"},"#
            let place = #""environments":{"usual":"\#(server.url)"},"defaultEnvironment":"usual","#
            try define(folder, more: client + place)
            for more in [["--base-url", other.url], ["--client-id", "two"]] {
                let outcome = try await maker.rainctl(Self.login + more)
                #expect(outcome.status == 64, "\(outcome.standardOutput)")
            }
            #expect(uses(of: other) == 0 && uses(of: server) == 0, "\(other.seen) \(server.seen)")
        }
        try await withTemporaryFolder { folder in
            let server = try provider()
            let maker = try Maker(folder)
            folder.writePrivately(Array(Self.secret.utf8), to: "secret")
            let client = #""client":{"id":"own","secretFile":"\#(folder.file("secret"))"},"#
            let place = #""environments":{"usual":"\#(server.url)"},"defaultEnvironment":"usual","#
            try define(folder, more: client + place)
            #expect(try await maker.rainctl(Self.login).status == 0)
            #expect(uses(of: server) == 1)
        }
    }
}
