// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainCore
import RainHTTP
import RainKitTesting
import TestSupport
import Testing

@testable import RainAccount

@Suite("The proof of a request, for another program that sends it")
struct RequestProofTests {
    private func session(_ members: String, _ tokens: Tokens? = nil) async throws -> AccountSession {
        let bench = try ProviderBench(members)
        let key = try CredentialKey("test")
        let saved = SavedSession(
            provider: "test", userID: UserID("1"), userName: "ada",
            tokens: tokens ?? Tokens(access: Secret("a/b +c=="), received: bench.clock.now),
            context: bench.provider.context)
        return AccountSession(
            provider: bench.provider, http: bench.http, store: InMemoryCredentialStore([key: saved]), key: key,
            clock: bench.clock, timer: ManualClock())
    }

    static let placements: [(members: String, headers: [String], query: [String], header: String)] = [
        ("", ["Authorization: Bearer a/b +c=="], [], "Authorization: Bearer a/b +c=="),
        (#""placement":{"kind":"bearer"}"#, ["Authorization: Bearer a/b +c=="], [], "Authorization: Bearer a/b +c=="),
        (#""placement":{"kind":"raw"}"#, ["Authorization: a/b +c=="], [], "Authorization: a/b +c=="),
        (
            #""placement":{"kind":"query","name":"oauth_token"}"#, [], ["oauth_token=a%2Fb%20%2Bc%3D%3D"],
            "Authorization: Bearer a/b +c=="
        ),
        (#""placement":{"kind":"query"}"#, [], ["access_token=a%2Fb%20%2Bc%3D%3D"], "Authorization: Bearer a/b +c=="),
    ]

    @Test("a token goes where the provider accepts it, and can always be sent in a header", arguments: placements)
    func placement(members: String, headers: [String], query: [String], header: String) async throws {
        let session = try await session(members)
        let proof = try await session.requestProof()
        #expect(proof.headers.map { "\($0.name): \($0.value.revealString())" } == headers)
        #expect(proof.query.map { "\($0.name)=\($0.value.revealString())" } == query)
        let own = try await session.authorization()
        #expect("\(own.name): \(own.value.revealString())" == header)
        // It cannot be printed by accident.
        #expect(!"\(proof)".contains("a/b") && !"\(proof)".contains("%2Fb"))
    }

    /// With the stored host, or the provider's if an earlier version stored none.
    @Test(
        "the credentials for a server in front are sent only to that host",
        arguments: [
            (nil, ["http://127.0.0.1:1/me?a=b"], true), ("127.0.0.1:1", ["http://127.0.0.1:1/me"], true),
            (nil, ["http://127.0.0.1:2/me"], false), ("127.0.0.1:2", ["http://127.0.0.1:1/me"], false),
            (nil, ["http://127.0.0.1:1/me", "http://127.0.0.1:2/me"], false), (nil, [], false),
        ] as [(String?, [String], Bool)])
    func gate(host: String?, urls: [String], passes: Bool) async throws {
        var tokens = Tokens(access: Secret("t"), received: UnixTime(seconds: 1_800_000_000))
        tokens["preAuthorizationHeader"] = "Proxy-Authorization"
        tokens["preAuthorization"] = "Basic Zzpw"
        tokens["preAuthorizationHost"] = host
        let proof = try await session("", tokens).requestProof(for: urls)
        #expect(proof.headers.map(\.name) == ["Authorization"] + (passes ? ["Proxy-Authorization"] : []))
        #expect(proof.query.isEmpty)
    }

    @Test("a provider that places the token itself has no header to return")
    func none() async throws {
        let session = try await session(#""placement":{"kind":"none"}"#)
        #expect(try await session.requestProof().isEmpty)
        let error = await accountError { () async throws(AccountError) in _ = try await session.authorization() }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("a portal's cookies are headers too, but not an Authorization header")
    func cookies() async throws {
        let (http, clock) = (ScriptedHTTPClient(), ManualWallClock())
        let provider = try ProviderRegistry.builtIn.provider(
            "liferay", settings: ProviderSettings(base: "http://127.0.0.1:1", mode: "cookie"),
            tools: ProviderBench.tools(http, clock))
        let key = try CredentialKey("liferay")
        var tokens = Tokens(kind: .cookie, access: Secret("JSESSIONID=s1"), received: clock.now)
        tokens["csrf"] = "AbC12345"
        let saved = SavedSession(
            provider: "liferay", userID: UserID("1001"), userName: "ada", tokens: tokens, context: provider.context)
        let session = AccountSession(
            provider: provider, http: http, store: InMemoryCredentialStore([key: saved]), key: key, clock: clock,
            timer: ManualClock())
        let proof = try await session.requestProof()
        #expect(proof.headers.map(\.name) == ["Cookie", "X-CSRF-Token"] && proof.query.isEmpty)
        let error = await accountError { () async throws(AccountError) in _ = try await session.authorization() }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("Liferay") == true, "\(error as Any)")
    }
}
