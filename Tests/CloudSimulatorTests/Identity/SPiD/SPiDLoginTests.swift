// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("SPiD's sign-in page")
struct SPiDLoginTests {
    @Test("who signs in and agrees comes back with a code and the state, and the code becomes tokens")
    func journey() throws {
        let spid = try TestIdentity(.spid)
        let browser = TestBrowser(spid)
        let reply = browser.signIn(TestIdentity.spidPage())
        #expect(reply.location?.hasPrefix("spidmobile-app-1://login?code=") == true)
        #expect(reply.redirected["state"] == "planted-state")
        let tokens = spid.redeem(reply.redirected["code"] ?? "").body
        #expect(tokens["user_id"] == "1001" && tokens["expires_in"] == 3600 && tokens["is_admin"] == false)
        #expect(tokens["server_time"] == .integer(1_700_000_000) && tokens["token_type"] == "Bearer")
        #expect(tokens.access.count == 40 && tokens.refresh.count == 40)
        let me = spid.get("/api/2/me?oauth_token=\(tokens.access)")
        #expect(me.body["data"]?["email"] == "ada@example.com")
    }

    @Test("every spelling of the sign-in page", arguments: ["/login", "/flow/login", "/flow/signin", "/flow/auth"])
    func spellings(path: String) throws {
        let spid = try TestIdentity(.spid)
        #expect(TestBrowser(spid).signIn(TestIdentity.spidPage(path: path)).redirected["code"] != nil)
        let sent = spid.get(TestIdentity.spidPage(path: "/oauth/authorize"))
        #expect(sent.location?.hasPrefix("/flow/login?client_id=app-1&") == true)
    }

    @Test(
        "who registers and confirms the address comes back with a code, as who signs in does",
        arguments: ["/signup", "/flow/signup"])
    func registration(path: String) throws {
        let spid = try TestIdentity(.spid)
        let browser = TestBrowser(spid)
        #expect(
            browser.open(TestIdentity.spidPage()).page.contains("id=\"register\" href=\"/flow/signup?client_id=app-1"))
        let target = TestIdentity.spidPage(path: path)
        let sent = browser.submit(
            browser.open(target), at: target,
            ["username": "new@example.com", "password": "planted-password", "action": "allow"])
        // Nobody signs in before the address is confirmed.
        let early = TestBrowser(spid).signIn(
            TestIdentity.spidPage(), user: "new@example.com", password: "planted-password")
        #expect(early.page.contains("not verified") && early.location == nil)
        let link = try #require(Self.confirmation(in: sent))
        let asked = browser.open(link)
        #expect(asked.page.contains("id=\"application\""))
        let reply = browser.submit(asked, at: link, ["action": "allow"])
        #expect(reply.redirected["state"] == "planted-state")
        #expect(spid.redeem(reply.redirected["code"] ?? "").body["user_id"] == "1004")
        #expect(browser.open(link).status == 400, "a link works once")
        #expect(!(try readFile(spid.journal.path)).contains("planted-password"))
    }

    @Test("without a redirect URI, as in a link, the person registers and reads that it is done")
    func registrationByLink() throws {
        let spid = try TestIdentity(.spid)
        for target in ["/flow/signup?client_id=app-1", "/flow/signup"] {
            let browser = TestBrowser(spid)
            let user = "new\(target.utf8.count)@example.com"
            let sent = browser.submit(
                browser.open(target), at: target, ["username": user, "password": "planted-password", "action": "allow"])
            #expect(browser.open(try #require(Self.confirmation(in: sent))).page.contains("id=\"signed-in\""))
            #expect(
                TestBrowser(spid).signIn(TestIdentity.spidPage(), user: user, password: "planted-password")
                    .redirected["code"] != nil)
        }
        #expect(spid.get("/flow/signup?client_id=nobody").status == 400)
    }

    @Test(
        "an account that cannot be made says why",
        arguments: [
            ("ada@example.com", "long-enough", "account with this"), ("nonsense", "long-enough", "not an e-mail"),
            ("new@example.com", "short", "8 to 256"), ("", "", "not an e-mail"),
        ])
    func registrationRefused(user: String, password: String, words: String) throws {
        let browser = TestBrowser(try TestIdentity(.spid))
        let target = TestIdentity.spidPage(path: "/flow/signup")
        let reply = browser.submit(
            browser.open(target), at: target, ["username": user, "password": password, "action": "allow"])
        #expect(reply.status == 400 && reply.page.contains(words) && reply.page.contains("id=\"username\""))
        let cancelled = browser.submit(browser.open(target), at: target, ["action": "deny"])
        #expect(cancelled.location == "spidmobile-app-1://login?state=planted-state")
    }

    private static func confirmation(in page: Response) -> String? {
        page.page.ranges(of: "id=\"confirm\" href=\"").first.map { start in
            String(page.page[start.upperBound...].prefix { $0 != "\"" })
        }
    }

    @Test("a session in the browser signs in without a page, unless the request forbids it; so does a remembered one")
    func singleSignOn() throws {
        let spid = try TestIdentity(.spid)
        let browser = TestBrowser(spid)
        let target = TestIdentity.spidPage()
        let page = browser.open(target)
        let asked = browser.submit(
            page, at: target, ["username": "ada@example.com", "password": "correct-horse", "remember": "1"])
        _ = browser.submit(asked, at: target, ["action": "allow"])
        #expect(browser.open(target).redirected["code"] != nil)
        #expect(browser.open(TestIdentity.spidPage(["force": "1"])).page.contains("id=\"password\""))
        spid.pass(.seconds(SPiDService.webSessionLifetime + 1))
        #expect(browser.open(target).redirected["code"] != nil, "remembered")
        spid.pass(.seconds(SPiDService.rememberLifetime + 1))
        #expect(browser.open(target).page.contains("id=\"password\""))
        // Another client is asked for once more.
        let other = TestIdentity.spidPage(["client_id": "other-1", "redirect_uri": "http://127.0.0.1:9/callback"])
        #expect(browser.signIn(target).redirected["code"] != nil)
        #expect(browser.open(other).page.contains("Another house"))
    }

    @Test("who cancels comes back without a code, who denies with access_denied")
    func refused() throws {
        let spid = try TestIdentity(.spid)
        let browser = TestBrowser(spid)
        let target = TestIdentity.spidPage()
        let cancelled = browser.submit(browser.open(target), at: target, ["action": "deny"])
        #expect(cancelled.location == "spidmobile-app-1://login?state=planted-state")
        let elsewhere = TestIdentity.spidPage(["cancel_redirect_uri": "spidmobile-app-1://logout"])
        #expect(
            browser.submit(browser.open(elsewhere), at: elsewhere, ["action": "deny"]).location
                == "spidmobile-app-1://logout?state=planted-state")
        let asked = browser.submit(
            browser.open(target), at: target, ["username": "ada@example.com", "password": "correct-horse"])
        let denied = browser.submit(asked, at: target, ["action": "deny"])
        #expect(denied.redirected["error"] == "access_denied" && denied.redirected["state"] == "planted-state")
        #expect(browser.submit(asked, at: target, ["action": "allow"]).status == 400, "a page works once")
    }

    @Test("wrong, unknown and unverified people read different words, and go nowhere")
    func people() throws {
        let spid = try TestIdentity(.spid)
        let browser = TestBrowser(spid)
        let target = TestIdentity.spidPage()
        for (user, words) in [
            ("ada@example.com", "Invalid email"), ("nobody@example.com", "no such user"),
            ("eve@example.com", "not verified"),
        ] {
            let password = user.hasPrefix("ada") ? "wrong" : "correct-horse"
            let reply = browser.submit(browser.open(target), at: target, ["username": user, "password": password])
            #expect(reply.status == 400 && reply.location == nil && reply.page.contains(words), "\(user)")
            #expect(reply.page.contains("id=\"password\""))
        }
    }

    @Test("the implicit answer is after a #, and has no refresh token")
    func implicit() throws {
        let spid = try TestIdentity(.spid)
        let reply = TestBrowser(spid).signIn(TestIdentity.spidPage(["response_type": "token"]))
        #expect(reply.location?.hasPrefix("spidmobile-app-1://login#access_token=") == true)
        #expect(reply.fragment["user_id"] == "1001" && reply.fragment["state"] == "planted-state")
        #expect(reply.fragment["refresh_token"] == nil && reply.fragment["code"] == nil)
        #expect(spid.get("/api/2/user/1001", bearer: reply.fragment["access_token"]).status == 200)
    }

    @Test(
        "while it is not known where the browser may go, the person reads why",
        arguments: [
            ["client_id": "nobody"], ["redirect_uri": "https://evil.example/"], ["redirect_uri": nil],
            ["cancel_redirect_uri": "https://evil.example/"], ["redirect_uri": "http://127.0.0.1:1/\r\nX: y"],
        ] as [[String: String?]])
    func refusals(changes: [String: String?]) throws {
        let reply = try TestIdentity(.spid).get(TestIdentity.spidPage(changes))
        #expect(reply.status == 400 && reply.location == nil && reply.page.contains("invalid_client_id"))
    }

    @Test("a challenge must be proven, and another response type is refused at the redirect")
    func challenge() throws {
        let spid = try TestIdentity(.spid)
        let target = TestIdentity.spidPage(["code_challenge": OAuthFlow.challenge, "code_challenge_method": "S256"])
        for (verifier, status) in [(OAuthFlow.verifier, 200), (String(repeating: "x", count: 43), 400)] {
            let code = TestBrowser(spid).signIn(target).redirected["code"]
            let reply = spid.post(
                "/oauth/token",
                [
                    "grant_type": "authorization_code", "code": code, "redirect_uri": TestIdentity.spidRedirect,
                    "client_id": "app-1", "client_secret": "app-1-secret", "code_verifier": verifier,
                ])
            #expect(reply.status == status)
        }
        let reply = spid.get(TestIdentity.spidPage(["response_type": "id_token"]))
        #expect(
            reply.redirected["error"] == "unsupported_response_type" && reply.redirected["state"] == "planted-state")
    }

    @Test("text in the request cannot break out of the page")
    func escaping() throws {
        let spid = try TestIdentity(.spid)
        let nasty = "\"><script>alert(1)</script>"
        for target in [
            TestIdentity.spidPage(["state": nasty, "scope": nasty]), "/login?x=" + PercentEncoding.encoded(nasty),
        ] {
            let browser = TestBrowser(spid)
            let page = browser.open(target)
            let asked = browser.submit(
                page, at: target, ["username": "ada@example.com", "password": "correct-horse"])
            for reply in [page, asked] {
                #expect(reply.status == 200 && !reply.page.contains("<script"))
                #expect(reply.has("Content-Security-Policy", "default-src 'none'"))
            }
        }
    }

    @Test("logging out ends the browser's session and the tokens of the token that it names")
    func logout() throws {
        let spid = try TestIdentity(.spid)
        let browser = TestBrowser(spid)
        let tokens = spid.redeem(browser.signIn(TestIdentity.spidPage()).redirected["code"] ?? "").body
        let reply = browser.open(
            "/logout?redirect_uri=spidmobile-app-1%3A%2F%2Flogout&oauth_token=\(tokens.access)")
        #expect(reply.location == "spidmobile-app-1://logout" && browser.cookies.isEmpty)
        #expect(spid.get("/api/2/user/1001", bearer: tokens.access).refusal == "invalid_token")
        #expect(spid.renew(tokens.refresh).refusal == "invalid_grant")
        #expect(browser.open(TestIdentity.spidPage()).page.contains("id=\"password\""))
        #expect(spid.get("/logout").location == "/login")
        #expect(spid.get("/logout?redirect_uri=https%3A%2F%2Fevil.example").location == "/login")
        #expect(spid.get("/login").page.contains("id=\"password\""))
    }
}
