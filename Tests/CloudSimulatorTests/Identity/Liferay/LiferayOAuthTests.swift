// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("Liferay's OAuth 2.0")
struct LiferayOAuthTests {
    private static let redirect = "http://127.0.0.1:4711/callback"

    static func target(_ changes: [String: String?] = [:]) -> String {
        var fields: [String: String] = [
            "response_type": "code", "client_id": "screens-1", "redirect_uri": redirect, "state": "planted-state",
            "code_challenge": OAuthFlow.challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { fields[name] = value }
        return "/o/oauth2/authorize?" + formEncoded(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    private func redeem(_ liferay: TestIdentity, _ code: String?, verifier: String? = OAuthFlow.verifier) -> Response {
        liferay.post(
            "/o/oauth2/token",
            [
                "grant_type": "authorization_code", "client_id": "screens-1", "code": code,
                "redirect_uri": Self.redirect, "code_verifier": verifier,
            ])
    }

    @Test("a native application gets a code for its challenge, and tokens that open the web services")
    func code() throws {
        let liferay = try TestIdentity(.liferay)
        let reply = TestBrowser(liferay).signIn(Self.target())
        #expect(
            reply.location?.hasPrefix(Self.redirect + "?code=") == true && reply.redirected["state"] == "planted-state")
        let tokens = redeem(liferay, reply.redirected["code"]).body
        #expect(tokens["expires_in"] == 600 && tokens["token_type"] == "Bearer")
        #expect(tokens["scope"]?.string?.contains("liferay-json-web-services.everything") == true)
        let bearer = [Request.Field("Authorization", "Bearer \(tokens.access)")]
        #expect(liferay.invoke(TestIdentity.currentUser, bearer).body.array?.first?["userId"] == "1001")
        #expect(redeem(liferay, reply.redirected["code"]).refusal == "invalid_grant")
        #expect(liferay.invoke(TestIdentity.currentUser, bearer).status == 401, "the second try ended it")
    }

    @Test("without a challenge, with a wrong verifier, an unknown scope or redirect: refused, each at its place")
    func refusals() throws {
        let liferay = try TestIdentity(.liferay)
        let bare = liferay.get(Self.target(["code_challenge": nil, "code_challenge_method": nil]))
        #expect(bare.redirected["error"] == "invalid_request" && bare.redirected["state"] == "planted-state")
        #expect(liferay.get(Self.target(["code_challenge_method": "plain"])).redirected["error"] == "invalid_request")
        #expect(liferay.get(Self.target(["scope": "everything"])).redirected["error"] == "invalid_scope")
        #expect(liferay.get(Self.target(["response_type": "token"])).fragment["error"] == "unsupported_response_type")
        for changes in [["redirect_uri": "https://evil.example"], ["client_id": "nobody"], ["redirect_uri": nil]] {
            let reply = liferay.get(Self.target(changes))
            #expect(reply.status == 400 && reply.location == nil)
        }
        let code = TestBrowser(liferay).signIn(Self.target()).redirected["code"]
        #expect(redeem(liferay, code, verifier: String(repeating: "x", count: 43)).refusal == "invalid_grant")
        let browser = TestBrowser(liferay)
        let page = browser.open(Self.target())
        #expect(
            browser.submit(page, at: Self.target(), ["action": "deny"]).redirected["error"] == "access_denied")
        for (user, password) in [
            ("ada@example.com", "wrong"), ("eve@example.com", "correct-horse"), ("ada", "correct-horse"),
        ] {
            let reply = browser.submit(page, at: Self.target(), ["username": user, "password": password])
            #expect(reply.status == 400 && reply.page.contains("id=\"failure\""))
        }
    }

    @Test("who is signed in to the portal is asked only whether the application may")
    func session() throws {
        let liferay = try TestIdentity(.liferay)
        let (browser, _, _) = liferay.portalSignIn()
        let page = browser.open(Self.target())
        #expect(page.page.contains("id=\"application\"") && !page.page.contains("id=\"password\""))
        #expect(browser.submit(page, at: Self.target(), ["action": "allow"]).redirected["code"] != nil)
        let asked = browser.open(Self.target())
        #expect(browser.submit(asked, at: Self.target(), ["action": "deny"]).redirected["error"] == "access_denied")
    }

    @Test("a client with a secret signs in by password, for itself, and renews; the native one may not")
    func password() throws {
        let liferay = try TestIdentity(.liferay)
        func token(_ form: KeyValuePairs<String, String?>, secret: String = "screens-2-secret") -> Response {
            liferay.post("/o/oauth2/token", form, headers: [TestIdentity.basic("screens-2", secret)])
        }
        let form: KeyValuePairs<String, String?> = [
            "grant_type": "password", "username": "ada@example.com", "password": "correct-horse",
            "scope": "liferay-json-web-services.everything.read",
        ]
        let tokens = token(form).body
        #expect(tokens["scope"] == "liferay-json-web-services.everything.read")
        liferay.pass(.seconds(601))
        let bearer = [Request.Field("Authorization", "Bearer \(tokens.access)")]
        let late = liferay.invoke(TestIdentity.currentUser, bearer)
        #expect(late.status == 401 && late.has("WWW-Authenticate", "invalid_token"))
        let renewed = token(["grant_type": "refresh_token", "refresh_token": tokens.refresh]).body
        #expect(renewed.refresh != tokens.refresh)
        #expect(token(["grant_type": "refresh_token", "refresh_token": tokens.refresh]).refusal == "invalid_grant")
        #expect(token(["grant_type": "refresh_token", "refresh_token": renewed.refresh]).refusal == "invalid_grant")
        let own = token(["grant_type": "client_credentials"]).body
        #expect(own["refresh_token"] == nil)
        #expect(
            liferay.invoke(TestIdentity.currentUser, [.init("Authorization", "Bearer \(own.access)")]).body["exception"]
                == "Authenticated access required")
        for (user, password) in [("ada@example.com", "wrong"), ("nobody", "x"), ("eve@example.com", "correct-horse")] {
            #expect(
                token(["grant_type": "password", "username": user, "password": password]).refusal == "invalid_grant")
        }
        let wrong = token(["grant_type": "client_credentials"], secret: "wrong")
        #expect(wrong.status == 401 && wrong.refusal == "invalid_client")
        let native = liferay.post(
            "/o/oauth2/token",
            [
                "grant_type": "password", "username": "ada@example.com", "password": "correct-horse",
                "client_id": "screens-1",
            ])
        #expect(native.refusal == "unauthorized_client")
    }

    @Test("introspection and revocation")
    func revocation() throws {
        let liferay = try TestIdentity(.liferay)
        let header = [TestIdentity.basic("screens-2", "screens-2-secret")]
        let tokens = liferay.post(
            "/o/oauth2/token",
            ["grant_type": "password", "username": "ada@example.com", "password": "correct-horse"], headers: header
        ).body
        func introspect() -> JSONValue {
            liferay.post("/o/oauth2/introspect", ["token": tokens.access], headers: header).body
        }
        #expect(introspect()["active"] == true && introspect()["sub"] == "1001")
        #expect(liferay.post("/o/oauth2/revoke", ["token": tokens.refresh], headers: header).status == 200)
        #expect(introspect() == ["active": false])
        #expect(liferay.post("/o/oauth2/revoke", ["token": "unknown"], headers: header).status == 200)
    }
}
