// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import TestSupport
import Testing
import RainCore

@Suite("Liferay's cookies are renewed, and only the portal's own word ends them")
struct LiferayRenewalTests {
    private static let ada = SignInCredentials.password(
        user: SimulatedIdentity.user, password: Secret(SimulatedIdentity.password))

    @Test(
        "what something before the portal says to a renewal ends no session, whatever its status",
        arguments: [
            (400, "rejected"), (401, "server_fault"), (403, "forbidden"), (404, "unsupported"), (407, "server_fault"),
            (408, "rejected"), (429, "rate_limited"),
        ])
    func before(status: Int64, reason: String) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let session = desk.session(try desk.provider("liferay", ProviderSettings(mode: "cookie")))
            _ = try await session.signIn(Self.ada)
            let saved = desk.store.load(desk.key)
            try await desk.advance(seconds: 901)
            let rule: JSONValue = [
                "path": "/c/portal/login", "action": "html", "status": .integer(status), "retry_after": 7,
            ]
            try await desk.control("faults", ["rules": [rule]])
            let error = await accountError { () throws(AccountError) in try await session.user() }
            #expect(error?.code.description == reason)
            #expect(status != 429 || error?.retryAfter == .seconds(7))
            #expect(desk.store.load(desk.key) == saved)
        }
    }

    @Test("a page without a token ends a session only if the portal itself does not know who is asking")
    func withoutToken() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let session = desk.session(try desk.provider("liferay", ProviderSettings(mode: "cookie")))
            _ = try await session.signIn(Self.ada)
            let saved = try #require(desk.store.load(desk.key))
            try await desk.advance(seconds: 901)
            // Another server's page replaces all pages, or only the portal's form.
            for path in ["/*", "/c/portal/login"] {
                try await desk.control("faults", ["rules": [["path": .string(path), "action": "html"]]])
                #expect(await code { () throws(AccountError) in try await session.user() } == "malformed_answer")
                #expect(desk.store.load(desk.key) == saved)
            }
            try await desk.control("faults", ["rules": []])
            // The password has been changed: the portal shows its form again, and takes us for a stranger.
            var old = saved
            old.tokens.refresh = Secret("the-old-one")
            let (store, changed) = (desk.store, old)
            try await store.exclusively(desk.key, within: .waitLimit) { access async throws(AccountError) in
                try await access.save(changed)
            }
            #expect(await code { () throws(AccountError) in try await session.user() } == "expired")
            #expect(desk.store.load(desk.key) == nil)
        }
    }
}
