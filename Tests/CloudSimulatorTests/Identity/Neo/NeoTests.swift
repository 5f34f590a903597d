// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("RainMaker Neo's accounts")
struct NeoTests {
    private func signIn(_ neo: TestIdentity, _ name: String = "ada@example.com", _ password: String = "correct-horse")
        -> Response
    {
        neo.json("/v1/user/auth/token", ["username": .string(name), "password": .string(password)])
    }

    private func renew(_ neo: TestIdentity, _ token: String) -> Response {
        neo.json("/v1/user/auth/token/refresh", ["refresh_token": .string(token)])
    }

    @Test("a password brings tokens; the user's id is the token's sub")
    func password() throws {
        let neo = try TestIdentity(.neo)
        let tokens = signIn(neo).body
        #expect(tokens["expires_in"] == 3600 && tokens["token_type"] == "Bearer" && tokens["id_token"] != nil)
        let me = neo.get("/v1/users/me", bearer: tokens.access).body
        #expect(me["user_id"] == "00000000-0000-4000-8000-000000001001" && me["email"] == "ada@example.com")
        #expect(try claims(tokens.access)["sub"] == me["user_id"])
        let bob = signIn(neo, "+4915112345678", "battery-staple").body
        #expect(neo.get("/v1/users/me", bearer: bob.access).body["phone_number"] == "+4915112345678")
    }

    @Test("each refusal has a status and a message")
    func refusals() throws {
        let neo = try TestIdentity(.neo)
        for (name, password, status, message) in [
            ("ada@example.com", "wrong", 401, "Incorrect username or password."),
            ("nobody@example.com", "x", 404, "User does not exist."),
            ("eve@example.com", "correct-horse", 403, "User is not confirmed."), ("", "x", 400, "username is missing"),
        ] {
            let reply = signIn(neo, name, password)
            #expect(reply.status == status && reply.body == ["message": .string(message)])
        }
        #expect(neo.send("POST", "/v1/user/auth/token", body: Array("[".utf8)).status == 400)
        #expect(neo.get("/v1/users/me").body == ["message": "Unauthorized"])
        #expect(neo.get("/v1/nothing").status == 404)
        let bare = neo.get("/v1/users/me", headers: [.init("Authorization", signIn(neo).body.access)])
        #expect(bare.status == 401, "it needs Bearer before it, unlike RainMaker's")
    }

    @Test("each renewal brings another refresh token, and one that comes again ends the sign-in")
    func rotation() throws {
        let neo = try TestIdentity(.neo)
        let first = signIn(neo).body
        neo.pass(.seconds(3601))
        #expect(neo.get("/v1/users/me", bearer: first.access).status == 401)
        let second = renew(neo, first.refresh).body
        #expect(second.refresh != first.refresh && neo.get("/v1/users/me", bearer: second.access).status == 200)
        #expect(renew(neo, first.refresh).body == ["message": "Refresh token has been revoked."])
        #expect(renew(neo, second.refresh).status == 401)
        #expect(neo.get("/v1/users/me", bearer: second.access).status == 401)
        #expect(renew(neo, "nonsense").body == ["message": "Refresh token is invalid or expired."])
        let reused = try neo.journal.entries(where: ["event": "token", "outcome": "reused"])
        #expect(reused.count == 1)
    }

    @Test("signing out ends the tokens")
    func signOut() throws {
        let neo = try TestIdentity(.neo)
        let tokens = signIn(neo).body
        #expect(neo.json("/v1/user/auth/signout", ["refresh_token": .string(tokens.refresh)]).status == 200)
        #expect(
            neo.get("/v1/users/me", bearer: tokens.access).status == 401 && renew(neo, tokens.refresh).status == 401)
        #expect(neo.json("/v1/user/auth/signout", [:]).status == 400)
    }

    @Test("the sign-in page needs a challenge, and its tokens are like any other")
    func browser() throws {
        let neo = try TestIdentity(.neo)
        let page = { (changes: [String: String?]) in
            TestIdentity.oidcPage(changes.merging(["scope": "openid email"]) { $1 }, path: "/oauth2/authorize")
        }
        #expect(
            neo.get(page(["code_challenge": nil, "code_challenge_method": nil])).redirected["error"]
                == "invalid_request")
        let tokens = neo.browserTokens(path: "/oauth2/authorize", scope: "openid email", token: "/oauth2/token")
        #expect(neo.get("/v1/users/me", bearer: tokens.access).status == 200)
        #expect(try claims(tokens["id_token"]?.string)["nonce"] == "planted-nonce")
        #expect(renew(neo, tokens.refresh).status == 200)
        let browser = TestBrowser(neo)
        let form = ["username": "eve@example.com", "password": "correct-horse"]
        #expect(browser.submit(browser.open(page([:])), at: page([:]), form).page.contains("User is not confirmed."))
    }

    @Test("what tests ask for: expired, revoked, and a fault in Neo's format")
    func control() throws {
        let neo = try TestIdentity(.neo)
        let tokens = signIn(neo).body
        #expect(neo.control("expire", ["user": "ada"]) == 200)
        #expect(neo.get("/v1/users/me", bearer: tokens.access).status == 401)
        let renewed = renew(neo, tokens.refresh).body
        #expect(neo.control("revoke", ["user": "ada"]) == 200 && renew(neo, renewed.refresh).status == 401)
        let rules: JSONValue = [["path": "/v1/*", "action": "status", "status": 503, "retry_after": 3]]
        #expect(neo.control("faults", ["rules": rules]) == 200)
        let faulty = signIn(neo)
        #expect(
            faulty.status == 503 && faulty.body == ["message": "Service Unavailable"] && faulty.has("Retry-After", "3"))
    }
}
