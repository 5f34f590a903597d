// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("SPiD's API")
struct SPiDResourceTests {
    /// Our own vector: made with Python's hmac, json and base64.
    static let assertion = [
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        Base64.text(
            Array(
                #"{"iss":"app1","sub":"authorization","aud":"http://127.0.0.1/oauth/token","exp":"2030-01-01 00:00:00+0000","token_type":"facebook","token_value":"fbtok"}"#
                    .utf8)),
        "cdaec8ea7a96a16db702859b3d78bda28e33cf84fe93fd86a87ee856454658fc",
    ].joined(separator: ".")

    @Test("the signature of the documented container")
    func container() {
        let data =
            "eyJvYmplY3QiOiJvcmRlciIsImVudHJ5IjpbeyJvcmRlcl9pZCI6IjMwMDAxNCIsImNoYW5nZWRfZmllbGRzIjoic3RhdHVzIiwidGltZSI6IjIwMTItMDktMzAgMTM6MjE6NDMifSx7Im9yZGVyX2lkIjoiMzAwMDE2IiwiY2hhbmdlZF9maWVsZHMiOiJzdGF0dXMiLCJ0aW1lIjoiMjAxMi0wOS0zMCAxMzoyMTo0MyJ9XX0"
        // techdocs.spid.no/endpoints, "Signed responses".
        #expect(SPiDContainer.sign(data, "a274de") == "GTUVPjN1LzdyU1qwHjnMKS2oNxckfGzXWA6WOGHVOOg")
    }

    @Test("a client that wants it gets signed data; the data is the text that was signed")
    func signed() throws {
        let spid = try TestIdentity(.spid)
        let token = spid.passwordTokens(client: "signed-1").access
        let body = spid.get("/api/2/user/1001", bearer: token).body
        let data = try #require(body["data"]?.string)
        #expect(body["algorithm"] == "HMAC-SHA256" && body["sig"]?.string == SPiDContainer.sign(data, "s1gn"))
        let decoded = try JSONValue(parsing: try #require(Base64.urlDecoded(data.utf8)))
        #expect(decoded["userId"] == "1001")
        #expect(spid.get("/api/2/user/1001", bearer: spid.passwordTokens().access).body["sig"] == nil)
        #expect(spid.control("settings", ["signed": true]) == 200)
        #expect(spid.get("/api/2/user/1001", bearer: spid.passwordTokens().access).body["sig"] != nil)
    }

    @Test("me needs a session in a browser, a number does not, and nobody reads another's")
    func me() throws {
        let spid = try TestIdentity(.spid)
        let native = spid.passwordTokens().access
        #expect(spid.get("/api/2/me", bearer: native).refusal == "401")
        let own = spid.get("/api/2/user/1001", bearer: native).body
        #expect(own["data"]?["userId"] == "1001" && own["data"]?["addresses"] == [], "PHP's empty map")
        #expect(spid.get("/user/1001", bearer: native).status == 200)
        #expect(spid.get("/api/2/user/ada%40example.com?oauth_token=\(native)").status == 200)
        #expect(spid.get("/api/2/user/1003", bearer: native).refusal == "403")
        let browser = TestBrowser(spid)
        let web = spid.redeem(browser.signIn(TestIdentity.spidPage()).redirected["code"] ?? "").body.access
        #expect(spid.get("/me", bearer: web).status == 200)
        _ = browser.open("/logout")
        #expect(spid.get("/me", bearer: web).refusal == "401", "the session is over, the token is not")
        #expect(spid.get("/api/2/user/1001", bearer: web).status == 200)
    }

    @Test("logging out by the API ends the access token and its refresh token")
    func logout() throws {
        let spid = try TestIdentity(.spid)
        let tokens = spid.passwordTokens()
        #expect(spid.get("/api/2/logout", bearer: tokens.access).body["data"] == "OK")
        #expect(spid.get("/api/2/user/1001", bearer: tokens.access).refusal == "invalid_token")
        #expect(spid.renew(tokens.refresh).refusal == "invalid_grant")
    }

    @Test("an hour has 3600 requests for a client; the next is 420 until the hour is over")
    func rateLimit() throws {
        let spid = try TestIdentity(.spid)
        let token = spid.clientToken()
        for round in 1...3600 {
            let reply = spid.get("/api/2/terms", bearer: token)
            if round == 3600 { #expect(reply.body["request"]?["remaining"] == 0) }
        }
        let reply = spid.get("/api/2/terms", bearer: token)
        #expect(reply.status == 420 && reply.refusal == "420")
        spid.pass(.seconds(3600))
        #expect(spid.get("/api/2/terms", bearer: spid.clientToken()).status == 200)
    }

    @Test("our vector of the SDKs' JWT is accepted, and nothing but a lower-case hex signature over those bytes")
    func vector() throws {
        let found = try #require(SPiDAssertion(Self.assertion, secret: "s1gn"))
        #expect(found.issuer == "app1" && found.provider == "facebook" && found.token == "fbtok")
        #expect(found.expiresAt == 1_893_456_000)
        #expect(SPiDAssertion(Self.assertion, secret: "app-1-secret") == nil, "the sign secret is not the client's")
        #expect(SPiDAssertion(Self.assertion.replacing("cdaec8", with: "CDAEC8"), secret: "s1gn") == nil)
        #expect(SPiDAssertion(Self.assertion.replacing("eyJhbGci", with: "eyJhbGcj"), secret: "s1gn") == nil)
        #expect(SPiDAssertion(String(Self.assertion.dropLast()), secret: "s1gn") == nil)
    }

    /// The claims as either form of JWT.
    private func jwt(_ changes: [String: JSONValue] = [:], standard: Bool = false) -> String {
        var claims: [String: JSONValue] = [
            "iss": "app1", "sub": "authorization", "aud": .string(TestIdentity.base + "/oauth/token"),
            "exp": "2030-01-01 00:00:00+0000", "token_type": "facebook", "token_value": "fbtok",
        ]
        for (name, value) in changes { claims[name] = value }
        let encode = { (value: JSONValue) in
            standard ? Base64.urlText(value.serialized()) : Base64.text(value.serialized())
        }
        let signed =
            encode(["alg": "HS256", "typ": "JWT"]) + "."
            + encode(.object(claims.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }))
        let signature = Hex.decoded(hmacHex(signed, "s1gn").utf8) ?? []
        return signed + "." + (standard ? Base64.urlText(signature) : Hex.text(signature))
    }

    private func signIn(_ spid: TestIdentity, _ assertion: String) -> Response {
        spid.post(
            "/oauth/token", ["grant_type": SPiDService.assertionGrant, "assertion": assertion],
            headers: [TestIdentity.basic("app-1", "app-1-secret")])
    }

    @Test("who signed in to Facebook or Google signs in, by either form of JWT", arguments: [false, true])
    func thirdParty(standard: Bool) throws {
        let spid = try TestIdentity(.spid)
        #expect(signIn(spid, jwt(standard: standard)).body["user_id"] == "1001")
        let google = jwt(
            ["token_type": "googleplus", "token_value": "gptok", "iss": "no.example.app"], standard: standard)
        #expect(signIn(spid, google).status == 200)
        #expect(signIn(spid, jwt(["token_value": "fb-new"], standard: standard)).refusal == "unknown_user")
        let wrong: [[String: JSONValue]] = [
            ["token_value": "stolen"], ["iss": "app2"], ["sub": "attach"], ["aud": "https://evil.example/oauth/token"],
            ["exp": "2020-01-01 00:00:00Z"], ["exp": "tomorrow"],
        ]
        for claims in wrong {
            #expect(signIn(spid, jwt(claims, standard: standard)).refusal == "invalid_grant", "\(claims)")
        }
    }

    @Test("an unknown one signs up or is connected, and signs in from then on")
    func signUp() throws {
        let spid = try TestIdentity(.spid)
        let base = TestIdentity.base
        let registration = jwt([
            "sub": "registration", "aud": .string(base + "/api/2/signup_jwt"), "token_value": "fb-new",
        ])
        let client = [Request.Field("Authorization", "Bearer \(spid.clientToken())")]
        #expect(spid.post("/api/2/signup_jwt", ["jwt": registration], headers: client).status == 201)
        #expect(spid.post("/api/2/signup_jwt", ["jwt": registration], headers: client).refusal == "302")
        #expect(signIn(spid, jwt(["token_value": "fb-new"])).status == 200)
        let attach = jwt([
            "sub": "attach", "aud": .string(base + "/api/2/user/attach_jwt"), "token_type": "googleplus",
            "token_value": "gp-new",
        ])
        let user = [Request.Field("Authorization", "Bearer \(spid.passwordTokens().access)")]
        #expect(spid.post("/api/2/user/attach_jwt", ["jwt": attach], headers: client).refusal == "403")
        #expect(spid.post("/api/2/user/attach_jwt", ["jwt": attach], headers: user).status == 200)
        let google = jwt(["token_type": "googleplus", "token_value": "gp-new"])
        #expect(signIn(spid, google).body["user_id"] == "1001")
    }

    @Test("sign-up by e-mail, status, terms and agreements")
    func accounts() throws {
        let spid = try TestIdentity(.spid)
        let client = [Request.Field("Authorization", "Bearer \(spid.clientToken())")]
        #expect(spid.post("/api/2/signup", ["email": "new@example.com"], headers: client).status == 201)
        #expect(spid.post("/api/2/signup", ["email": "new@example.com"], headers: client).refusal == "302")
        #expect(spid.post("/api/2/signup", ["email": "nonsense"], headers: client).refusal == "400")
        let status = spid.get("/api/2/email/\(Base64.urlText(Array("new@example.com".utf8)))/status", headers: client)
        #expect(status.body["data"] == ["exists": true, "available": false, "verified": false])
        #expect(spid.get("/api/2/terms", headers: client).body["data"]?["client_terms_url"] != nil)
        let user = spid.passwordTokens().access
        let agreements = "/api/2/user/1001/agreements"
        #expect(spid.get(agreements, bearer: user).body["data"]?["agreements"]?["client"] == false)
        let bearer = [Request.Field("Authorization", "Bearer \(user)")]
        #expect(spid.post("\(agreements)/accept", [:], headers: bearer).status == 200)
        #expect(spid.get(agreements, bearer: user).body["data"]?["agreements"]?["client"] == true)
    }

    @Test("a code by mail signs in, and five wrong ones end the attempt")
    func passwordless() throws {
        let spid = try TestIdentity(.spid)
        let client = [Request.Field("Authorization", "Bearer \(spid.clientToken())")]
        func start() -> String {
            let reply = spid.post(
                "/api/2/passwordless/start", ["connection": "email", "email": "ada@example.com"], headers: client)
            return reply.body["data"]?["passwordless_token"]?.string ?? ""
        }
        func finish(_ token: String, _ code: String) -> Response {
            spid.post(
                "/oauth/ro", ["grant_type": "passwordless", "passwordless_token": token, "code": code],
                headers: [TestIdentity.basic("app-1", "app-1-secret")])
        }
        let token = start()
        #expect(finish(token, "000000").refusal == "invalid_user_credentials")
        #expect(finish(token, "123456").body["user_id"] == "1001")
        #expect(finish(token, "123456").refusal == "invalid_grant")
        let guessed = start()
        for _ in 0..<5 { _ = finish(guessed, "000000") }
        #expect(finish(guessed, "123456").refusal == "invalid_grant")
    }
}
