// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("SPiD's codes for others")
struct SPiDExchangeTests {
    @Test("the backend gets tokens of its own for the same user, within 30 seconds, once", arguments: [29, 31])
    func code(seconds: Int) throws {
        let spid = try TestIdentity(.spid)
        let app = spid.passwordTokens()
        let reply = spid.exchange(["clientId": "backend-1", "type": "code"], token: app.access)
        let code = try #require(reply.body["data"]?["code"]?.string)
        #expect(code.count == 40)
        spid.pass(.seconds(seconds))
        let redeemed = spid.redeem(code, client: "backend-1", redirect: "http://127.0.0.1/backend")
        guard seconds < 30 else {
            #expect(redeemed.refusal == "invalid_grant")
            return
        }
        #expect(redeemed.body["user_id"] == "1001" && redeemed.body["expires_in"] == 3600)
        #expect(redeemed.body.access != app.access)
        #expect(spid.get("/api/2/user/1001", bearer: redeemed.body.access).status == 200)
        #expect(
            spid.redeem(code, client: "backend-1", redirect: "http://127.0.0.1/backend").refusal == "invalid_grant")
        #expect(spid.get("/api/2/user/1001", bearer: app.access).status == 200, "the app's own sign-in goes on")
    }

    @Test("the path of the mobile documents, with the token in the form")
    func shortPath() throws {
        let spid = try TestIdentity(.spid)
        let app = spid.passwordTokens()
        let reply = spid.post(
            "/oauth/exchange", ["clientId": "backend-1", "type": "code", "oauth_token": app.access])
        #expect(reply.status == 200 && reply.body["data"]?["code"] != nil)
        #expect(reply.body["name"] == "SPP Container" && reply.body["version"] == "0.2" && reply.body["error"] == .null)
    }

    @Test("each way to ask wrongly has its own number")
    func refusals() throws {
        let spid = try TestIdentity(.spid)
        let user = spid.passwordTokens().access
        let session = "http://127.0.0.1:7/callback"
        let cases: [(KeyValuePairs<String, String?>, String, String)] = [
            (["type": "code"], user, "400"), (["clientId": "backend-1"], user, "400"),
            (["clientId": "backend-1", "type": "nonsense"], user, "400"),
            (["clientId": "app-1", "type": "code"], user, "400"),  // no default redirect
            (["clientId": "app-1", "type": "session"], user, "400"),  // no redirectUri
            (["clientId": "app-1", "type": "session", "redirectUri": "https://evil.example"], user, "400"),
            (["clientId": "other-1", "type": "code"], user, "403"),
            (["clientId": "other-1", "type": "session", "redirectUri": session], user, "403"),
            (["clientId": "backend-1", "type": "code"], spid.clientToken(), "403"),
            (["clientId": "backend-1", "type": "code"], "nonsense", "invalid_token"),
        ]
        for (form, token, refusal) in cases {
            #expect(spid.exchange(form, token: token).refusal == refusal, "\(form)")
        }
        #expect(
            spid.post("/api/2/oauth/exchange", ["clientId": "backend-1", "type": "code"]).refusal == "invalid_request")
    }

    @Test("an exchange code is the other client's alone, with its own redirect")
    func bound() throws {
        let spid = try TestIdentity(.spid)
        let user = spid.passwordTokens().access
        func code() -> String {
            let reply = spid.exchange(["clientId": "backend-1", "type": "code"], token: user)
            return reply.body["data"]?["code"]?.string ?? ""
        }
        #expect(spid.redeem(code(), client: "app-1").refusal == "invalid_grant")
        #expect(spid.redeem(code(), client: "backend-1").refusal == "redirect_uri_mismatch")
    }

    @Test(
        "a session code opens a session in a browser, within a minute, once, by either address",
        arguments: [("/session", 59), ("/auth/session", 59), ("/session", 61)])
    func session(path: String, seconds: Int) throws {
        let spid = try TestIdentity(.spid)
        let user = spid.passwordTokens().access
        let target = "http://127.0.0.1:7/callback"
        let reply = spid.exchange(["clientId": "app-1", "type": "session", "redirectUri": target], token: user)
        let code = try #require(reply.body["data"]?["code"]?.string)
        spid.pass(.seconds(seconds))
        let browser = TestBrowser(spid)
        let opened = browser.open("\(path)/\(code)")
        guard seconds < 60 else {
            #expect(opened.status == 400 && opened.page.contains("too old") && browser.cookies.isEmpty)
            return
        }
        #expect(opened.status == 302 && opened.location == target && browser.cookies["identity"] != nil)
        #expect(TestBrowser(spid).open("\(path)/\(code)").status == 400, "once")
        // Signed in there: the page asks nothing but whether the app may.
        #expect(browser.open(TestIdentity.spidPage()).page.contains("id=\"application\""))
        let text = try readFile(spid.folder.file("journal"))
        #expect(!text.contains(code) && text.contains("\"path\":\"\(path)/*\""))
    }

    @Test("a session code cannot be exchanged for tokens")
    func confused() throws {
        let spid = try TestIdentity(.spid)
        let user = spid.passwordTokens().access
        let reply = spid.exchange(
            ["clientId": "app-1", "type": "session", "redirectUri": TestIdentity.spidRedirect], token: user)
        #expect(spid.redeem(reply.body["data"]?["code"]?.string ?? "").refusal == "invalid_grant")
    }
}
