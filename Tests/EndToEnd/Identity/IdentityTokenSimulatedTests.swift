// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainJSON
import TestSupport
import Testing

/// The OpenID provider that is simulated signs its id tokens; each defect that it can simulate must be noticed.
@Suite("Id tokens of an OpenID provider, against its simulator")
struct IdentityTokenSimulatedTests {
    private func withProvider(
        _ body: (IdentityDesk, ConfiguredProvider) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("oidc", in: folder)
            let settings = ProviderSettings(
                clientID: "native-1", scope: ["openid", "profile", "offline_access"], parameters: ["issuer": desk.base])
            try await body(desk, ProviderRegistry.builtIn.provider("oidc", settings: settings, tools: desk.tools))
        }
    }

    private func signIn(_ desk: IdentityDesk, _ provider: ConfiguredProvider) async throws -> UserInfo {
        let credentials = try await provider.signInThroughBrowser(by: PageRobot(http: desk.http))
        return try await desk.session(provider).signIn(credentials)
    }

    @Test("a good token is taken, whichever way it is signed", arguments: ["ES256", "RS256", "PS256"])
    func good(algorithm: String) async throws {
        try await withProvider { desk, provider in
            try await desk.control("settings", ["signing_algorithm": .string(algorithm)])
            #expect(try await signIn(desk, provider).userID == UserID("1001"))
            #expect(desk.http.count("/jwks") == 1)
            // The keys are kept, and asked for again when a token names another.
            _ = try await desk.session(provider).renew()
            #expect(desk.http.count("/jwks") == 1)
            try await desk.control("settings", ["signing_algorithm": .string(algorithm)])
            _ = try await desk.session(provider).renew()
            #expect(desk.http.count("/jwks") == 2)
        }
    }

    @Test(
        "what is wrong with a token is noticed at the sign-in, and named",
        arguments: [
            ("issuer", "(iss)"), ("audience", "(aud)"), ("nonce", "(nonce)"), ("no_nonce", "(nonce)"),
            ("expired", "(exp)"), ("authorized_party", "(azp)"), ("audiences", "(azp)"), ("algorithm", "none"),
            ("signature", "signature"), ("key", "key"), ("access_token", "(at_hash)"),
        ])
    func wrong(what: String, says: String) async throws {
        try await withProvider { desk, provider in
            // The issuer is wrong in the token alone.
            let credentials = try await provider.signInThroughBrowser(by: PageRobot(http: desk.http))
            try await desk.control("settings", ["wrong": .string(what)])
            let error = await accountError { () async throws(AccountError) in
                try await desk.session(provider).signIn(credentials)
            }
            #expect(
                error?.code == .untrustedAnswer && error?.message.contains(says) == true, "\(what): \(error as Any)")
            #expect(desk.store.load(desk.key) == nil)
        }
    }

    @Test("a renewal for another user is refused: the session keeps its user")
    func subject() async throws {
        try await withProvider { desk, provider in
            try await desk.control("settings", ["rotate": false])
            let user = try await signIn(desk, provider)
            let stored = desk.store.load(desk.key)
            try await desk.control("settings", ["wrong": "subject"])
            let error = await accountError { () async throws(AccountError) in
                try await desk.session(provider).renew()
            }
            #expect(error?.code == .untrustedAnswer && error?.message.contains("(sub)") == true, "\(error as Any)")
            #expect(desk.store.load(desk.key)?.tokens == stored?.tokens)
            try await desk.control("settings", ["wrong": nil])
            #expect(try await desk.session(provider).user().userID == user.userID)
        }
    }

    @Test("other defects of a renewal's token are refused as well", arguments: ["issuer", "audience", "signature"])
    func renewal(what: String) async throws {
        try await withProvider { desk, provider in
            try await desk.control("settings", ["rotate": false])
            _ = try await signIn(desk, provider)
            try await desk.control("settings", ["wrong": .string(what)])
            let error = await accountError { () async throws(AccountError) in
                try await desk.session(provider).renew()
            }
            #expect(error?.code == .untrustedAnswer, "\(what): \(error as Any)")
        }
    }

    @Test("without published keys the connection to the token endpoint vouches for the token")
    func withoutKeys() async throws {
        try await withProvider { desk, provider in
            try await desk.control("settings", ["offers_keys": false, "wrong": "signature"])
            #expect(try await signIn(desk, provider).userID == UserID("1001"))
            #expect(desk.http.count("/jwks") == 0)
        }
    }
}
