// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import TestSupport
import Testing

@Suite("What a sign-out leaves at a provider that cannot revoke tokens, against its simulator")
struct SignOutReportTests {
    /// Signs in, and out again, at a provider without revocation.
    private func signOut(
        _ settings: JSONValue, clientID: String = "native-1", secret: String? = nil,
        _ body: (AccountSession.SignOutOutcome, IdentityDesk, Tokens) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("oidc", in: folder)
            try await desk.control("settings", ["offers_revocation": false])
            try await desk.control("settings", settings)
            let provider = try ProviderRegistry.builtIn.provider(
                "oidc",
                settings: ProviderSettings(
                    clientID: clientID, clientSecret: secret.map { Secret($0) }, scope: ["openid", "offline_access"],
                    parameters: ["issuer": desk.base]), tools: desk.tools)
            let session = desk.session(provider)
            _ = try await session.signIn(try await provider.signInThroughBrowser(by: PageRobot(http: desk.http)))
            let tokens = try #require(desk.store.load(desk.key)?.tokens)
            let outcome = try await session.signOut()
            #expect(desk.store.load(desk.key) == nil)
            try await body(outcome, desk, tokens)
        }
    }

    private func isTaken(_ tokens: Tokens, at desk: IdentityDesk) async throws -> Bool {
        let header = HTTPHeader("Authorization", "Bearer \(tokens.access.revealString())")
        return try await desk.http.send(
            HTTPRequest(method: .get, url: desk.base + "/userinfo", headers: [header])
        ).status == 200
    }

    @Test("no way to end anything: both tokens are named, with the end that is known")
    func nothing() async throws {
        try await signOut(["offers_end_session": false]) { outcome, desk, tokens in
            guard case .partly(let report) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(report.stillValid.map(\.kind) == [.refresh, .access] && report.page == nil)
            #expect(report.stillValid.map(\.isCertain) == [true, true])
            #expect(report.stillValid.map(\.expires) == [nil, tokens.expires])
            let isTaken = try await isTaken(tokens, at: desk)
            #expect(isTaken)
        }
    }

    @Test("a page to sign out at gets the session's user in a body; the state of the tokens is not known")
    func endSession() async throws {
        try await signOut([:]) { outcome, desk, tokens in
            guard case .partly(let report) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(report.stillValid.map(\.isCertain) == [false, false] && report.page == desk.base + "/logout")
            let request = try #require(desk.http.requests.first { $0.url.hasSuffix("/logout") })
            let body = String(decoding: request.body, as: UTF8.self)
            #expect(request.method == .post && body.contains("client_id=native-1"))
            #expect(body.contains("id_token_hint=\(tokens.identity?.revealString() ?? "?")"))
            let isTaken = try await isTaken(tokens, at: desk)
            #expect(!isTaken)
        }
    }

    @Test("if a server answers questions about tokens, their state is known", arguments: [true, false])
    func introspected(endsTokens: Bool) async throws {
        try await signOut(
            ["end_session_ends_tokens": .bool(endsTokens)], clientID: "web-1", secret: "web-1-secret"
        ) { outcome, _, _ in
            switch outcome {
            case .complete: #expect(endsTokens)
            case .partly(let report):
                #expect(!endsTokens && report.stillValid.map(\.isCertain) == [true, true])
            case .onlyHere(let error): Issue.record("\(error)")
            }
        }
    }
}
