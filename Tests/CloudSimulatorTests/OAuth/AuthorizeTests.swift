// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct AuthorizeTests {
    @Test("the page asks for user and password, and offers what else there is")
    func page() throws {
        let reply = OAuthFlow(cloud: try TestCloud()).open()
        #expect(reply.status == 200)
        for part in ["name=\"username\"", "name=\"password\"", "id=\"deny\"", "provider-GitHub", "provider-Google"] {
            #expect(reply.page.contains(part), "\(part)")
        }
        #expect(reply.headers.contains(.init("Cache-Control", "no-store")))
    }

    @Test("who signs in is sent back with a code and the state, whatever case the response type has")
    func allow() throws {
        for type in ["code", "CODE"] {
            let flow = OAuthFlow(cloud: try TestCloud(), query: ["response_type": type])
            let reply = flow.submit(["username": TestCloud.user, "password": TestCloud.password, "action": "allow"])
            #expect(reply.status == 302)
            #expect(reply.location?.hasPrefix("\(OAuthFlow.redirect)?code=") == true)
            #expect(reply.redirected["state"] == "planted-state")
        }
    }

    @Test("who denies is sent back with access_denied and the state", arguments: [nil, "GitHub"])
    func deny(provider: String?) throws {
        let flow = OAuthFlow(cloud: try TestCloud(), query: ["identity_provider": provider])
        let reply = flow.submit(["action": "deny"])
        #expect(reply.status == 302)
        #expect(reply.redirected["error"] == "access_denied" && reply.redirected["state"] == "planted-state")
        #expect(reply.redirected["code"] == nil)
    }

    @Test("a wrong password shows the page again, and redirects nobody")
    func wrongPassword() throws {
        let flow = OAuthFlow(cloud: try TestCloud())
        for form in [["username": TestCloud.user, "password": "wrong"], ["username": "nobody"], [:]] {
            let reply = flow.submit(form)
            #expect(reply.status == 400 && reply.location == nil)
            #expect(reply.page.contains("id=\"failure\"") && reply.page.contains("name=\"password\""))
        }
    }

    @Test("an identity provider's page asks whether, and its user has an account from then on")
    func identityProvider() throws {
        let cloud = try TestCloud()
        let flow = OAuthFlow(cloud: cloud, query: ["identity_provider": "GitHub"])
        let page = flow.open().page
        #expect(page.contains("id=\"allow\"") && page.contains("id=\"deny\"") && page.contains("github@example.com"))
        var users: [String?] = []
        for _ in 0..<2 {
            let code = try #require(flow.submit(["username": "ada@example.com", "action": "allow"]).redirected["code"])
            let tokens = flow.redeem(code).body
            let profile = cloud.send("GET", "/v1/user2", token: tokens["access_token"]?.string).body
            #expect(profile["user_name"] == "ada@example.com")
            users.append(profile["user_id"]?.string)
        }
        #expect(users[0] != nil && users[0] == users[1])
        let reply = cloud.send("POST", "/v1/login2", ["user_name": "ada@example.com", "password": "Passw0rd"])
        #expect(reply.errorCode == 101009, "it has no password")
        #expect(try cloud.journal.entries(where: ["event": "login", "by": "GitHub"]).count == 2)
    }

    @Test("whom an identity provider vouches for owns the name, not who began to sign up with it")
    func unconfirmedName() throws {
        let cloud = try TestCloud()
        let name = "ada@example.com"
        _ = cloud.signUp(name, "Passw0rd-of-another")
        let own = OAuthFlow(cloud: cloud).submit(["username": name, "password": "Passw0rd-of-another"])
        #expect(own.location == nil && own.page.contains("not verified"))
        let flow = OAuthFlow(cloud: cloud, query: ["identity_provider": "GitHub"])
        let code = try #require(flow.submit(["username": name, "action": "allow"]).redirected["code"])
        #expect(flow.redeem(code).status == 200)
        let reply = cloud.send(
            "POST", "/v1/login2", ["user_name": .string(name), "password": "Passw0rd-of-another"])
        #expect(reply.errorCode == 101009)
    }

    @Test(
        "while it is not known where the browser may go, the user reads why, and nobody is redirected",
        arguments: [
            ["client_id": nil], ["client_id": "x"], ["redirect_uri": nil], ["redirect_uri": "https://evil.example/"],
            ["redirect_uri": "http://127.0.0.1.evil.example:1/callback"],
            ["redirect_uri": "http://127.0.0.1:1@evil.example/"], ["redirect_uri": "javascript:alert(1)"],
            ["redirect_uri": "http://127.0.0.1:1/cb#x"], ["redirect_uri": "http://127.0.0.1:1/a b"],
            ["redirect_uri": "http://127.0.0.1:1/\r\nX: y"], ["redirect_uri": "http://127.0.0.1:99999/"],
            ["redirect_uri": "https://127.0.0.1:1/callback"], ["redirect_uri": "rainmaker://elsewhere/success"],
        ] as [[String: String?]])
    func page(query: [String: String?]) throws {
        let flow = OAuthFlow(cloud: try TestCloud(), query: query)
        for reply in [flow.open(), flow.submit(["username": TestCloud.user, "password": TestCloud.password])] {
            #expect(reply.status == 400 && reply.location == nil && reply.page.contains("id=\"failure\""))
        }
    }

    @Test(
        "after that, the application is informed by its redirect",
        arguments: [
            (["response_type": "token"], "unsupported_response_type"), (["response_type": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"),
            (["code_challenge_method": nil], "invalid_request"),
            (["code_challenge": "short"], "invalid_request"), (["code_challenge": nil], "invalid_request"),
            (["identity_provider": "MySpace"], "invalid_request"),
        ] as [([String: String?], String)])
    func redirect(query: [String: String?], error: String) throws {
        let reply = OAuthFlow(cloud: try TestCloud(), query: query).open()
        #expect(reply.status == 302)
        #expect(reply.redirected["error"] == error && reply.redirected["state"] == "planted-state")
    }

    @Test("a parameter that is given twice is refused")
    func duplicates() throws {
        let flow = OAuthFlow(cloud: try TestCloud())
        let reply = flow.cloud.send("GET", flow.target + "&client_id=\(TokenIssuer.clientID)")
        #expect(reply.status == 400 && reply.location == nil)
    }

    @Test(
        "the shared client may be redirected to every loopback port, to the relay page and to its schemes",
        arguments: [
            "http://127.0.0.1:1/", "http://127.0.0.1:65535/any/path", "http://[::1]:8080/callback",
            "http://localhost:8080/", "rainmaker://com.espressif.rainmaker/success",
            "com.espressif.rainmaker.softap://success",
        ])
    func redirects(uri: String) throws {
        let flow = OAuthFlow(cloud: try TestCloud(), query: ["redirect_uri": uri])
        let code = try #require(flow.code())
        #expect(flow.redeem(code, ["redirect_uri": uri]).status == 200)
    }

    @Test("text in the address cannot break out of the page")
    func escaping() throws {
        let nasty = "\"><script>alert('x')</script>&amp;"
        for query in [["state": nasty], ["state": nasty, "identity_provider": "GitHub"]] {
            let page = OAuthFlow(cloud: try TestCloud(), query: query).open().page
            #expect(!page.contains("<script") && page.contains("<form"))
        }
    }

    @Test("the journal says how the client protects itself, and holds no value of it")
    func journal() throws {
        let cloud = try TestCloud()
        let flow = OAuthFlow(cloud: cloud)
        _ = flow.open()
        let code = try #require(flow.code())
        let tokens = flow.redeem(code).body
        _ = OAuthFlow(cloud: cloud, query: ["code_challenge": nil, "code_challenge_method": nil, "state": nil]).open()
        let entries = try cloud.journal.entries(where: ["event": "authorize"])
        #expect(entries.map { $0["outcome"] } == ["shown", "granted", "shown"])
        #expect(
            entries.map { $0["pkce"] } == [true, true, false] && entries.map { $0["state"] } == [true, true, false])
        let text = try cloud.folder.read("journal") + cloud.folder.read("data/state.json")
        let secrets = [code, "planted-state", OAuthFlow.verifier, TestCloud.password]
        for secret in secrets + ["access_token", "refresh_token"].compactMap({ tokens[$0]?.string }) {
            #expect(!text.contains(secret))
        }
    }
}
