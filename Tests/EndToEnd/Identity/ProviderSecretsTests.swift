// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import Logging
import RainKitTesting
import TestSupport
import Testing
import RainCore

/// What every provider may know and nobody else: looked for in everything that comes out.
@Suite("No provider's secret gets out")
struct ProviderSecretsTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var id: String
        var name: String
        var settings: ProviderSettings
        var credentials: [SignInCredentials]
        var testDescription: String { id + (settings.mode.map { "/" + $0 } ?? "") }

        init(_ id: String, at name: String, _ settings: ProviderSettings, _ credentials: [SignInCredentials]) {
            (self.id, self.name, self.settings, self.credentials) = (id, name, settings, credentials)
        }
    }

    private static let ada = SignInCredentials.password(user: "ada@example.com", password: Secret("correct-horse"))
    private static let wrong = SignInCredentials.password(user: "ada@example.com", password: Secret("planted-password"))
    private static let institutions = ["authenticatingInstitutionId": "128807", "contextInstitutionId": "128807"]

    private static let cases: [Case] = [
        Case(
            "spid", at: "spid",
            ProviderSettings(
                clientID: "app-1", clientSecret: Secret("app-1-secret"), secrets: ["signSecret": Secret("s1gn")]),
            [
                wrong, ada,
                .thirdParty(
                    ThirdPartyToken(
                        provider: "facebook", token: Secret("planted-token"), expires: nil, applicationID: "app1")),
            ]),
        Case(
            "spid", at: "spid", ProviderSettings(clientID: "app-1", clientSecret: Secret("planted-client-secret")),
            [ada, .clientCredentials]),
        Case("liferay", at: "liferay", ProviderSettings(mode: "basic"), [wrong, ada]),
        Case("liferay", at: "liferay", ProviderSettings(mode: "cookie"), [wrong, ada]),
        Case(
            "liferay", at: "liferay",
            ProviderSettings(
                clientID: "screens-2", clientSecret: Secret("screens-2-secret"),
                scope: ["liferay-json-web-services.everything"], mode: "oauth2UsernameAndPassword"), [wrong, ada]),
        Case(
            "oclc", at: "oclc",
            ProviderSettings(
                clientID: "wskey-1", clientSecret: Secret("wskey-1-secret"), scope: ["WorldCatMetadataAPI"],
                parameters: institutions), [.clientCredentials]),
        Case(
            "oclc", at: "oclc",
            ProviderSettings(
                clientID: "wskey-1", clientSecret: Secret("planted-client-secret"), scope: ["WorldCatMetadataAPI"],
                parameters: institutions), [.clientCredentials]),
        Case(
            "oclc-oauth", at: "oclc",
            ProviderSettings(
                clientID: "wskey-1", clientSecret: Secret("planted-client-secret"), scope: ["WorldCatMetadataAPI"],
                parameters: institutions), [.clientCredentials]),
    ]

    @Test("logs, errors, events and descriptions name none", arguments: cases)
    private func quiet(_ the: Case) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk(the.name, in: folder)
            var settings = the.settings
            settings.base = desk.base + (the.id == "oclc" ? "/oauth2" : "")
            let log = CapturedLog()
            var (shown, secrets, events) = try await live(the, settings, at: desk, log)
            // The session is gone, so its events end.
            for await event in events { dump(event, to: &shown) }
            dump(settings, to: &shown)
            dump(the.credentials, to: &shown)
            shown += log.text
            for request in desk.http.requests {
                if let header = request.authorization { secrets.append(header) }
            }
            #expect(log.levels.allSatisfy { $0 <= .debug })
            #expect(shown.contains("AccountError") && shown.contains("signInFailed"))
            for secret in secrets { #expect(!shown.contains(secret), "\(secret.prefix(12))…") }
        }
    }

    /// Signs in, renews and signs out, well and badly. What anybody could see of it, and what nobody may.
    private func live(
        _ the: Case, _ settings: ProviderSettings, at desk: IdentityDesk, _ log: CapturedLog
    ) async throws -> (shown: String, secrets: [String], events: AsyncStream<AccountEvent>) {
        let logger = Logger(label: "test") { _ in log.handler }
        let session = AccountSession(
            provider: try desk.provider(the.id, settings), http: desk.http, store: desk.store, key: desk.key,
            clock: desk.clock, logger: logger)
        let events = session.events()
        var shown = ""
        var secrets = ["planted", "correct-horse", "-secret\""]
        for credentials in the.credentials {
            let error = await accountError { () throws(AccountError) in
                _ = try await session.signIn(credentials)
                _ = try await session.user()
                _ = try await session.renew()
            }
            dump(error, to: &shown)
            print(error.debugDescription, to: &shown)
            guard let saved = desk.store.load(desk.key) else { continue }
            dump(saved, to: &shown)
            dump(try await session.status(), to: &shown)
            let named = ["user", "user_id", "companyId", "loginBy", "grant", "server_ahead", "is_admin"]
            let kept = saved.tokens.extras.filter { !named.contains($0.key) }.map(\.value)
            for secret in [saved.tokens.access, saved.tokens.refresh].compactMap({ $0 }) + kept {
                secrets.append(secret.revealString())
            }
        }
        dump(try? await session.signOut(), to: &shown)
        _ = await accountError { () throws(AccountError) in try await session.signIn(.guest) }
        return (shown, secrets, events)
    }
}
