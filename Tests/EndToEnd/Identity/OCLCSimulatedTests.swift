// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing
import RainCore

private let institutions = ["authenticatingInstitutionId": "128807", "contextInstitutionId": "128807"]

private struct Library {
    let desk: IdentityDesk

    init(_ folder: TemporaryFolder) async throws { desk = try await IdentityDesk("oclc", in: folder) }

    func provider(
        _ id: String = "oclc", scope: [String] = ["WMS_NCIP"], secret: String? = nil,
        _ parameters: [String: String] = institutions
    ) throws -> ConfiguredProvider {
        var parameters = parameters
        parameters["services"] = desk.base
        return try desk.provider(
            id,
            ProviderSettings(
                base: desk.base + (id == "oclc" ? "/oauth2" : ""), clientID: "wskey-1",
                clientSecret: secret.map { Secret($0) }, scope: scope, parameters: parameters))
    }

    func robot(_ intent: PageRobot.Intent = .signIn, redirect: String = "oclcApp://user_agent_flow") -> PageRobot {
        PageRobot(http: desk.http, user: "ada", redirect: redirect, intent: intent)
    }

    var loans: HTTPRequest { HTTPRequest(method: .get, url: desk.base + "/ncip") }
}

@Suite("OCLC, against its simulator in its own process")
struct OCLCSimulatedTests {
    @Test(
        "the user-agent flow: tokens in the fragment, for the named institutions, with their user",
        arguments: ["oclcApp://user_agent_flow", "http://127.0.0.1:4711/callback"])
    func userAgentFlow(redirect: String) async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let provider = try library.provider()
            let session = library.desk.session(provider)
            let credentials = try await provider.signInThroughBrowser(.implicit, by: library.robot(redirect: redirect))
            let user = try await session.signIn(credentials)
            #expect(user.userID == UserID("p-ada"))
            let tokens = try #require(library.desk.store.load(library.desk.key)).tokens
            #expect(tokens["principalID"] == "p-ada" && tokens["principalIDNS"] == "urn:oclc:platform:128807")
            #expect(tokens.refresh == nil && tokens.expires == library.desk.clock.now + 1199)
            #expect(try await session.send(library.loans).status == 200)
            let page = library.desk.http.requests.first { $0.url.contains("/oauth2/authorizeCode?") }
            #expect(page?.url.contains("authenticatingInstitutionId=128807") == true)
            #expect(page?.url.contains("contextInstitutionId=128807") == true)
        }
    }

    @Test(
        "a denial is distinguished, whether OCLC reports it in the query or in the fragment", arguments: [false, true])
    func denied(inFragment: Bool) async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            try await library.desk.control("settings", ["errors_in_fragment": .bool(inFragment)])
            let provider = try library.provider()
            #expect(
                await code { () throws(AccountError) in
                    try await provider.signInThroughBrowser(.implicit, by: library.robot(.deny))
                } == "access_denied")
        }
    }

    @Test("institutions: one that is missing, one that the key may not ask for")
    func institutionRules() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            #expect(
                await code { () throws(AccountError) in
                    do {
                        _ = try library.provider("oclc", ["authenticatingInstitutionId": "128807"])
                    } catch {
                        throw error as? AccountError ?? AccountError(.rejected, message: "\(error)")
                    }
                } == "missing_parameter")
            let foreign = try library.provider(
                "oclc", ["authenticatingInstitutionId": "128807", "contextInstitutionId": "91475"])
            #expect(
                await code { () throws(AccountError) in
                    try await foreign.signInThroughBrowser(.implicit, by: library.robot())
                } == "client_refused")
            // A signed request for tokens needs both.
            let confidential = try library.provider(
                "oclc", secret: "wskey-1-secret", ["contextInstitutionId": "128807"])
            #expect(
                await code { () throws(AccountError) in
                    try await confidential.signIn(.clientCredentials)
                } == "missing_parameter")
        }
    }

    @Test("a token that is for another institution than the one asked for is not kept")
    func contextMismatch() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let credentials = try await library.provider().signInThroughBrowser(.implicit, by: library.robot())
            let other = try library.provider(
                "oclc", ["authenticatingInstitutionId": "128807", "contextInstitutionId": "91475"])
            #expect(await code { () throws(AccountError) in try await other.signIn(credentials) } == "wrong_context")
        }
    }

    @Test("no refresh token without its scope; with it one that has its own end, seven days on")
    func refreshScope() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let provider = try library.provider(scope: ["WMS_NCIP", "refresh_token"])
            let session = library.desk.session(provider)
            _ = try await session.signIn(try await provider.signInThroughBrowser(.implicit, by: library.robot()))
            let status = try await session.status()
            #expect(status.refreshExpires == library.desk.clock.now + 604_799)
            #expect(status.expires == library.desk.clock.now + 1199)
        }
    }

    @Test("a public client may not renew: its token is used to the end, and then the reason is reported")
    func publicClient() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let provider = try library.provider(scope: ["WMS_NCIP", "refresh_token"])
            let session = library.desk.session(provider)
            _ = try await session.signIn(try await provider.signInThroughBrowser(.implicit, by: library.robot()))
            // There is a refresh token, and it is of no use here.
            #expect(library.desk.store.load(library.desk.key)?.tokens.refresh != nil)
            #expect(try await !session.status().isRenewable)
            #expect(try await library.desk.session(library.provider(secret: "wskey-1-secret")).status().isRenewable)
            try await library.desk.advance(seconds: 1197)
            #expect(try await session.send(library.loans).status == 200)
            try await library.desk.advance(seconds: 3)
            let error = await accountError { () throws(AccountError) in try await session.send(library.loans) }
            #expect(error?.code == .notRenewable)
            #expect(error?.message.contains("signed with the WSKey's secret") == true)
            #expect(library.desk.http.count("/accessToken") == 0)
            // Nobody ended the session: with a secret it could go on.
            #expect(library.desk.store.load(library.desk.key) != nil)
        }
    }

    @Test("a confidential client redeems codes and renews with signed requests, until the refresh token's own end")
    func confidentialClient() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let desk = library.desk
            let provider = try library.provider(scope: ["WMS_NCIP", "refresh_token"], secret: "wskey-1-secret")
            let session = desk.session(provider)
            let robot = library.robot(redirect: "http://127.0.0.1:4711/callback")
            _ = try await session.signIn(try await provider.signInThroughBrowser(by: robot))
            let asked = try #require(desk.http.requests.last { $0.url.contains("/accessToken?") })
            #expect(
                asked.body.isEmpty
                    && asked.authorization?.hasPrefix("http://www.worldcat.org/wskey/v2/hmac/v1 ") == true)
            let first = try #require(desk.store.load(desk.key)).tokens

            try await desk.advance(seconds: 1200)
            #expect(try await session.send(library.loans).status == 200)
            let second = try #require(desk.store.load(desk.key)).tokens
            #expect(second.access != first.access && second.refresh == first.refresh)
            #expect(second["principalID"] == "p-ada")

            // One second before the refresh token's end it still serves; after it that is OCLC's to say, not the clock's here.
            try await desk.advance(seconds: 604_799 - 1200 - 3)
            #expect(try await session.send(library.loans).status == 200)
            try await desk.advance(seconds: 1300)
            let count = desk.http.count("/accessToken")
            #expect(await code { () throws(AccountError) in try await session.send(library.loans) } == "expired")
            #expect(desk.http.count("/accessToken") == count + 1)
            #expect(desk.store.load(desk.key) == nil)
        }
    }

    @Test("a key's own token, by signed request; and OCLC's errors quote the signature to nobody")
    func clientCredentials() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let provider = try library.provider(scope: ["WorldCatMetadataAPI"], secret: "wskey-1-secret")
            let session = library.desk.session(provider)
            #expect(try await session.signIn(.clientCredentials).userID == UserID("wskey-1"))
            let record = HTTPRequest(method: .get, url: library.desk.base + "/bib/data/1039085")
            #expect(try await session.send(record).status == 200)
            try await library.desk.advance(seconds: 1200)
            #expect(try await session.send(record).status == 200)

            let wrong = try library.provider(scope: ["WorldCatMetadataAPI"], secret: "planted-secret")
            let error = await accountError { () throws(AccountError) in try await wrong.signIn(.clientCredentials) }
            #expect(error?.code == .clientRefused && error?.status == 401)
            let sent = try #require(library.desk.http.requests.last?.authorization)
            let signature = try #require(sent.split(separator: "signature=\"").last?.prefix { $0 != "\"" })
            var shown = ""
            dump(error, to: &shown)
            #expect(!shown.contains(signature) && !shown.contains("planted") && !shown.contains("nonce"))
        }
    }

    @Test("services that want the user beside the token get both", arguments: ["true", "false"])
    func principalHeader(sends: String) async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            try await library.desk.control("settings", ["requires_principal": true])
            var parameters = institutions
            parameters["sendPrincipal"] = sends
            let provider = try library.provider("oclc", parameters)
            let session = library.desk.session(provider)
            _ = try await session.signIn(try await provider.signInThroughBrowser(.implicit, by: library.robot()))
            if sends == "true" {
                #expect(try await session.send(library.loans).status == 200)
            } else {
                // 401, for which a public client has no remedy.
                #expect(await code { () throws(AccountError) in try await session.send(library.loans) } != nil)
            }
        }
    }

    @Test("oauth.oclc.org: codes and renewal with the key and its secret, the institution in a scope")
    func currentService() async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let desk = library.desk
            try await desk.control("settings", ["other_spelling": true])
            let provider = try library.provider(
                "oclc-oauth", scope: ["WMS_NCIP", "refresh_token"], secret: "wskey-1-secret")
            let session = desk.session(provider)
            let robot = library.robot(redirect: "http://127.0.0.1:4711/callback")
            _ = try await session.signIn(try await provider.signInThroughBrowser(by: robot))
            #expect(
                desk.http.requests.contains { $0.url.contains("scope=WMS_NCIP%20refresh_token%20context%3A128807") })
            #expect(desk.http.requests.contains { $0.url.hasPrefix(desk.base + "/auth/128807?") })
            let first = try #require(desk.store.load(desk.key)).tokens
            #expect(first["principalID"] == "p-ada" && first.expires == desk.clock.now + 1199)
            try await desk.advance(seconds: 1200)
            #expect(try await session.send(library.loans).status == 200)
            #expect(desk.store.load(desk.key)?.tokens.access != first.access)
            let own = desk.session(
                try library.provider("oclc-oauth", scope: ["WorldCatMetadataAPI"], secret: "wskey-1-secret"),
                store: InMemoryCredentialStore())
            #expect(try await own.signIn(.clientCredentials).userID == UserID("wskey-1"))
            #expect(
                await code { () throws(AccountError) in
                    try await provider.signInThroughBrowser(.implicit, by: robot)
                } == "unsupported")
        }
    }

    @Test("without an authenticating institution OCLC asks where the user is from", arguments: ["oclc", "oclc-oauth"])
    func whereAreYouFrom(id: String) async throws {
        try await withTemporaryFolder { folder in
            let library = try await Library(folder)
            let provider = try library.provider(id, secret: "wskey-1-secret", ["contextInstitutionId": "128807"])
            let robot = library.robot(redirect: "http://127.0.0.1:4711/callback")
            let grant = id == "oclc" ? GrantName.implicit : .authorizationCode
            let credentials = try await provider.signInThroughBrowser(grant, by: robot)
            #expect(try await provider.user(try await provider.signIn(credentials)).userID == UserID("p-ada"))
            #expect(library.desk.http.requests.first { $0.url.contains("auth") }?.url.contains("128807?") == false)
        }
    }
}
