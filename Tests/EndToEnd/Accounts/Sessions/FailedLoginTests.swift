// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

/// What is left of a sign-in that did not succeed, and what is said of it.
@Suite("rainctl: a failed login")
struct FailedLoginTests {
    private func login(_ maker: Maker, at base: String) async throws -> Maker.Outcome {
        #expect(try await maker.rainctl("profile", "add", "s", "--base-url", base).status == 0)
        #expect(try await maker.rainctl("profile", "use", "s").status == 0)
        return try await maker.rainctl(
            "login", "dev@example.com", "--password-file", maker.folder.file("password"), "--timeout", "120")
    }

    @Test("leaves nothing among the sessions, and speaks of no place for them")
    func leavesNothing() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let refusal = #"{"status":"failure","error_code":101009}"#
            let server = try FaultyServer.start { _ in HTTPResponse(status: 400, body: Array(refusal.utf8)) }
            let outcome = try await login(maker, at: server.base)
            #expect(outcome.status == 77, "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("note:"), "\(outcome.standardError)")
            let left = try await run("find", [folder.path, "-name", "*.lock", "-path", "*sessions*"])
            #expect(left.standardOutput == "")
        }
    }

    @Test("names the host as it is spelled")
    func spelling() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await login(try Maker(folder), at: "https://rainkit.invalid")
            #expect(outcome.status == 75)
            let said = outcome.standardError
            #expect(said.contains("error: rainkit.invalid cannot be reached"), "\(said)")
        }
    }

    @Test(
        "a damaged file names itself and the way out",
        arguments: [("state/rainkit/accounts.json", "whoami"), ("config/rainkit/deployments.json", "profile list")])
    func damaged(file: String, command: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let place = folder.file(file)
            let parent = place.split(separator: "/").dropLast().map { "/\($0)" }.joined()
            _ = try await run("install", ["-d", "-m", "700", parent])
            try folder.write("{\"schemaVersion\":1,", to: file)
            _ = try await run("chmod", ["600", place])
            let outcome = try await maker.rainctl(command.split(separator: " ").map { String($0) })
            #expect(outcome.status != 0)
            #expect(outcome.standardError.contains("is damaged: \(place)"), "\(outcome.standardError)")
            #expect(outcome.standardError.contains("move it away and"))
        }
    }
}
