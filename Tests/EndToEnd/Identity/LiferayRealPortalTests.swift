// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

/// What portals do in the field and the simplest one does not.
@Suite("Liferay as it is run")
struct LiferayRealPortalTests {
    private let ada = SignInCredentials.password(user: "ada@example.com", password: Secret("correct-horse"))

    @Test("cookie: a portal that wants its form's token gets it, at the sign-in and at each renewal")
    func pageToken() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            try await desk.control("settings", ["version": "7.4"])
            let session = desk.session(
                try desk.provider("liferay", ProviderSettings(mode: "cookie", parameters: ["serverVersion": "74"])))
            #expect(try await session.signIn(ada).userID == UserID("1001"))
            let form = try #require(
                desk.http.requests.first { $0.method == .post && $0.url.contains("/c/portal/login") })
            #expect(String(decoding: form.body, as: UTF8.self).contains("&p_auth="))
            desk.clock.advance(seconds: 901)
            #expect(try await session.user().userID == UserID("1001"))
            #expect(desk.http.count("/c/portal/login", .post) == 2)
        }
    }

    @Test(
        "the company is that of the user's first site where nobody says it, and is asked for once",
        arguments: ["6.1", "6.2", "7"], ["ada@example.com", "ada"])
    func company(version: String, name: String) async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            try await desk.control(
                "settings",
                [
                    "company": 20_097, "version": .string(version),
                    "auth_type": .string(name == "ada" ? "screenName" : "email"),
                ])
            let number = ["6.1": "61", "6.2": "62", "7": "74"][version] ?? ""
            let session = desk.session(
                try desk.provider("liferay", ProviderSettings(parameters: ["serverVersion": number])))
            let user = try await session.signIn(.password(user: name, password: Secret("correct-horse")))
            #expect(user.userID == UserID("1001"))
            #expect(user.attributes.first { $0.name == "companyId" }?.value == 20_097)
            #expect(try await session.user().userID == UserID("1001"))
            let bodies = desk.http.requests.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.count { $0.contains("/group/get-user-sites") } == 1, "\(bodies)")
            #expect(bodies.contains { $0.contains("\"companyId\":20097") }, "\(bodies)")

            let wrong = desk.session(
                try desk.provider("liferay", ProviderSettings(parameters: ["serverVersion": number])),
                store: InMemoryCredentialStore())
            #expect(
                await code { () throws(AccountError) in
                    try await wrong.signIn(.password(user: name, password: Secret("wrong")))
                } == "invalid_credentials")
        }
    }

    @Test("the portal compares redirect URIs with their port")
    func port() async throws {
        try await withTemporaryFolder { folder in
            let desk = try await IdentityDesk("liferay", in: folder)
            let provider = try desk.provider("liferay", ProviderSettings(clientID: "screens-1", mode: "oauth2Redirect"))
            for (port, isRegistered) in [(4711, true), (4712, false)] {
                let robot = PageRobot(http: desk.http, redirect: "http://127.0.0.1:\(port)/callback")
                let reason = await code { () throws(AccountError) in try await provider.signInThroughBrowser(by: robot)
                }
                #expect(reason == (isRegistered ? nil : "no_answer"))
            }
        }
    }
}
