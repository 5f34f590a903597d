// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("SPiD's token endpoint")
struct SPiDTokenTests {
    @Test("a password, and four different refusals")
    func password() throws {
        let spid = try TestIdentity(.spid)
        #expect(spid.passwordTokens()["user_id"] == "1001")
        for (user, password, error) in [
            ("ada@example.com", "wrong", "invalid_user_credentials"), ("nobody@example.com", "x", "unknown_user"),
            ("eve@example.com", "correct-horse", "unverified_user"),
            ("ada@example.com", nil, "invalid_user_credentials"),
        ] {
            let reply = spid.post(
                "/oauth/token",
                ["grant_type": "password", "username": user, "password": password],
                headers: [TestIdentity.basic("app-1", "app-1-secret")])
            #expect(reply.status == 400 && reply.refusal == error, "\(user)")
            #expect(reply.body["type"] == "OAuthException" && reply.body["error_code"] == 400)
        }
        let trimmed = spid.post(
            "/oauth/token",
            ["grant_type": "password", "username": " ada@example.com ", "password": "correct-horse"],
            headers: [TestIdentity.basic("app-1", "app-1-secret")])
        #expect(trimmed.status == 200)
    }

    @Test("a client's own token has no user, no refresh token, and a shorter life")
    func clientCredentials() throws {
        let spid = try TestIdentity(.spid)
        let body = spid.post(
            "/oauth/token", ["grant_type": "client_credentials", "scope": "openid"],
            headers: [TestIdentity.basic("app-1", "app-1-secret")]
        ).body
        #expect(body["user_id"] == false && body["refresh_token"] == nil && body["expires_in"] == 900)
        #expect(spid.get("/api/2/user/1003", bearer: body.access).status == 200, "a client may ask for anybody")
        #expect(spid.get("/api/2/user/77", bearer: body.access).refusal == "404")
    }

    @Test("who the client is must be proven; the names of draft 10 on demand")
    func clients() throws {
        let spid = try TestIdentity(.spid)
        func refusals() -> [String?] {
            [("nobody", "x"), ("app-1", "x")].map { id, secret in
                spid.post(
                    "/oauth/token", ["grant_type": "client_credentials", "client_id": id, "client_secret": secret]
                ).refusal
            }
        }
        #expect(refusals() == ["invalid_client", "invalid_client"])
        #expect(spid.control("settings", ["old_error_names": true]) == 200)
        #expect(refusals() == ["invalid_client_id", "invalid_client_credentials"])
        let basic = spid.post(
            "/oauth/token", ["grant_type": "client_credentials"], headers: [TestIdentity.basic("app-1", "x")])
        #expect(basic.status == 401)
        #expect(spid.control("settings", ["nonsense": true]) == 400)
    }

    @Test("a refresh token is replaced at each use; one that comes again ends the sign-in")
    func rotation() throws {
        let spid = try TestIdentity(.spid)
        let first = spid.passwordTokens()
        let second = spid.renew(first.refresh).body
        #expect(second.refresh != first.refresh && second.access != first.access)
        #expect(spid.get("/api/2/user/1001", bearer: first.access).refusal == "invalid_token")
        #expect(spid.get("/api/2/user/1001", bearer: second.access).status == 200)
        #expect(spid.renew(first.refresh).refusal == "invalid_grant")
        #expect(spid.renew(second.refresh).refusal == "invalid_grant", "the copy ended both")
        #expect(spid.get("/api/2/user/1001", bearer: second.access).refusal == "invalid_token")
        let other = spid.passwordTokens()
        #expect(spid.renew(other.refresh, client: "backend-1").refusal == "invalid_grant")
        spid.pass(.seconds(SPiDService.refreshLifetime))
        #expect(spid.renew(other.refresh).refusal == "invalid_grant")
    }

    @Test("an access token is good for an hour, and its expiry has its own name")
    func expiry() throws {
        let spid = try TestIdentity(.spid)
        let tokens = spid.passwordTokens()
        spid.pass(.seconds(3599))
        #expect(spid.get("/api/2/user/1001", bearer: tokens.access).status == 200)
        spid.pass(.seconds(2))
        let reply = spid.get("/api/2/user/1001", bearer: tokens.access)
        #expect(reply.status == 401 && reply.refusal == "expired_token")
        #expect(spid.get("/api/2/user/1001", bearer: "nonsense").refusal == "invalid_token")
    }

    @Test("a code works once, with its own redirect and client; a second use ends its session")
    func codes() throws {
        let spid = try TestIdentity(.spid)
        func code() -> String { TestBrowser(spid).signIn(TestIdentity.spidPage()).redirected["code"] ?? "" }
        let good = code()
        let tokens = spid.redeem(good).body
        #expect(tokens["user_id"] == "1001")
        #expect(spid.redeem(good).refusal == "invalid_grant")
        #expect(spid.get("/api/2/user/1001", bearer: tokens.access).refusal == "invalid_token")
        #expect(spid.redeem(code(), redirect: "spidmobile-app-1://logout").refusal == "redirect_uri_mismatch")
        #expect(spid.redeem(code(), client: "other-1").refusal == "invalid_grant")
        let late = code()
        spid.pass(.seconds(301))
        #expect(spid.redeem(late).refusal == "invalid_grant")
    }

    @Test("introspection tells clients of the same merchant, and nobody else")
    func introspection() throws {
        let spid = try TestIdentity(.spid)
        let tokens = spid.passwordTokens()
        func introspect(_ token: String, by client: String) -> JSONValue {
            spid.post(
                "/oauth/introspect", ["token": token], headers: [TestIdentity.basic(client, "\(client)-secret")]
            ).body
        }
        let told = introspect(tokens.access, by: "backend-1")
        #expect(told["active"] == true && told["sub"] == "1001" && told["client_id"] == "app-1")
        #expect(told["exp"] == .integer(1_700_003_600))
        #expect(introspect(tokens.refresh, by: "app-1")["active"] == true)
        #expect(introspect(tokens.access, by: "other-1") == ["active": false])
        #expect(introspect("nonsense", by: "app-1") == ["active": false])
    }

    @Test("what tests ask for: expired, revoked, and the journal names no secret")
    func control() throws {
        let spid = try TestIdentity(.spid)
        let tokens = spid.passwordTokens()
        #expect(spid.control("expire", ["user": "ada@example.com"]) == 200)
        #expect(spid.get("/api/2/user/1001", bearer: tokens.access).refusal == "expired_token")
        let renewed = spid.renew(tokens.refresh).body
        #expect(spid.control("revoke", ["user": "ada"]) == 200)
        #expect(spid.renew(renewed.refresh).refusal == "invalid_grant")
        #expect(spid.control("revoke", ["user": "nobody"]) == 404)
        let text = try readFile(spid.folder.file("journal"))
        for secret in [tokens.access, tokens.refresh, renewed.access, "correct-horse", "app-1-secret"] {
            #expect(!text.contains(secret))
        }
        let granted = try spid.journal.entries(where: ["event": "token", "outcome": "granted", "kind": "password"])
        #expect(granted.count == 1 && granted[0]["user"] == "ada@example.com" && granted[0]["client"] == "app-1")
    }

    @Test("a fault answers in SPiD's own format, or with the given body and place")
    func faults() throws {
        let spid = try TestIdentity(.spid)
        let rules: JSONValue = [
            ["path": "/api/2/*", "action": "status", "status": 420, "count": 1],
            ["path": "/api/2/me", "action": "status", "status": 302, "location": "https://moved.example/", "count": 1],
            ["path": "/oauth/token", "action": "status", "status": 503, "body": ["error": "planted"], "count": 1],
        ]
        #expect(spid.control("faults", ["rules": rules]) == 200)
        #expect(spid.get("/api/2/me").refusal == "420")
        #expect(spid.get("/api/2/me").location == "https://moved.example/")
        #expect(spid.post("/oauth/token", [:]).body == ["error": "planted"])
        #expect(spid.control("faults", ["rules": [["path": "/", "action": "status", "location": "a b"]]]) == 400)
    }

    @Test("thousands of sign-ins leave a bounded number of tokens, and the newest work")
    func bounds() throws {
        var service = SPiDService()
        var last = ""
        for _ in 0..<5000 {
            let form = Array(
                "grant_type=password&username=ada@example.com&password=correct-horse&client_id=app-1&client_secret=app-1-secret"
                    .utf8)
            var call = IdentityCall(
                request: Request(method: "POST", target: "/oauth/token", headers: [TestIdentity.form], body: form),
                now: 1000, base: TestIdentity.base)
            last = service.answer(&call).body.access
        }
        #expect(service.accessTokens.count == 2000 && service.refreshTokens.count == 2000)
        #expect(service.accessTokens.value(last, at: 1000) != nil)
    }
}
