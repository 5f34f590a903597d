// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainKit
import RainKitTesting
import TestSupport
import Testing

@testable import rainctl

@Suite("A sign-in that is not kept leaves what is stored as it is")
struct UnsavedSignInTests {
    /// A sign-in beside an account that an earlier one has stored in a file.
    struct Case: Sendable, CustomTestStringConvertible {
        var kind: CredentialKind
        var choice: StoreChoice
        var savesCredentials: Bool
        var isKept: Bool

        init(_ kind: CredentialKind, _ choice: StoreChoice, saving: Bool, isKept: Bool) {
            (self.kind, self.choice, savesCredentials, self.isKept) = (kind, choice, saving, isKept)
        }

        var testDescription: String { "\(kind.rawValue), \(choice), saving credentials: \(savesCredentials)" }
    }

    static let cases = [
        Case(.oauth, .kind(.memory), saving: false, isKept: false),
        Case(.oauth, .kind(.memory), saving: true, isKept: false),
        Case(.basic, .kind(.memory), saving: false, isKept: false),
        Case(.basic, .kind(.memory), saving: true, isKept: false),
        Case(.cookie, .kind(.memory), saving: true, isKept: false),
        Case(.basic, .kind(.file), saving: false, isKept: false),
        Case(.cookie, .kind(.file), saving: false, isKept: false),
        Case(.basic, .automatic, saving: false, isKept: false),
        Case(.cookie, .automatic, saving: false, isKept: false),
        Case(CredentialKind(rawValue: "another"), .kind(.file), saving: false, isKept: false),
        Case(.oauth, .kind(.file), saving: false, isKept: true),
        Case(.oauth, .automatic, saving: false, isKept: true),
        Case(.basic, .kind(.file), saving: true, isKept: true),
        Case(.cookie, .automatic, saving: true, isKept: true),
    ]

    private static let user = "ada@example.com"
    private static let password = "planted-password"

    /// Signs in beside what the folder has, and returns the events, and the session with its store.
    private func signIn(
        _ one: Case, in accounts: AccountDirectory, as user: String = Self.user
    ) async throws -> (events: [String], session: AccountSession, store: NewAccountStore) {
        let store = try await accounts.newAccount(
            at: "portal", user: user, in: one.choice, savingCredentials: one.savesCredentials)
        let session = AccountSession(
            provider: Portal(kind: one.kind, user: user), http: ScriptedHTTPClient(), store: store,
            key: try CredentialKey("portal"))
        let events = session.events()
        #expect(
            try await session.signIn(.password(user: user, password: Secret(Self.password))).userID == UserID("1001"))
        var names: [String] = []
        for await event in events {
            names.append(event.name)
            if case .signedIn(let status) = event {
                #expect(status.attributes == Portal.attributes)
                break
            }
        }
        return (names, session, store)
    }

    @Test("beside an earlier session of the same user", arguments: cases)
    func besideEarlier(one: Case) async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            _ = try await signIn(Case(.oauth, .kind(.file), saving: false, isKept: true), in: accounts)
            _ = try await signIn(Case(.oauth, .kind(.file), saving: false, isKept: true), in: accounts, as: "bob")
            try accounts.known.change { content throws(AccountError) in try content.use(Self.user, at: "portal") }
            let (list, kept) = (try accounts.known.load(), try accounts.account(at: "portal", named: Self.user))
            let before = try #require(try await kept.store.load(kept.key))

            let (events, session, store) = try await signIn(one, in: accounts)
            #expect(events == (one.isKept ? ["loaded", "saved", "signedIn"] : ["loaded", "signedIn"]))
            #expect(store.outlivesProcess == one.isKept)
            let now = try accounts.account(at: "portal", named: Self.user)
            #expect(now.kind == .file)
            let after = try await now.store.load(now.key)
            #expect((after == before) == !one.isKept)
            if !one.isKept { #expect(try accounts.known.load() == list) }
            // The new session is of use in this process in any case.
            #expect(try await session.userID() == UserID("1001"))
            if !one.savesCredentials { try expectNoPassword(in: folder) }
        }
    }

    @Test("with no session before it, nothing of it is on disk", arguments: cases.filter { !$0.isKept })
    func first(one: Case) async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            #expect(try await signIn(one, in: accounts).events == ["signedIn"])
            #expect(try accounts.known.load() == KnownAccounts.Content())
            #expect(try filesBelow(folder.path).filter { $0.hasSuffix(".json") } == [])
            try expectNoPassword(in: folder)
        }
    }

    private func expectNoPassword(in folder: TemporaryFolder) throws {
        for file in try filesBelow(folder.path) where (try? folder.read(file).contains(Self.password)) == true {
            Issue.record("\(file) has the password")
        }
    }

    @Test("an earlier session of another provider or address is not reported as loaded")
    func foreignSession() async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            let one = Case(.oauth, .kind(.file), saving: false, isKept: true)
            _ = try await signIn(one, in: accounts)
            for provider in [Portal(name: "another"), Portal(base: "https://another.example")] {
                let store = try await accounts.newAccount(at: "portal", user: Self.user, in: .kind(.memory))
                let session = AccountSession(
                    provider: provider, http: ScriptedHTTPClient(), store: store, key: try CredentialKey("portal"))
                let events = session.events()
                _ = try await session.signIn(.password(user: Self.user, password: Secret(Self.password)))
                for await event in events {
                    #expect(event.name == "signedIn")
                    break
                }
            }
        }
    }

    @Test("a failed sign-in reports what is stored once, however often it is tried")
    func failed() async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            _ = try await signIn(Case(.oauth, .kind(.file), saving: false, isKept: true), in: accounts)
            let store = try await accounts.newAccount(at: "portal", user: Self.user)
            let session = AccountSession(
                provider: Portal(), http: ScriptedHTTPClient(), store: store, key: try CredentialKey("portal"))
            let events = session.events()
            for _ in 0..<2 { _ = try? await session.signIn(.password(user: Self.user, password: Secret("wrong"))) }
            // The new account has no session yet: nothing is asked in the name of the earlier one.
            #expect(await code { () throws(AccountError) in try await session.userID() } == "not_signed_in")
            var names: [String] = []
            for await event in events {
                names.append(event.name)
                if names.count == 3 { break }
            }
            #expect(names == ["loaded", "signInFailed invalid_credentials", "signInFailed invalid_credentials"])
        }
    }

    @Test("signing out of a session that was not kept leaves the stored one, and its name in the list")
    func signedOut() async throws {
        try await withTemporaryFolder { folder in
            let http = ScriptedHTTPClient()
            var configuration = RainKitConfiguration(
                state: folder.path, deployment: try Deployment(name: "sim", base: "http://127.0.0.1:1"))
            configuration.environment = [:]
            configuration.tools.http = { _ in http }
            func expectSignIn(_ token: String) {
                http.expect(
                    .post, "/v1/login2", #"{"accesstoken":"\#(token)","idtoken":"i","refreshtoken":"r-\#(token)"}"#)
                http.expect(.get, "/v1/user2", #"{"user_id":"user-1","user_name":"\#(Self.user)"}"#)
            }
            expectSignIn("first")
            let kit = RainKitClient(configuration)
            try await kit.signIn(with: .password(user: Self.user, Secret("p")), keeping: .kind(.file))
            let before = try kit.accounts.known.load()
            expectSignIn("second")
            let other = RainKitClient(configuration)
            try await other.signIn(with: .password(user: Self.user, Secret("p")), keeping: .kind(.memory))
            http.expect(.post, "/v1/logout2?logout_all=false", #"{"status":"success"}"#)
            try await other.signOut()
            #expect(try kit.accounts.known.load() == before)
            let kept = try kit.accounts.account(at: "sim")
            #expect(try await kept.store.load(kept.key)?.tokens.access == Secret("first"))
            try http.finish()
        }
    }

    @Test("the event of a session names the user and has the user's attributes, as the provider names them")
    func attributes() async throws {
        try await withTemporaryFolder { folder in
            let accounts = AccountDirectory(folder: folder.path, environment: [:])
            let one = Case(.basic, .kind(.memory), saving: false, isKept: false)
            let status = try await signIn(one, in: accounts).session.status()
            #expect(
                JSONText.line(EventDocument.Details.session(status)) == """
                    {"user_name":"\(Self.user)","user_id":"1001","attributes":{"screenName":"ada","companyId":10157}}

                    """)
        }
    }
}

/// An identity system that takes one password, and gives a session of that kind.
private struct Portal: IdentityProvider {
    static let attributes: [JSONValue.Member] = [.init("screenName", "ada"), .init("companyId", 10157)]

    var name = "portal"
    var base = "https://portal.example"
    var kind = CredentialKind.oauth
    var user = "ada@example.com"

    var resources: [ServiceURL] { [] }
    var context: [String: String] { ["base": base] }

    func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens {
        guard case .password(_, let password) = credentials, password == Secret("planted-password") else {
            throw AccountError(.invalidCredentials, message: "wrong user name or password")
        }
        var tokens = Tokens(
            kind: kind, access: kind == .oauth ? Secret("token-\(UInt64.random(in: 0..<(1 << 60)))") : password,
            received: SystemWallClock().now)
        if kind == .cookie { (tokens.access, tokens.refresh) = (Secret("JSESSIONID=1"), password) }
        return tokens
    }

    func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens { tokens }

    func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        var info = UserInfo(userID: UserID("1001"), userName: user)
        info.attributes = Self.attributes
        return info
    }

    func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport { .complete }

    func authorize(_ request: inout HTTPRequest, with tokens: Tokens) {}
}
