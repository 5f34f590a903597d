// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@testable import RainKit

@Suite("Accounts that several clients of a process share")
struct SharedAccountsTests {
    /// A process that makes a client for each request, as a server does.
    private struct Server {
        let http = ScriptedHTTPClient()
        let clock = ManualWallClock()
        let shared = SharedAccounts()
        var configuration: RainKitConfiguration

        init(_ folder: TemporaryFolder, environment: [String: String] = [:]) throws {
            configuration = RainKitConfiguration(
                state: folder.path, deployment: try Deployment(name: "sim", base: "http://127.0.0.1:1"))
            configuration.environment = environment
            configuration.tools = RainKitTools(http: { [http] _ in http }, clock: clock)
            configuration.sharedAccounts = shared
        }

        /// The client of a request.
        func client(_ change: (inout RainKitConfiguration) -> Void = { _ in }) -> RainKitClient {
            var configuration = configuration
            change(&configuration)
            return RainKitClient(configuration)
        }

        func signIn(_ user: String, _ store: StoreChoice) async throws -> AccountAccess {
            http.expect(.post, "/v1/login2", #"{"accesstoken":"a-\#(user)","idtoken":"i","refreshtoken":"r"}"#)
            http.expect(.get, "/v1/user2", #"{"user_id":"id-\#(user)","user_name":"\#(user)"}"#)
            let client = client()
            let account = try await client.newAccount(user: user, in: store)
            try await client.signIn(with: .password(user: user, Secret("planted-password")), to: account)
            return account
        }

        /// The user of the next request.
        func user(_ account: String? = nil) async throws -> String {
            try await client { $0.account = account }.userID().rawValue
        }
    }

    @Test("a session in memory is there for the next client, and for no other process")
    func inMemory() async throws {
        try await withTemporaryFolder { folder in
            let server = try Server(folder)
            let account = try await server.signIn("ada", .kind(.memory))
            #expect(account.newSession?.account?.kind == .memory)
            #expect(try await server.user() == "id-ada")
            #expect(try server.client().accounts.known.load().entries.map(\.store) == [.memory])
            server.http.expect(.get, "/v1/user2", #"{"user_id":"id-ada","user_name":"ada"}"#)
            #expect(try await server.client().user().userName == "ada")
            #expect(server.http.requests.last?.headers.first { $0.name == "Authorization" }?.value == "a-ada")

            let stranger = try Server(folder)
            await #expect(throws: RainKitError.self) { try await stranger.user() }
            #expect(try filesBelow(folder.path).filter { $0.hasSuffix(".json") } == [])

            server.http.expect(.post, "/v1/logout2?logout_all=false", #"{"status":"success"}"#)
            try await server.client().signOut()
            await #expect(throws: RainKitError.self) { try await server.user() }
            #expect(try server.client().accounts.known.load().entries == [])
            try server.http.finish()
        }
    }

    @Test(
        "the account that signed in or was chosen last is in use, in memory or on disk, also if another process chose it"
    )
    func accountInUse() async throws {
        try await withTemporaryFolder { folder in
            let server = try Server(folder)
            let elsewhere = AccountDirectory(folder: folder.path, environment: [:]).known
            _ = try await server.signIn("ada", .kind(.file))
            try elsewhere.use("ada", at: "sim")
            let bob = try await server.signIn("bob", .kind(.memory))
            #expect(bob.newSession?.otherAccount == .init(name: "ada", isStillInUse: false))
            #expect(try await server.user() == "id-bob")
            #expect(try await server.user("ada") == "id-ada")
            #expect(try elsewhere.load().current(at: "sim")?.name == "ada")

            try server.client().accounts.known.use("ada", at: "sim")
            #expect(try await server.user() == "id-ada")
            try server.client().accounts.known.use("bob", at: "sim")
            #expect(try await server.user() == "id-bob")
            _ = try await server.signIn("eve", .kind(.file))
            #expect(try await server.user() == "id-ada", "the user had chosen this account")

            try server.client().accounts.known.use("bob", at: "sim")
            try elsewhere.use("eve", at: "sim")
            #expect(try await server.user() == "id-eve")
            #expect(try await server.user("bob") == "id-bob")
        }
    }

    @Test("a session in memory hides a stored one of the same user until it signs out")
    func sameUser() async throws {
        try await withTemporaryFolder { folder in
            let server = try Server(folder)
            _ = try await server.signIn("ada", .kind(.file))
            let list = try readFile(folder.file("accounts.json"))
            _ = try await server.signIn("ada", .kind(.memory))
            #expect(try server.client().account().place.kind == .memory)
            #expect(try readFile(folder.file("accounts.json")) == list)
            server.http.expect(.post, "/v1/logout2?logout_all=false", #"{"status":"success"}"#)
            try await server.client().signOut()
            #expect(try server.client().account().place.kind == .file)
            #expect(try await server.user() == "id-ada")

            _ = try await server.signIn("ada", .kind(.memory))
            _ = try await server.signIn("ada", .kind(.file))
            #expect(try server.client().account().place.kind == .file)
        }
    }

    @Test("tokens that the store cannot save are used by the next client, and not renewed again")
    func unsavedTokens() async throws {
        try await withTemporaryFolder { folder in
            var server = try Server(folder, environment: ["CREDENTIALS_DIRECTORY": folder.path])
            let saved = SavedSession(
                provider: "rainmaker", userID: UserID("id-ada"), userName: "ada",
                tokens: Tokens(
                    access: Secret("old"), refresh: Secret("r"), received: server.clock.now + -7200,
                    expires: server.clock.now + -3600))
            folder.writePrivately(saved.serialized.revealBytes(), to: "rainkit-sim")
            func expectProfile() {
                server.http.expect(.get, "/v1/user2", #"{"user_id":"id-ada","user_name":"ada"}"#)
            }
            server.http.expect(.post, "/v1/login2", #"{"accesstoken":"new","idtoken":"i"}"#)
            for _ in 0..<3 {
                expectProfile()
                #expect(try await server.client().user().userName == "ada")
            }
            try server.http.finish()
            #expect(server.http.requests.count == 4)

            // A client that shares nothing has to renew them.
            server.configuration.sharedAccounts = nil
            server.http.expect(.post, "/v1/login2", #"{"accesstoken":"newer","idtoken":"i"}"#)
            expectProfile()
            #expect(try await server.client().user().userName == "ada")
            try server.http.finish()
        }
    }

    @Test("only accounts of the same service, with the same settings, are shared")
    func services() async throws {
        try await withTemporaryFolder { folder in
            let server = try Server(folder)
            _ = try await server.signIn("ada", .kind(.file))
            let session = try server.client().account().session
            #expect(try server.client().account().session === session)
            #expect(try server.client { $0.account = "ada" }.account().session === session)
            let other = try Deployment(name: "sim", base: "http://127.0.0.1:2")
            #expect(try server.client { $0.deployment = other }.account().session !== session)
            #expect(try server.client { $0.certificateAuthorities = "/ca.pem" }.account().session !== session)
            #expect(try server.client { $0.sharedAccounts = nil }.account().session !== session)
            for number in 0..<20 { _ = try server.client { $0.certificateAuthorities = "/\(number).pem" }.account() }
            #expect(try server.client().account().session !== session, "the oldest is forgotten")
        }
    }
}
