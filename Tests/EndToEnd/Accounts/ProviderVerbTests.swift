// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The commands of rainctl for SPiD, Liferay and OCLC. Each command and each simulator is a process.
@Suite("rainctl at SPiD, Liferay and OCLC")
struct ProviderVerbTests {
    private struct Desk {
        let maker: Maker
        let simulator: SimulatedIdentity

        func file(_ name: String) -> String { maker.folder.file(name) }

        func does(
            _ words: [String], input: String? = nil, ends status: Int = 0, as reason: String? = nil,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> Maker.Outcome {
            let outcome = try await maker.rainctl(words + ["--json"], input: input.map { .text($0) } ?? .empty)
            #expect(
                outcome.status == status, "\(words): \(outcome.standardOutput)\(outcome.standardError)",
                sourceLocation: sourceLocation)
            if let reason {
                #expect(outcome.failure?["reason"]?.string == reason, "\(words)", sourceLocation: sourceLocation)
            }
            // Nothing that is secret is ever said, whatever happens.
            for secret in ["correct-horse", "planted", "app-1-secret", "backend-1-secret", "wskey-1-secret", "s1gn"] {
                #expect(
                    !outcome.standardOutput.contains(secret) && !outcome.standardError.contains(secret), "\(words)",
                    sourceLocation: sourceLocation)
            }
            return outcome
        }

        /// Moves the simulator's clock; rainctl's own is the machine's.
        func advance(_ provider: String, seconds: Int) async throws {
            let curl = try await ChildProcess.start(
                "/usr/bin/curl",
                ["-sSf", "--json", "{\"offset\":\(seconds)}", try simulator.url(provider) + "/_sim/clock"])
            #expect(try await curl.wait() == .exited(0))
        }
    }

    private func desk(_ providers: String..., body: (Desk) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for (name, text) in [
                ("ada", "correct-horse"), ("not-ada", "planted-password"), ("app", "app-1-secret"),
                ("backend", "backend-1-secret"), ("sign", "s1gn"), ("wskey", "wskey-1-secret"), ("token", "fbtok"),
                ("gate", "planted-gate"),
            ] { folder.writePrivately(Array((text + "\n").utf8), to: name) }
            var simulator: SimulatedIdentity?
            switch providers.first {
            case "liferay": simulator = try await SimulatedIdentity.start("liferay", in: folder)
            case "oclc": simulator = try await SimulatedIdentity.start("oclc", in: folder)
            default: simulator = try await SimulatedIdentity.start("spid", in: folder)
            }
            try await body(Desk(maker: maker, simulator: try #require(simulator)))
        }
    }

    private func spid(_ desk: Desk, _ more: [String] = []) throws -> [String] {
        [
            "login", "ada@example.com", "--provider", "spid", "--base-url", try desk.simulator.url("spid"),
            "--client-id",
            "app-1", "--client-secret-file", desk.file("app"), "--password-file", desk.file("ada"), "--secret-file",
            "signSecret=\(desk.file("sign"))",
        ] + more
    }

    @Test("SPiD: sign in, hand a code to the backend, which redeems it once and in time, and sign out")
    func spidExchange() async throws {
        try await desk("spid") { desk in
            _ = try await desk.does(try spid(desk))
            let who = try await desk.does(["whoami", "--provider", "spid"])
            #expect(who.document?["user_id"] == "1001" && who.document?["attributes"]?["displayName"] != nil)

            // Printed alone, for a pipe.
            let printed = try await desk.maker.rainctl(
                "account", "exchange", "--provider", "spid", "--for-client", "backend-1")
            #expect(printed.status == 0)
            let code = printed.standardOutput
            #expect(code.hasSuffix("\n") && code.dropLast().allSatisfy { $0.isHexDigit } && code.count > 20)

            let backend = try Maker(try TemporaryFolder())
            backend.folder.writePrivately(Array("backend-1-secret\n".utf8), to: "secret")
            let gateway = Desk(maker: backend, simulator: desk.simulator)
            let redeem = [
                "login", "--provider", "spid", "--base-url", try desk.simulator.url("spid"), "--client-id", "backend-1",
                "--client-secret-file", backend.folder.file("secret"), "--code-stdin", "--redirect-uri",
                "http://127.0.0.1/backend",
            ]
            let redeemed = try await gateway.does(redeem, input: code)
            #expect(redeemed.document?["user_id"] == "1001")
            _ = try await gateway.does(redeem, input: code, ends: 77, as: "used_code")

            let late = try await desk.maker.rainctl(
                "account", "exchange", "--provider", "spid", "--for-client", "backend-1")
            try await desk.advance("spid", seconds: 31)
            _ = try await gateway.does(redeem, input: late.standardOutput, ends: 77, as: "code_expired")

            _ = try await desk.does(
                ["account", "exchange", "--provider", "spid", "--for-client", "other-1"], ends: 78, as: "client_refused"
            )
            _ = try await desk.does(["account", "exchange", "--provider", "spid"], ends: 64)
            let session = try await desk.does([
                "account", "web-session", "--provider", "spid", "--redirect-uri", "http://127.0.0.1:4711/callback",
            ])
            #expect(session.document?["url"]?.string?.contains("/session/") == true)
            let open = try await desk.maker.rainctl(
                [
                    "account", "web-session", "--provider", "spid", "--redirect-uri", "http://127.0.0.1:4711/callback",
                    "--open", "--json",
                ], environment: ["PATH": "/nonexistent", "BROWSER": ""])
            #expect(open.status == 69 && open.failure?["reason"] == "no_browser", "\(open.standardOutput)")
            _ = try await desk.does(
                ["account", "web-session", "--provider", "spid", "--redirect-uri", "https://elsewhere.example/"],
                ends: 64,
                as: "missing_parameter")
            let out = try await desk.does(["logout", "--provider", "spid"])
            #expect(out.document?["revoked"] == true)
            _ = try await desk.does(["whoami", "--provider", "spid"], ends: 77, as: "not_signed_in")
        }
    }

    @Test("SPiD: four different words for four ways of not getting in, and a friend's word for getting in")
    func spidRefusals() async throws {
        try await desk("spid") { desk in
            let login = { (user: String, password: String) throws in
                [
                    "login", user, "--provider", "spid", "--base-url", try desk.simulator.url("spid"), "--client-id",
                    "app-1", "--client-secret-file", desk.file("app"), "--password-file", desk.file(password),
                ]
            }
            _ = try await desk.does(try login("ada@example.com", "not-ada"), ends: 77, as: "invalid_credentials")
            _ = try await desk.does(try login("nobody@example.com", "ada"), ends: 77, as: "unknown_user")
            _ = try await desk.does(try login("eve@example.com", "ada"), ends: 77, as: "unverified_user")
            let facebook = [
                "login", "--provider", "spid", "--base-url", try desk.simulator.url("spid"), "--client-id", "app-1",
                "--client-secret-file", desk.file("app"), "--third-party", "facebook", "--third-party-token-file",
                desk.file("token"), "--app-id", "app1",
            ]
            _ = try await desk.does(facebook, ends: 64, as: "missing_parameter")
            let signed = try await desk.does(facebook + ["--secret-file", "signSecret=\(desk.file("sign"))"])
            #expect(signed.document?["user_id"] == "1001")
            _ = try await desk.does(["account", "exchange", "--for-client", "x"], ends: 78, as: "unsupported")
        }
    }

    @Test("Liferay: basic and cookies are tried, and kept only if that is wanted; documents come by the cookie")
    func liferay() async throws {
        try await desk("liferay") { desk in
            let login = { (mode: String, more: [String]) throws in
                [
                    "login", "ada@example.com", "--provider", "liferay", "--base-url",
                    try desk.simulator.url("liferay"),
                    "--password-file", desk.file("ada"), "--mode", mode,
                ] + more
            }
            _ = try await desk.does(try login("basic", []))
            _ = try await desk.does(try login("cookie", ["--store", "file"]))
            _ = try await desk.does(["whoami", "--provider", "liferay"], ends: 77, as: "not_signed_in")
            _ = try await desk.does(try login("basic", ["--save-credentials"]))
            // Without --save-credentials neither the password is kept, nor is what an earlier sign-in kept taken away.
            for options in [[], ["--store", "file"]] {
                let unsaved = try await desk.does(try login("basic", options))
                #expect(unsaved.document?["store"] == "memory", "\(unsaved.standardOutput)")
                #expect(try await desk.does(["whoami", "--provider", "liferay"]).document?["user_id"] == "1001")
            }
            _ = try await desk.does(
                ["account", "fetch", "/documents/10184/0/private.txt", "--provider", "liferay"], ends: 77, as: "expired"
            )

            _ = try await desk.does(try login("cookie", ["--save-credentials"]))
            let fetched = try await desk.maker.rainctl(
                "account", "fetch", "/documents/10184/0/private.txt", "--provider", "liferay")
            #expect(fetched.status == 0 && fetched.standardOutput == "for members\n")
            let offline = try await desk.does(["whoami", "--offline", "--provider", "liferay"])
            #expect(offline.document?["attributes"]?["screenName"] == "ada")
            _ = try await desk.does(
                try login("basic", ["--set", "companyId=20000", "--no-save"]), ends: 77, as: "wrong_context")
            _ = try await desk.does(try login("oauth2Redirect", ["--password-file", desk.file("ada")]), ends: 64)
        }
    }

    @Test("OCLC: a key's own token by signed requests, and the institutions that are missing are named")
    func oclc() async throws {
        try await desk("oclc") { desk in
            let login = { (more: [String]) throws in
                [
                    "login", "--provider", "oclc", "--base-url", try desk.simulator.url("oclc") + "/oauth2",
                    "--client-id",
                    "wskey-1", "--client-secret-file", desk.file("wskey"), "--mode", "client-credentials", "--scope",
                    "WorldCatMetadataAPI",
                ] + more
            }
            _ = try await desk.does(try login([]), ends: 64, as: "missing_parameter")
            _ = try await desk.does(
                try login(["--set", "contextInstitutionId=128807"]), ends: 64, as: "missing_parameter")
            let institutions = [
                "--set", "contextInstitutionId=128807", "--set", "authenticatingInstitutionId=128807", "--set",
                "services=\(try desk.simulator.url("oclc"))",
            ]
            _ = try await desk.does(try login(institutions))
            let record = try await desk.maker.rainctl(
                "account", "fetch", try desk.simulator.url("oclc") + "/bib/data/1039085", "--provider", "oclc")
            #expect(record.status == 0 && record.standardOutput.contains("WorldCatMetadataAPI"))
            let wrong = try login(institutions).map { $0 == desk.file("wskey") ? desk.file("not-ada") : $0 }
            _ = try await desk.does(wrong, ends: 78, as: "client_refused")
        }
    }
}
