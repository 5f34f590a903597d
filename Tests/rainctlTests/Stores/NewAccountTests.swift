// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainKit
import RainKitTesting
import TestSupport
import Testing

/// A sign-in that cannot be noted takes nothing away from the one before it.
@Suite("A new account's place")
struct NewAccountTests {
    private static let user = "dev@example.com"

    /// Signs in at a cloud that plays its script.
    private func signIn(
        _ accounts: AccountDirectory, _ http: ScriptedHTTPClient, token: String,
        before: () throws -> Void = {}
    ) async throws -> AccountError? {
        http.expect(.post, "/v1/login2", #"{"accesstoken":"\#(token)","idtoken":"i","refreshtoken":"r-\#(token)"}"#)
        http.expect(.get, "/v1/user2", #"{"user_id":"user-1","user_name":"\#(Self.user)"}"#)
        let store = try await accounts.newAccount(at: "sim", user: Self.user, in: .kind(.file))
        let session = try session(http, store, account: nil)
        try before()
        do throws(AccountError) {
            _ = try await session.signIn(.password(user: Self.user, password: Secret("password")))
            return nil
        } catch {
            return error
        }
    }

    private func session(
        _ http: ScriptedHTTPClient, _ store: any CredentialStore, account: String?
    ) throws -> AccountSession {
        try AccountSession.rainMaker(
            try Deployment(name: "sim", base: "http://127.0.0.1:1"), http: http, store: store, account: account)
    }

    @Test("a second sign-in that cannot be noted among the accounts is signed out again, and the first one goes on")
    func unnoted() async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            let http = ScriptedHTTPClient()
            #expect(try await signIn(accounts, http, token: "first") == nil)
            // Something is in the way of the list's lock, so that nobody can change it.
            let lock = folder.file(".accounts.json.lock")
            #expect(unlink(lock) == 0)
            try folder.makeFolder(".accounts.json.lock")
            http.expect(unordered: .post, "/v1/logout2?logout_all=false") { request in
                #expect(request.headers.contains { $0.name == "Authorization" && $0.value == "second" })
                return HTTPResponse(status: 200, body: Array(#"{"status":"success"}"#.utf8))
            }
            #expect(try await signIn(accounts, http, token: "second")?.code == .cannotStore)
            let kept = try accounts.account(at: "sim")
            #expect(try await kept.store.load(kept.key)?.tokens.access == Secret("first"))
            http.expect(.get, "/v1/user/nodes") { request in
                #expect(request.headers.contains { $0.name == "Authorization" && $0.value == "first" })
                return HTTPResponse(status: 200, body: Array("{}".utf8))
            }
            let session = try session(http, kept.store, account: kept.key.account)
            _ = try await session.send(HTTPRequest(method: .get, url: "http://127.0.0.1:1/v1/user/nodes"))
            try http.finish()
        }
    }

    @Test("a session that cannot be stored leaves no account behind, and the one in use stays in use")
    func unsaved() async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            try accounts.known.change { content throws(AccountError) in
                content.add(
                    .init(deployment: "sim", name: "other", userName: "other", userID: "2", store: .file))
            }
            let before = try accounts.known.load()
            let http = ScriptedHTTPClient()
            http.expect(unordered: .post, "/v1/logout2?logout_all=false") { _ in
                HTTPResponse(status: 200, body: Array(#"{"status":"success"}"#.utf8))
            }
            let error = try await signIn(accounts, http, token: "first") {
                let key = try CredentialKey("sim", account: Self.user)
                try folder.makeFolder("sessions/\(key.name).json/in-the-way")
            }
            #expect(error?.code == .cannotStore)
            #expect(try accounts.known.load() == before)
            try http.finish()
        }
    }
}
