// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

extension TestIdentity {
    static let oidcRedirect = "http://127.0.0.1:4712/callback"

    static func oidcPage(_ changes: [String: String?] = [:], path: String = "/authorize") -> String {
        var fields: [String: String] = [
            "client_id": "native-1", "response_type": "code", "redirect_uri": oidcRedirect, "state": "planted-state",
            "nonce": "planted-nonce", "scope": "openid email profile offline_access",
            "code_challenge": OAuthFlow.challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { fields[name] = value }
        return "\(path)?" + formEncoded(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    /// Tokens of Ada, by the page.
    func browserTokens(path: String = "/authorize", scope: String? = nil, token: String = "/token") -> JSONValue {
        var changes: [String: String?] = [:]
        if let scope { changes["scope"] = scope }
        let reply = TestBrowser(self).signIn(Self.oidcPage(changes, path: path))
        return post(
            token,
            [
                "grant_type": "authorization_code", "client_id": "native-1", "code": reply.redirected["code"],
                "redirect_uri": Self.oidcRedirect, "code_verifier": OAuthFlow.verifier,
            ]
        ).body
    }
}

@Suite("The OpenID provider")
struct OIDCTests {
    @Test("discovery says where everything is, and everything is there")
    func discovery() throws {
        let oidc = try TestIdentity(.oidc)
        let metadata = oidc.get("/.well-known/openid-configuration").body
        #expect(metadata["issuer"]?.string == TestIdentity.base)
        #expect(oidc.get("/.well-known/oauth-authorization-server").body == metadata)
        for member in metadata.members ?? [] where member.name.hasSuffix("_endpoint") || member.name == "jwks_uri" {
            let path = try #require(member.value.string?.dropFirst(TestIdentity.base.count))
            let statuses = [oidc.get(String(path)).status, oidc.post(String(path), [:]).status]
            #expect(statuses.contains { $0 != 404 }, "\(member.name)")
        }
    }

    @Test("a code with its verifier becomes tokens; the id token is signed by the key that is published")
    func code() throws {
        let oidc = try TestIdentity(.oidc)
        let reply = TestBrowser(oidc).signIn(TestIdentity.oidcPage())
        #expect(reply.redirected["iss"] == TestIdentity.base && reply.redirected["state"] == "planted-state")
        let tokens = oidc.browserTokens()
        let claims = try claims(tokens["id_token"]?.string)
        #expect(claims["iss"]?.string == TestIdentity.base && claims["aud"] == "native-1" && claims["sub"] == "1001")
        #expect(claims["nonce"] == "planted-nonce" && claims["email"] == "ada@example.com")
        #expect(claims["exp"] == .integer(1_700_003_600) && claims["auth_time"] == .integer(1_700_000_000))
        let hash = Base64.urlText(Array(OpenSSLHashes.sha256(Array(tokens.access.utf8)).prefix(16)))
        #expect(claims["at_hash"] == .string(hash))
        let key = try #require(oidc.get("/jwks").body["keys"]?.array?.first)
        #expect(
            Base64.urlDecoded((key["x"]?.string ?? "").utf8)?.count == 32
                && Base64.urlDecoded((key["y"]?.string ?? "").utf8)?.count == 32)
        let info = oidc.get("/userinfo", bearer: tokens.access).body
        #expect(info["sub"] == "1001" && info["preferred_username"] == "ada" && info["email_verified"] == true)
        let bare = oidc.browserTokens(scope: "email")
        #expect(bare["id_token"] == nil)
        #expect(oidc.get("/userinfo", bearer: bare.access).status == 403)
        #expect(oidc.get("/userinfo").status == 401)
    }

    @Test("a refresh token is replaced at each use; reuse ends the sign-in; a renewed id token has no nonce")
    func rotation() throws {
        let oidc = try TestIdentity(.oidc)
        func renew(_ token: String) -> Response {
            oidc.post("/token", ["grant_type": "refresh_token", "client_id": "native-1", "refresh_token": token])
        }
        let first = oidc.browserTokens()
        let second = renew(first.refresh).body
        #expect(second.refresh != first.refresh && second["id_token"] != nil)
        #expect(try claims(second["id_token"]?.string)["nonce"] == nil)
        #expect(renew(first.refresh).refusal == "invalid_grant")
        #expect(renew(second.refresh).refusal == "invalid_grant")
        #expect(oidc.get("/userinfo", bearer: second.access).has("WWW-Authenticate", "invalid_token"))
        _ = oidc.control("settings", ["rotate": false])
        let kept = oidc.browserTokens()
        #expect(renew(kept.refresh).body.refresh == kept.refresh && renew(kept.refresh).status == 200)
    }

    @Test(
        "what a client must notice is wrong on demand",
        arguments: [
            "issuer", "audience", "nonce", "signature", "expired", "algorithm", "no_nonce", "authorized_party",
            "audiences",
            "access_token", "key",
        ])
    func wrong(what: String) throws {
        let oidc = try TestIdentity(.oidc)
        #expect(oidc.control("settings", ["wrong": .string(what)]) == 200)
        let tokens = oidc.browserTokens()
        let token = try #require(tokens["id_token"]?.string)
        let claims = try JSONValue(parsing: Base64.urlDecoded(token.split(separator: ".")[1].utf8) ?? [])
        #expect((claims["iss"]?.string == TestIdentity.base) == (what != "issuer"))
        #expect((claims["aud"] == "native-1") == !["audience", "audiences"].contains(what))
        #expect((claims["nonce"] == "planted-nonce") == !["nonce", "no_nonce"].contains(what))
        #expect((claims["nonce"] == nil) == (what == "no_nonce"))
        #expect((claims["azp"] == nil) == (what != "authorized_party"))
        #expect(((claims["exp"]?.integer ?? 0) < 1_700_000_000) == (what == "expired"))
        let header = try JSONValue(parsing: Base64.urlDecoded(token.split(separator: ".")[0].utf8) ?? [])
        #expect((header["alg"] == "none") == (what == "algorithm"))
        let published = oidc.get("/jwks").body["keys"]?.array?.first?["kid"]
        #expect((header["kid"] == published) == (what != "key"))
        let iss = TestBrowser(oidc).signIn(TestIdentity.oidcPage()).redirected["iss"]
        #expect((iss == TestIdentity.base) == (what != "issuer"))
        #expect(oidc.control("settings", ["wrong": "nonsense"]) == 400)
        #expect(oidc.control("settings", ["wrong": nil]) == 200)
    }

    @Test(
        "tokens are signed with the algorithm that is set, by a new key, which is published",
        arguments: [
            ("ES256", "EC"), ("RS256", "RSA"), ("PS256", "RSA"),
        ])
    func algorithms(algorithm: String, kind: String) throws {
        let oidc = try TestIdentity(.oidc)
        let first = oidc.get("/jwks").body
        #expect(oidc.control("settings", ["signing_algorithm": .string(algorithm)]) == 200)
        let key = try #require(oidc.get("/jwks").body["keys"]?.array?.first)
        #expect(key != first["keys"]?.array?.first)
        #expect(key["kty"]?.string == kind && key["alg"]?.string == algorithm)
        if kind == "RSA" {
            #expect(Base64.urlDecoded((key["n"]?.string ?? "").utf8)?.count == 256 && key["e"] == "AQAB")
        }
        let token = try #require(oidc.browserTokens()["id_token"]?.string)
        let header = try JSONValue(parsing: Base64.urlDecoded(token.split(separator: ".")[0].utf8) ?? [])
        #expect(header["alg"]?.string == algorithm && header["kid"] == key["kid"])
        #expect(oidc.control("settings", ["signing_algorithm": "HS256"]) == 400)
    }

    @Test("a logout with an id token ends the tokens of its client, where it is set so; a token of nobody's is refused")
    func logoutByToken() throws {
        for endsTokens in [true, false] {
            let oidc = try TestIdentity(.oidc)
            #expect(oidc.control("settings", ["end_session_ends_tokens": .bool(endsTokens)]) == 200)
            let tokens = oidc.browserTokens()
            #expect(oidc.post("/logout", ["id_token_hint": "a.b.c"]).status == 400)
            let other = oidc.post("/logout", ["id_token_hint": tokens["id_token"]?.string, "client_id": "web-1"])
            #expect(other.status == 400 && oidc.get("/userinfo", bearer: tokens.access).status == 200)
            #expect(oidc.post("/logout", ["id_token_hint": tokens["id_token"]?.string]).status == 200)
            #expect(oidc.get("/userinfo", bearer: tokens.access).status == (endsTokens ? 401 : 200))
        }
    }

    @Test("what is not offered is neither named nor there")
    func offers() throws {
        let oidc = try TestIdentity(.oidc)
        for (setting, name, path) in [
            ("offers_revocation", "revocation_endpoint", "/revoke"),
            ("offers_end_session", "end_session_endpoint", "/logout"),
        ] {
            #expect(oidc.control("settings", [setting: false]) == 200)
            #expect(oidc.get("/.well-known/openid-configuration").body[name] == nil)
            #expect(oidc.post(path, [:]).status == 404)
        }
        #expect(oidc.control("settings", ["offers_keys": false]) == 200)
        #expect(oidc.get("/.well-known/openid-configuration").body["jwks_uri"] == nil)
    }

    @Test("a session in the browser asks only whether the application may; prompt decides otherwise")
    func session() throws {
        let oidc = try TestIdentity(.oidc)
        let browser = TestBrowser(oidc)
        #expect(oidc.get(TestIdentity.oidcPage(["prompt": "none"])).redirected["error"] == "login_required")
        _ = browser.signIn(TestIdentity.oidcPage())
        #expect(browser.open(TestIdentity.oidcPage()).page.contains("id=\"application\""))
        #expect(browser.open(TestIdentity.oidcPage(["prompt": "login"])).page.contains("id=\"password\""))
        #expect(browser.open(TestIdentity.oidcPage(["prompt": "none"])).redirected["error"] == "consent_required")
        let out = browser.open(
            "/logout?post_logout_redirect_uri=" + PercentEncoding.encoded(TestIdentity.oidcRedirect) + "&state=s")
        #expect(out.location == TestIdentity.oidcRedirect + "?state=s")
        #expect(browser.open(TestIdentity.oidcPage()).page.contains("id=\"password\""))
        #expect(browser.open("/logout?post_logout_redirect_uri=https://evil.example").location == nil)
    }

    @Test("if only refresh tokens can be revoked, an access token is refused as RFC 7009 says, and stays valid")
    func refreshTokensOnly() throws {
        let oidc = try TestIdentity(.oidc)
        let tokens = oidc.browserTokens()
        #expect(oidc.control("settings", ["revokes_access_tokens": false]) == 200)
        for hint in [nil, "access_token"] {
            let refused = oidc.post(
                "/revoke", ["client_id": "native-1", "token": tokens.access, "token_type_hint": hint])
            #expect(refused.status == 400 && refused.body["error"] == "unsupported_token_type")
        }
        #expect(oidc.get("/userinfo", bearer: tokens.access).status == 200)
        #expect(oidc.post("/revoke", ["client_id": "native-1", "token": tokens.refresh]).status == 200)
        #expect(oidc.get("/userinfo", bearer: tokens.access).status == 401)
    }

    @Test("revocation ends the sign-in, and introspection shows it")
    func revocation() throws {
        let oidc = try TestIdentity(.oidc)
        let tokens = oidc.browserTokens()
        let form: KeyValuePairs<String, String?> = ["client_id": "native-1", "token": tokens.refresh]
        #expect(oidc.post("/introspect", form).body["active"] == true)
        #expect(
            oidc.post("/revoke", ["client_id": "web-1", "client_secret": "web-1-secret", "token": tokens.refresh])
                .status == 200)
        #expect(oidc.post("/introspect", form).body["active"] == true, "another client's word does nothing")
        #expect(oidc.post("/revoke", form).status == 200)
        #expect(oidc.post("/introspect", form).body == ["active": false])
        #expect(oidc.get("/userinfo", bearer: tokens.access).status == 401)
        let own = oidc.post(
            "/token", ["grant_type": "client_credentials"], headers: [TestIdentity.basic("web-1", "web-1-secret")])
        #expect(own.body["refresh_token"] == nil && own.body["id_token"] == nil && own.status == 200)
        let native = oidc.post("/token", ["grant_type": "client_credentials", "client_id": "native-1"])
        #expect(native.refusal == "unauthorized_client")
        #expect(
            oidc.post("/token", ["grant_type": "nonsense", "client_id": "native-1"]).refusal == "unsupported_grant_type"
        )
    }
}

@Suite("The OpenID provider's devices")
struct OIDCDeviceTests {
    private func begin(_ oidc: TestIdentity) -> JSONValue {
        oidc.post("/device_authorization", ["client_id": "native-1", "scope": "openid email"]).body
    }

    private func poll(_ oidc: TestIdentity, _ codes: JSONValue) -> Response {
        oidc.post(
            "/token",
            [
                "grant_type": OIDCService.deviceGrant, "client_id": "native-1",
                "device_code": codes["device_code"]?.string,
            ])
    }

    private func decide(_ oidc: TestIdentity, _ codes: JSONValue, _ answer: String) -> Response {
        let target = "/device?user_code=\(codes["user_code"]?.string ?? "")"
        let browser = TestBrowser(oidc)
        let page = browser.open(target)
        #expect(page.page.contains("value=\"\(codes["user_code"]?.string ?? "-")\""))
        let typed = codes["user_code"]?.string?.lowercased().replacing("-", with: " ") ?? ""
        let asked = browser.submit(
            page, at: target, ["username": "ada@example.com", "password": "correct-horse", "user_code": typed])
        #expect(asked.page.contains("id=\"application\""))
        return browser.submit(asked, at: target, ["action": answer])
    }

    @Test("a device waits, is asked to slow down, and signs in once its user has allowed it")
    func allowed() throws {
        let oidc = try TestIdentity(.oidc)
        let codes = begin(oidc)
        #expect(codes["interval"] == 5 && codes["expires_in"] == 600 && codes["user_code"]?.string?.count == 9)
        #expect(poll(oidc, codes).refusal == "authorization_pending")
        #expect(poll(oidc, codes).refusal == "slow_down")
        oidc.pass(.seconds(6))
        #expect(poll(oidc, codes).refusal == "slow_down", "ten seconds by now")
        oidc.pass(.seconds(16))
        #expect(poll(oidc, codes).refusal == "authorization_pending")
        #expect(decide(oidc, codes, "allow").page.contains("The device is signed in"))
        let tokens = poll(oidc, codes).body
        #expect(tokens["id_token"] != nil && tokens["refresh_token"] != nil && tokens["scope"] == "openid email")
        #expect(oidc.get("/userinfo", bearer: tokens.access).body["email"] == "ada@example.com")
        #expect(poll(oidc, codes).refusal == "invalid_grant", "once")
    }

    @Test("denied, expired, unknown and another client's")
    func refused() throws {
        let oidc = try TestIdentity(.oidc)
        let denied = begin(oidc)
        #expect(decide(oidc, denied, "deny").page.contains("turned away"))
        #expect(poll(oidc, denied).refusal == "access_denied")
        let late = begin(oidc)
        oidc.pass(.seconds(601))
        #expect(poll(oidc, late).refusal == "expired_token")
        #expect(poll(oidc, [:]).refusal == "invalid_request")
        #expect(poll(oidc, ["device_code": "nonsense"]).refusal == "invalid_grant")
        let other = begin(oidc)
        let stolen = oidc.post(
            "/token", ["grant_type": OIDCService.deviceGrant, "device_code": other["device_code"]?.string],
            headers: [TestIdentity.basic("web-1", "web-1-secret")])
        #expect(stolen.refusal == "invalid_grant")
        let page = TestBrowser(oidc)
        let form = ["username": "ada@example.com", "password": "correct-horse", "user_code": "XXXX-XXXX"]
        #expect(page.submit(page.open("/device"), at: "/device", form).page.contains("No device waits"))
        let wrong = ["username": "ada@example.com", "password": "wrong", "user_code": "XXXX-XXXX"]
        #expect(page.submit(page.open("/device"), at: "/device", wrong).page.contains("is wrong"))
    }
}
