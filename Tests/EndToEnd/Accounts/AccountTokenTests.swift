// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What scripts and gateways use: each command prints what it was asked for and nothing else.
@Suite("rainctl account: for scripts")
struct AccountTokenTests {
    /// A signed-in maker with a cloud, for as long as `body` runs.
    private func withSession(
        arguments: [String] = [], _ body: (Maker, SimulatedCloud) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(arguments: arguments, in: folder)
            try await maker.signIn(to: cloud)
            try await body(maker, cloud)
        }
    }

    private func session(_ maker: Maker) throws -> String { try maker.folder.read(Maker.sessionFile) }

    private func storedToken(_ maker: Maker) throws -> String {
        try #require(JSONValue(parsing: Array(session(maker).utf8))["accessToken"]?.string)
    }

    @Test("token and header print what a request needs, and nothing else")
    func tokenAndHeader() async throws {
        try await withSession { maker, _ in
            let token = try await maker.rainctl("account", "token")
            #expect(token.status == 0)
            #expect(try token.standardOutput == storedToken(maker) + "\n")
            #expect(token.standardError.isEmpty)
            let header = try await maker.rainctl("account", "header")
            #expect(try header.standardOutput == "Authorization: \(storedToken(maker))\n")
            #expect(header.standardError.isEmpty)
        }
    }

    @Test("status tells from the store who is signed in, with the cloud gone and without a secret")
    func status() async throws {
        try await withSession { maker, cloud in
            try await cloud.process.terminate()
            let status = try await maker.rainctl("account", "status", "--json")
            #expect(status.status == 0)
            let document = try #require(status.document)
            #expect(document["user_name"] == .string(SimulatedCloud.user))
            #expect(document["profile"] == "sim")
            #expect(document["base_url"] == .string(cloud.api))
            #expect(document["store"] == "file")
            #expect(document["store_path"] == .string(maker.folder.file(Maker.sessionFile)))
            #expect(document["expired"] == false)
            #expect(document["renewable"] == true)
            let left = try #require(document["expires_in"]?.integer)
            #expect((3000...3600).contains(left))
            let text = try await maker.rainctl("account", "status")
            #expect(text.standardOutput.contains(SimulatedCloud.user))
            for output in [status.standardOutput, text.standardOutput] {
                #expect(try !output.contains(storedToken(maker)))
            }
        }
    }

    @Test("refresh renews what is still good, once")
    func refresh() async throws {
        try await withSession { maker, cloud in
            let before = try storedToken(maker)
            let outcome = try await maker.rainctl("account", "refresh", "--json")
            #expect(outcome.status == 0)
            #expect(try storedToken(maker) != before)
            #expect(try !outcome.standardOutput.contains(storedToken(maker)))
            #expect(try cloud.journal.entries(where: ["event": "refresh"]).count == 1)
        }
    }

    @Test("nobody signed in: 77, and standard output stays empty", arguments: ["token", "header", "refresh", "status"])
    func notSignedIn(command: String) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Maker(folder).rainctl("account", command)
            #expect(outcome.status == 77)
            #expect(outcome.standardOutput.isEmpty)
            #expect(outcome.standardError.contains("rainctl login"))
        }
    }

    // MARK: curl

    @Test("curl asks as the user, gives back what came, and its exit code is kept")
    func curl() async throws {
        try await withSession { maker, cloud in
            let profile = try await maker.rainctl("account", "curl", "--", "-sS", "/v1/user2")
            #expect(profile.status == 0)
            #expect(profile.document?["user_name"] == .string(SimulatedCloud.user))
            let written = try await maker.rainctl(
                "account", "curl", "--", "-s", "-w", "%{http_code}", cloud.api + "/v1/user2")
            #expect(written.standardOutput.hasSuffix("200"))
            let missing = try await maker.rainctl("account", "curl", "--", "-sf", "/v1/no-such-thing")
            #expect(missing.status == 22, "curl's own: the server refused")
            try await cloud.process.terminate()
            #expect(
                try await maker.rainctl("account", "curl", "--", "-sS", "/v1/user2").status == 7, "curl's own: refused")
        }
    }

    @Test("the token is in no argument and no variable of curl's, and curl can read it")
    func curlArguments() async throws {
        try await withSession { maker, cloud in
            try maker.folder.write(
                """
                #!/bin/sh
                tr '\\0' '\\n' </proc/$$/cmdline
                echo --environment
                env
                echo --configuration
                cat "$3"
                """, to: "curl")
            chmod(maker.folder.file("curl"), 0o755)
            let path = "\(maker.folder.path):/usr/bin:/bin"
            let finished = try await run(
                Executables.path("rainctl"), ["account", "curl", "--", "-s", "/v1/user2"],
                environment: maker.environment.merging(["PATH": path]) { $1 })
            #expect(finished.status == .exited(0))
            let parts = finished.standardOutput.split(separator: "--configuration\n", maxSplits: 1)
            try #require(parts.count == 2)
            let token = try storedToken(maker)
            #expect(!parts[0].contains(token))
            #expect(parts[0].contains("--disable\n--config\n/dev/fd/"))
            #expect(parts[0].contains("\(cloud.api)/v1/user2"))
            #expect(parts[1].contains("header = \"Authorization: \(token)\""))
        }
    }

    @Test(
        "what could show the token or send it elsewhere is refused before anything is sent",
        arguments: [
            ["http://evil.example/"], ["/v1/user2", "https://evil.example/"], ["--url", "http://evil.example/"],
            ["//evil.example/v1"], ["BASE.evil.example/"], ["BASE@evil.example/"], ["-L", "/v1/user2"],
            ["--location-trusted", "/v1/user2"], ["-sSL", "/v1/user2"], ["-v", "/v1/user2"], ["-sv", "/v1/user2"],
            ["--trace-ascii", "-", "/v1/user2"], ["-x", "http://evil.example", "/v1/user2"], ["-k", "/v1/user2"],
            ["--proxy", "http://evil.example", "/v1/user2"], ["--connect-to", "::evil.example:80", "/v1/user2"],
            ["--resolve", "*:80:127.0.0.9", "/v1/user2"], ["--next", "/v1/user2"], ["-:", "/v1/user2"],
            ["-K", "file", "/v1/user2"], ["--config", "file", "/v1/user2"], ["--loc", "/v1/user2"],
            ["-H", "Authorization: x", "/v1/user2"], ["-HAuthorization: x", "/v1/user2"], ["-H", "@file", "/v1/user2"],
            ["--libcurl", "-", "/v1/user2"], ["-w", "@file", "/v1/user2"], ["--no-globoff", "/v1/user2"],
            ["--", "/v1/user2"], ["-o"], ["-s"], [],
        ])
    func curlRefuses(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let port = try LoopbackServer.refusedPort()
            let base = "http://127.0.0.1:\(port)"
            #expect(try await maker.rainctl("profile", "add", "sim", "--base-url", base).status == 0)
            let words = arguments.map { $0.replacing("BASE", with: base) }
            let outcome = try await maker.rainctl(["account", "curl", "--profile", "sim", "--"] + words)
            #expect(outcome.status == 64)
            #expect(outcome.standardError.hasPrefix("error: "))
        }
    }

    @Test("curl's globbing makes no other host of the one that was checked")
    func curlGlobbing() async throws {
        try await withSession { maker, _ in
            let outcome = try await maker.rainctl(
                "account", "curl", "--", "-s", "-w", "%{http_code}\n", "/v1/{user2,x}[1-3]")
            #expect(
                outcome.standardOutput.split(separator: "\n").count { $0.hasSuffix("404") || $0.hasSuffix("400") } == 1)
        }
    }
}
