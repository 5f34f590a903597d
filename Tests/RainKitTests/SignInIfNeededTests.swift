// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKitTesting
import Testing

@testable import RainKit

@Suite("Signing in only if it is needed")
struct SignInIfNeededTests {
    private static let profile = #"{"user_id":"user-1","user_name":"dev@example.com","mfa":false}"#

    private func signIn(_ client: SignedInClient, _ asked: inout Int) async throws -> UserID {
        var count = 0
        defer { asked = count }
        return try await client.kit.signInIfNeeded(user: "dev@example.com") {
            count += 1
            return "planted-password"
        }
    }

    @Test("a session that the cloud accepts needs no password")
    func accepted() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, "/v1/user2", Self.profile)
        var asked = 0
        #expect(try await signIn(client, &asked) == UserID("user-1"))
        #expect(asked == 0)
        try client.http.finish()
    }

    @Test("a cloud that cannot be reached does not end the session")
    func outage() async throws {
        let client = try SignedInClient()
        client.http.expect(.get, "/v1/user2", failure: .unreachable)
        var asked = 0
        #expect(try await signIn(client, &asked) == UserID("user-1"))
        #expect(asked == 0)
    }

    @Test("without a session the password is asked for, once")
    func absent() async throws {
        let http = ScriptedHTTPClient()
        var configuration = RainKitConfiguration.inMemory(
            deployment: try Deployment(name: "sim", base: "http://127.0.0.1:1"))
        configuration.tools.http = { _ in http }
        let kit = RainKitClient(configuration)
        http.expect(
            .post, "/v1/login2", status: 401,
            #"{"status":"failure","error_code":101017,"description":"Incorrect user name or password"}"#)
        var asked = 0
        let error = await kitError {
            try await kit.signInIfNeeded(user: "dev@example.com") {
                asked += 1
                return "planted-password"
            }
        }
        #expect(error?.code == .auth && asked == 1)
        #expect("\(String(describing: error))".contains("planted") == false)
    }
}
