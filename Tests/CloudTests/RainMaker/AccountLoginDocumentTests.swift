// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Testing

/// The answers that the ESP32-C3 book's chapter "Account Login" prints.
@Suite("RainMaker's account sign-in, as its document prints it")
struct AccountLoginDocumentTests {
    private let credentials = SignInCredentials.password(user: "username@domain.com", password: Secret("password"))

    private func answer(_ bench: Bench, lives: Double) -> String {
        let access = accessToken("c5", issued: bench.clock.now.seconds, life: lives)
        let identity = token("id", ["custom:user_id": "claimed", "email": "claimed@example.com"])
        return """
            {
                "status": "success",
                "description": "Login successful",
                "idtoken": "\(identity)",
                "accesstoken": "\(access)",
                "refreshtoken": "planted-refresh"
            }
            """
    }

    private let user = """
        {
            "user_id": "string",
            "user_name": "string",
            "super_admin": true,
            "picture_url": "string",
            "name": "string",
            "mfa": true,
            "phone_number": "<+Mobile Number with country code>"
        }
        """

    @Test("the members are in lower case, and the token itself has its expiry", arguments: [600.0, 7200])
    func members(lives: Double) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", answer(bench, lives: lives))
        bench.http.expect(.get, "/v1/user2", user)
        _ = try await bench.session.signIn(credentials)
        #expect(bench.http.requests[0].json == ["user_name": "username@domain.com", "password": "password"])
        let saved = try #require(try await bench.stored())
        #expect(saved.tokens.access == Secret(accessToken("c5", issued: bench.clock.now.seconds, life: lives)))
        #expect(saved.tokens.refresh == Secret("planted-refresh"))
        #expect(saved.tokens.expires == bench.clock.now + lives)
        #expect(try await bench.session.status().expires == bench.clock.now + lives)
    }

    @Test("the ID token names the user if nothing else does, and the refresh token gets the next access token")
    func otherTokens() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", answer(bench, lives: 600))
        bench.http.expect(.get, "/v1/user2", failure: .unreachable)
        let user = try await bench.session.signIn(credentials)
        #expect(user.userID == UserID("claimed") && user.userName == "claimed@example.com")

        bench.clock.advance(seconds: 601)
        bench.expectRenewal(to: "renewed")
        let token = try await bench.session.accessToken()
        #expect(token == Secret(accessToken("renewed", issued: bench.clock.now.seconds)))
        #expect(bench.http.requests.last?.json?["refreshtoken"] == "planted-refresh")
        // The answer has no new refresh token, so the old one remains.
        #expect(try await bench.stored()?.tokens.refresh == Secret("planted-refresh"))
        try bench.http.finish()
    }

    @Test("the user is fetched with the bare access token, and each member of the answer has its meaning")
    func profile() async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/login2", answer(bench, lives: 600))
        bench.http.expect(.get, "/v1/user2", user)
        bench.http.expect(.get, "/v1/user2", user)
        let signedIn = try await bench.session.signIn(credentials)
        #expect(signedIn.userID == UserID("string"))
        let profile = try await bench.account.user()
        let asked = try #require(bench.http.requests.last)
        #expect(
            asked.method == .get && asked.authorization == accessToken("c5", issued: bench.clock.now.seconds, life: 600)
        )
        #expect(profile.userID == UserID("string") && profile.userName == "string")
        #expect(profile.isSuperAdministrator && profile.pictureURL == "string")
        #expect(profile.common.name == "string" && profile.common.usesSecondFactor == true)
        #expect(profile.common.phoneNumber == "<+Mobile Number with country code>")
        try bench.http.finish()
    }
}
