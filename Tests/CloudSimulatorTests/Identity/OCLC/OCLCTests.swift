// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

extension TestIdentity {
    static let oclcRedirect = "oclcApp://user_agent_flow"

    static func oclcPage(_ changes: [String: String?] = [:]) -> String {
        var fields: [String: String] = [
            "client_id": "wskey-1", "authenticatingInstitutionId": "128807", "contextInstitutionId": "128807",
            "redirect_uri": oclcRedirect, "response_type": "token", "scope": "WMS_NCIP",
        ]
        for (name, value) in changes { fields[name] = value }
        return "/oauth2/authorizeCode?" + formEncoded(fields.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
    }

    /// A request that the key has signed, as OCLC's libraries make it.
    func signed(
        _ method: String, _ target: String, timestamp: String = "1700000000", nonce: String, key: String = "wskey-1",
        secret: String = "wskey-1-secret", spelling: String = "clientId", separator: String = ", "
    ) -> Response {
        let request = Request(method: method, target: target)
        let signature = WSKeyHeader.signature(
            key: key, timestamp: timestamp, nonce: nonce, method: method, query: request.query, secret: secret)
        let parts = [(spelling, key), ("timestamp", timestamp), ("nonce", nonce), ("signature", signature)]
        let header = WSKeyHeader.scheme + " " + parts.map { "\($0)=\"\($1)\"" }.joined(separator: separator)
        return send(method, target, headers: [.init("Authorization", header)])
    }

    func legacyToken(_ query: KeyValuePairs<String, String>, nonce: String) -> Response {
        signed("POST", "/oauth2/accessToken?" + formEncoded(query.map { .init($0, $1) }), nonce: nonce)
    }
}

@Suite("OCLC's sign-in pages")
struct OCLCAuthorizeTests {
    @Test("the answer of the documents: behind a #, a date with a quoted space, the principal, and no refresh token")
    func implicit() throws {
        let oclc = try TestIdentity(.oclc)
        let reply = TestBrowser(oclc).signIn(TestIdentity.oclcPage(), user: "ada")
        let location = try #require(reply.location)
        #expect(location.hasPrefix("oclcApp://user_agent_flow#access_token=tk_"))
        #expect(location.contains("&expires_at=2023-11-14%2022:33:19Z&expires_in=1199&"))
        #expect(location.contains("&principalID=p-ada&principalIDNS=urn:oclc:platform:128807&token_type=bearer"))
        #expect(reply.fragment["context_institution_id"] == "128807" && reply.fragment["refresh_token"] == nil)
        let bearer = reply.fragment["access_token"]
        #expect(oclc.get("/ncip", bearer: bearer).body["principalID"] == "p-ada")
        #expect(oclc.get("/bib/data/1", bearer: bearer).status == 403, "another service's scope")
    }

    @Test("the scope refresh_token brings one, of seven days; the state comes back")
    func refreshScope() throws {
        let oclc = try TestIdentity(.oclc)
        let target = TestIdentity.oclcPage(["scope": "WMS_NCIP refresh_token", "state": "planted-state"])
        let fields = TestBrowser(oclc).signIn(target, user: "ada").fragment
        #expect(fields["refresh_token"]?.hasPrefix("rt_") == true && fields["refresh_token_expires_in"] == "604799")
        #expect(fields["refresh_token_expires_at"] == "2023-11-21 22:13:19Z" && fields["state"] == "planted-state")
    }

    @Test("who does not say where they are from is asked, and goes on from there")
    func whereAreYouFrom() throws {
        let oclc = try TestIdentity(.oclc)
        let page = oclc.get(TestIdentity.oclcPage(["authenticatingInstitutionId": nil])).page
        #expect(page.contains("id=\"institution-128807\"") && page.contains("id=\"institution-91475\""))
        let current =
            "/auth?client_id=wskey-1&response_type=code&scope=WMS_NCIP%20context:128807&redirect_uri=http://127.0.0.1:5/callback"
        #expect(oclc.get(current).page.contains("href=\"/auth/128807?client_id=wskey-1&amp;"))
    }

    @Test("people belong to their institution, and must be verified")
    func people() throws {
        let oclc = try TestIdentity(.oclc)
        let browser = TestBrowser(oclc)
        for (user, password, institution) in [
            ("ada", "wrong", "128807"), ("ada", "correct-horse", "91475"), ("bob", "battery-staple", "128807"),
            ("eve", "correct-horse", "128807"), ("nobody", "x", "128807"),
        ] {
            let target = TestIdentity.oclcPage(["authenticatingInstitutionId": institution])
            let reply = browser.submit(browser.open(target), at: target, ["username": user, "password": password])
            #expect(reply.status == 400 && reply.page.contains("id=\"failure\""), "\(user)")
        }
        let bob = browser.signIn(
            TestIdentity.oclcPage(["authenticatingInstitutionId": "91475"]), user: "bob", password: "battery-staple")
        #expect(bob.fragment["principalIDNS"] == "urn:oclc:platform:91475")
        #expect(bob.fragment["context_institution_id"] == "128807")
    }

    @Test("denial and refusals are in the query with a number, or after a # on request")
    func refusals() throws {
        let oclc = try TestIdentity(.oclc)
        let browser = TestBrowser(oclc)
        let target = TestIdentity.oclcPage(["state": "s"])
        func deny() -> Response {
            let asked = browser.submit(
                browser.open(target), at: target, ["username": "ada", "password": "correct-horse"])
            return browser.submit(asked, at: target, ["action": "deny"])
        }
        let denied = deny().redirected
        #expect(denied["error"] == "access_denied" && denied["http_code"] == "403" && denied["state"] == "s")
        for (changes, error) in [
            (["contextInstitutionId": nil], "invalid_request"),
            (["contextInstitutionId": "91475"], "unauthorized_client"),
            (["authenticatingInstitutionId": "1"], "invalid_request"), (["scope": nil], "invalid_scope"),
            (["scope": "nonsense"], "invalid_scope"), (["scope": "refresh_token"], "invalid_scope"),
            (["response_type": "id_token"], "unsupported_response_type"),
        ] as [([String: String?], String)] {
            let reply = oclc.get(TestIdentity.oclcPage(changes)).redirected
            #expect(reply["error"] == error && reply["http_code"] == "400", "\(changes)")
        }
        #expect(oclc.control("settings", ["errors_in_fragment": true]) == 200)
        #expect(deny().fragment["error"] == "access_denied")
        #expect(oclc.get(TestIdentity.oclcPage(["client_id": "nobody"])).location == nil)
        #expect(oclc.get(TestIdentity.oclcPage(["redirect_uri": "oclcApp://user_agent_flow2"])).location == nil)
    }
}

@Suite("OCLC's tokens and signed requests")
struct OCLCTokenTests {
    @Test("the vectors of OCLC's page and of its Python library")
    func vectors() {
        // OCLC-Developer-Network, "HMAC Signature"; two unrelated projects assert it, too.
        #expect(
            WSKeyHeader.signature(
                key: "jdfRzYZbLc8HZXFByyyLGrUqTOOmkJOAPi4tAN0E7xI3hgE2xDgwJ7YPtkwM6W3ol5yz0d0JHgE1G2Wa",
                timestamp: "1361408273", nonce: "981333313127278655903652665637", method: "GET",
                query: Request(method: "GET", target: "/?inst=128807").query, secret: "UYnwZbmvf3fAXCEa0JryLQ==")
                == "5O6SRig58wqm6gqEu3oSODVte6Albon9CCvNrZHCoys=")
        // OCLC-Developer-Network/oclc-auth-python, tests/wskey_test.py.
        let target = "/bib/data/1039085?inst=128807&classificationScheme=LibraryOfCongress&holdingLibraryCode=MAIN"
        #expect(
            WSKeyHeader.signature(
                key: "CancdeDMjFO9vnzkDrB6WJg1UnyTnkn8lLupLKygr0U1KJLiaAittuVjGRywCDdrsxahv2sbjgKq6hLM",
                timestamp: "1392239490", nonce: "0x16577027", method: "GET",
                query: Request(method: "GET", target: target).query, secret: "YeZfIJdGYUeatxQOjekRZw==")
                == "+RFPwih61799mpNBJqGhhSbQgd/JRfEinYv81z+CwRY=")
    }

    @Test("a signature opens a resource once, near its time; what it signs is names, values, and the method")
    func signatures() throws {
        let oclc = try TestIdentity(.oclc)
        let target = "/bib/data/1039085?inst=128807&q=a%20b%3Dc&q=a"
        #expect(oclc.signed("GET", target, nonce: "1").status == 200)
        #expect(oclc.signed("GET", target, nonce: "1").body["message"] == "The nonce was used before")
        #expect(oclc.signed("GET", target, nonce: "2", spelling: "clientID", separator: ",").status == 200)
        #expect(oclc.signed("GET", "/bib/data/1", nonce: "3").status == 200, "no query")
        for (time, status) in [
            ("1699999701", 200), ("1700000299", 200), ("1699999699", 401), ("1700000301", 401), ("x", 401),
        ] {
            #expect(oclc.signed("GET", target, timestamp: time, nonce: "n\(time)").status == status, "\(time)")
        }
        #expect(
            oclc.signed("GET", target, nonce: "4", secret: "wrong").body["message"] == "The signature does not match")
        let unknown = oclc.signed("GET", target, nonce: "5", key: "wskey-2")
        #expect(unknown.status == 401 && unknown.body["code"] == ["type": "http", "value": "401"])
        #expect(unknown.body["message"] == "WSKey 'wskey-2' is invalid")
        #expect(unknown.body["details"]?.string?.contains("Authorization header: http://www.worldcat.org") == true)
    }

    @Test("a code becomes tokens by a signed request with its parameters in the query")
    func code() throws {
        let oclc = try TestIdentity(.oclc)
        let target = TestIdentity.oclcPage(["response_type": "code", "scope": "WMS_NCIP refresh_token"])
        let code = try #require(TestBrowser(oclc).signIn(target, user: "ada").redirected["code"])
        #expect(code.hasPrefix("auth_"))
        func redeem(_ code: String, context: String = "128807", nonce: String) -> Response {
            oclc.legacyToken(
                [
                    "grant_type": "authorization_code", "code": code, "authenticatingInstitutionId": "128807",
                    "contextInstitutionId": context, "redirect_uri": TestIdentity.oclcRedirect,
                ], nonce: nonce)
        }
        let tokens = redeem(code, nonce: "1").body
        #expect(tokens["token_type"] == "bearer" && tokens["expires_in"] == 1199 && tokens["principalID"] == "p-ada")
        #expect(tokens["expires_at"] == "2023-11-14 22:33:19Z" && tokens["context_institution_id"] == "128807")
        #expect(tokens["refresh_token_expires_in"] == 604_799)
        #expect(redeem(code, nonce: "2").status == 400, "once")
        let other = try #require(TestBrowser(oclc).signIn(target, user: "ada").redirected["code"])
        #expect(redeem(other, context: "91475", nonce: "3").status == 400)
    }

    @Test("renewing needs a signature, gives the same refresh token again, and ends after seven days")
    func renewal() throws {
        let oclc = try TestIdentity(.oclc)
        let target = TestIdentity.oclcPage(["scope": "WMS_NCIP refresh_token"])
        let first = TestBrowser(oclc).signIn(target, user: "ada").fragment
        let refresh = try #require(first["refresh_token"])
        let unsigned = "/oauth2/accessToken?grant_type=refresh_token&client_id=wskey-1&refresh_token=\(refresh)"
        #expect(oclc.post(unsigned, [:]).status == 401)
        #expect(
            oclc.post("/oauth2/accessToken", ["grant_type": "refresh_token", "refresh_token": refresh]).status == 401)
        oclc.pass(.seconds(1198))
        #expect(oclc.get("/ncip", bearer: first["access_token"]).status == 200)
        oclc.pass(.seconds(1))
        #expect(oclc.get("/ncip", bearer: first["access_token"]).status == 401)
        func renew(_ nonce: String, time: Int64) -> Response {
            oclc.signed(
                "POST", "/oauth2/accessToken?grant_type=refresh_token&refresh_token=\(refresh)",
                timestamp: "\(1_700_000_000 + time)", nonce: nonce)
        }
        let renewed = renew("1", time: 1199).body
        #expect(
            renewed["refresh_token"]?.string == refresh
                && renewed["refresh_token_expires_in"] == .integer(604_799 - 1199))
        #expect(oclc.get("/ncip", bearer: renewed.access).status == 200)
        oclc.pass(.seconds(604_798 - 1199))
        #expect(renew("2", time: 604_798).status == 200)
        oclc.pass(.seconds(1))
        #expect(renew("3", time: 604_799).status == 400)
        let text = try readFile(oclc.folder.file("journal"))
        #expect(!text.contains(refresh) && !text.contains(renewed.access))
    }

    @Test("a mobile application may renew by its key's name if told so, and answers may be spelt otherwise")
    func settings() throws {
        let oclc = try TestIdentity(.oclc)
        #expect(oclc.control("settings", ["mobile_refresh": true, "other_spelling": true]) == 200)
        let fields = TestBrowser(oclc).signIn(TestIdentity.oclcPage(["scope": "WMS_NCIP refresh_token"]), user: "ada")
            .fragment
        let target =
            "/oauth2/accessToken?grant_type=refresh_token&client_id=wskey-1&refresh_token=\(fields["refresh_token"] ?? "")"
        let reply = oclc.post(target, [:]).body
        #expect(reply["expires_in"] == "1199" && reply["contextInstitutionId"] == "128807")
        #expect(oclc.control("settings", ["requires_principal": true]) == 200)
        #expect(oclc.get("/ncip", bearer: reply.access).status == 401)
        let full = "Bearer \(reply.access), principalID=\"p-ada\", principalIDNS=\"urn:oclc:platform:128807\""
        #expect(oclc.get("/ncip", headers: [.init("Authorization", full)]).status == 200)
        let other = full.replacing("p-ada", with: "p-bob")
        #expect(oclc.get("/ncip", headers: [.init("Authorization", other)]).status == 401)
        #expect(oclc.control("settings", ["nonsense": true]) == 400)
    }

    @Test("a key's own token is no person's")
    func clientCredentials() throws {
        let oclc = try TestIdentity(.oclc)
        func token(_ context: String, scope: String, nonce: String) -> Response {
            oclc.legacyToken(
                [
                    "grant_type": "client_credentials", "authenticatingInstitutionId": "128807",
                    "contextInstitutionId": context, "scope": scope,
                ], nonce: nonce)
        }
        let own = token("128807", scope: "WorldCatMetadataAPI WMS_NCIP", nonce: "1").body
        #expect(own["principalID"] == "" && own["refresh_token"] == nil)
        #expect(oclc.get("/bib/data/1", bearer: own.access).status == 200)
        #expect(oclc.get("/ncip", bearer: own.access).status == 401)
        #expect(token("91475", scope: "WMS_NCIP", nonce: "2").status == 400)
        #expect(token("128807", scope: "nonsense", nonce: "3").status == 400)
    }

    @Test("the current service: institution in the path, context in the scope, key and secret by Basic")
    func current() throws {
        let oclc = try TestIdentity(.oclc)
        let basic = [TestIdentity.basic("wskey-1", "wskey-1-secret")]
        let back = "http://127.0.0.1:5/callback"
        let target =
            "/auth/128807?"
            + formEncoded([
                .init("client_id", "wskey-1"), .init("response_type", "code"), .init("redirect_uri", back),
                .init("scope", "WMS_NCIP refresh_token context:128807"), .init("state", "s"),
                .init("code_challenge", OAuthFlow.challenge), .init("code_challenge_method", "S256"),
            ])
        let reply = TestBrowser(oclc).signIn(target, user: "ada").redirected
        let tokens = oclc.post(
            "/token",
            [
                "grant_type": "authorization_code", "code": reply["code"], "redirect_uri": back,
                "code_verifier": OAuthFlow.verifier,
            ], headers: basic
        ).body
        #expect(tokens["principalID"] == "p-ada" && tokens["authenticating_institution_id"] == "128807")
        let renewed = oclc.post(
            "/token", ["grant_type": "refresh_token", "refresh_token": tokens.refresh], headers: basic)
        #expect(renewed.body.refresh == tokens.refresh && renewed.body.access != tokens.access)
        let own = oclc.post(
            "/token", ["grant_type": "client_credentials", "scope": "WorldCatMetadataAPI context:128807"],
            headers: basic)
        #expect(own.status == 200)
        #expect(own.body["expires_in"] == "1199" && own.body["contextInstitutionId"] == "128807", "text there")
        // As bookops-worldcat sends it: no context, everything in the query, nothing in the body.
        let bare = oclc.send("POST", "/token?grant_type=client_credentials&scope=WorldCatMetadataAPI", headers: basic)
        #expect(bare.body["contextInstitutionId"] == "128807" && bare.body["scopes"] == "WorldCatMetadataAPI")
        #expect(oclc.get("/worldcat/manage/bibs/1", bearer: bare.body.access).status == 200)
        for (scope, error) in [("nonsense", "invalid_scope"), ("WMS_NCIP context:91475", "unauthorized_client")] {
            let reply = oclc.post("/token", ["grant_type": "client_credentials", "scope": scope], headers: basic)
            #expect(reply.refusal == error)
        }
        let wrong = oclc.post(
            "/token", ["grant_type": "client_credentials", "scope": "WMS_NCIP context:128807"],
            headers: [TestIdentity.basic("wskey-1", "wrong")])
        #expect(wrong.status == 401 && wrong.refusal == "invalid_client")
    }
}
