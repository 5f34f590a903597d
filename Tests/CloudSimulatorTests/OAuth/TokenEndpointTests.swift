// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct TokenEndpointTests {
    @Test("a code becomes tokens that the API takes and login2 renews")
    func redeem() throws {
        let cloud = try TestCloud()
        let flow = OAuthFlow(cloud: cloud)
        let reply = flow.redeem(try #require(flow.code()))
        #expect(reply.status == 200)
        #expect(reply.body["token_type"] == "Bearer" && reply.body["expires_in"] == 3600)
        #expect(reply.headers.contains(.init("Cache-Control", "no-store")))
        #expect(cloud.send("GET", "/v1/user2", token: reply.body["access_token"]?.string).status == 200)
        let id = try claims(reply.body["id_token"]?.string)
        #expect(id["nonce"] == "planted-nonce" && id["aud"]?.string == TokenIssuer.clientID)
        #expect(try claims(reply.body["access_token"]?.string)["scope"] == "openid email")
        let refresh = try #require(reply.body["refresh_token"]?.string)
        #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(refresh)]).status == 200)
    }

    @Test("a code works once: a second use ends its session")
    func once() throws {
        let cloud = try TestCloud()
        let flow = OAuthFlow(cloud: cloud)
        let code = try #require(flow.code())
        let tokens = flow.redeem(code).body
        #expect(flow.redeem(code).body["error"] == "invalid_grant")
        #expect(cloud.send("GET", "/v1/user2", token: tokens["access_token"]?.string).status == 401)
        let refresh = tokens["refresh_token"]?.string ?? ""
        #expect(cloud.send("POST", "/v1/login2", ["refreshtoken": .string(refresh)]).errorCode == 101017)
    }

    @Test("a code expires")
    func expiry() throws {
        let cloud = try TestCloud { $0.codeLifetime = .seconds(60) }
        let flow = OAuthFlow(cloud: cloud)
        let codes = [flow.code(), flow.code()].compactMap { $0 }
        cloud.pass(.seconds(59))
        #expect(flow.redeem(codes[0]).status == 200)
        cloud.pass(.seconds(1))
        #expect(flow.redeem(codes[1]).body["error"] == "invalid_grant")
    }

    @Test(
        "a code without the right verifier or redirect is refused, and spent",
        arguments: [
            ["code_verifier": nil], ["code_verifier": "x"],
            ["code_verifier": "EBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"],
            ["redirect_uri": "http://127.0.0.1:49153/callback"], ["redirect_uri": OAuthFlow.redirect + "/"],
        ] as [[String: String?]])
    func mismatch(changes: [String: String?]) throws {
        let flow = OAuthFlow(cloud: try TestCloud())
        let code = try #require(flow.code())
        #expect(flow.redeem(code, changes).body["error"] == "invalid_grant")
        #expect(flow.redeem(code).body["error"] == "invalid_grant")
    }

    @Test("without a challenge no verifier is needed, and none is taken")
    func withoutChallenge() throws {
        let flow = OAuthFlow(cloud: try TestCloud(), query: ["code_challenge": nil, "code_challenge_method": nil])
        #expect(flow.redeem(try #require(flow.code()), ["code_verifier": nil]).status == 200)
        #expect(flow.redeem(try #require(flow.code())).body["error"] == "invalid_grant")
    }

    @Test(
        "errors are reported with OAuth's codes",
        arguments: [
            (["grant_type": nil], "invalid_request"), (["grant_type": "device"], "unsupported_grant_type"),
            (["client_id": nil], "invalid_request"), (["client_id": "other"], "invalid_client"),
            (["client_secret": "x"], "invalid_client"), (["code": nil], "invalid_request"),
            (["code": "x"], "invalid_grant"), (["redirect_uri": nil], "invalid_request"),
        ] as [([String: String?], String)])
    func failures(changes: [String: String?], error: String) throws {
        let flow = OAuthFlow(cloud: try TestCloud())
        let reply = flow.redeem(try #require(flow.code()), changes)
        #expect(reply.status == 400 && reply.body["error"]?.string == error)
        let journal = try flow.cloud.journal.entries(where: ["event": "request", "path": "/oauth2/token"])
        #expect(journal.map { $0["error"]?.string } == [error])
    }

    @Test("JSON is no form")
    func contentType() throws {
        let cloud = try TestCloud()
        let reply = cloud.send("POST", "/token", ["grant_type": "refresh_token"])
        #expect(reply.status == 400 && reply.body["error"] == "invalid_request")
    }

    @Test("refresh tokens work at the token endpoint, too, for their own client, and rotate where they must")
    func refresh() throws {
        let other = OAuthClient("other=http://127.0.0.1/callback")!
        for rotates in [false, true] {
            let cloud = try TestCloud {
                $0.rotatesRefreshTokens = rotates
                $0.oauthClients.append(other)
            }
            let flow = OAuthFlow(cloud: cloud)
            let code = try #require(flow.code())
            let first = try #require(flow.redeem(code).body["refresh_token"]?.string)
            let form = ["grant_type": "refresh_token", "client_id": TokenIssuer.clientID, "refresh_token": first]
            #expect(cloud.form("/token", form.merging(["client_id": "other"]) { $1 }).body["error"] == "invalid_grant")
            let reply = cloud.form("/token", form)
            #expect(reply.status == 200)
            #expect(cloud.send("GET", "/v1/user2", token: reply.body["access_token"]?.string).status == 200)
            #expect((reply.body["refresh_token"] != nil) == rotates)
            let again = cloud.form("/token", form)
            #expect((again.body["error"] == "invalid_grant") == rotates)
        }
    }

    @Test("a password is a grant, too")
    func password() throws {
        let cloud = try TestCloud()
        let form = ["grant_type": "password", "client_id": TokenIssuer.clientID, "username": TestCloud.user]
        let reply = cloud.form("/token", form.merging(["password": TestCloud.password]) { $1 })
        #expect(reply.status == 200 && reply.body["refresh_token"]?.string != nil)
        #expect(cloud.form("/token", form.merging(["password": "x"]) { $1 }).body["error"] == "invalid_grant")
        #expect(cloud.form("/token", form).body["error"] == "invalid_request")
        _ = cloud.signUp("new@example.com")
        let early = form.merging(["username": "new@example.com", "password": TestCloud.password]) { $1 }
        #expect(cloud.form("/token", early).body["error"] == "invalid_grant", "not confirmed")
    }

    @Test("a confidential client proves itself, in the body or by HTTP Basic")
    func confidential() throws {
        let client = OAuthClient("shop:s3:cret+=http://127.0.0.1/callback")!
        #expect(client.isConfidential)
        let cloud = try TestCloud { $0.oauthClients = [client] }
        let flow = OAuthFlow(cloud: cloud, query: ["client_id": "shop"])
        func redeem(_ changes: [String: String?], basic: String? = nil) throws -> Response {
            var form: [String: String] = [
                "grant_type": "authorization_code", "client_id": "shop", "code": try #require(flow.code()),
                "redirect_uri": OAuthFlow.redirect, "code_verifier": OAuthFlow.verifier,
            ]
            for (name, value) in changes { form[name] = value }
            return cloud.form(
                "/token", form, headers: basic.map { [Request.Field("Authorization", "Basic \($0)")] } ?? [])
        }
        #expect(try redeem(["client_secret": "s3:cret+"]).status == 200)
        for wrong in [nil, "wrong"] {
            let reply = try redeem(["client_secret": wrong])
            #expect(reply.status == 400 && reply.body["error"] == "invalid_client")
        }
        // printf 'shop:s3%%3Acret%%2B' | base64
        let good = "c2hvcDpzMyUzQWNyZXQlMkI="
        #expect(try redeem(["client_id": nil], basic: good).status == 200)
        // printf 'shop:no' | base64
        for basic in ["c2hvcDpubw==", "???", ""] {
            let reply = try redeem([:], basic: basic)
            #expect(reply.status == 401 && reply.body["error"] == "invalid_client")
            #expect(reply.headers.contains { $0.name == "WWW-Authenticate" })
        }
    }

    @Test(
        "a client is an id, perhaps a secret, and redirects",
        arguments: [
            "", "id", "=http://127.0.0.1/", "id=", "id:=http://127.0.0.1/", "id=nowhere", "id=http://127.0.0.1/,",
            "id=javascript:alert(1)", "i d=http://127.0.0.1/", "id=http://x/#y",
        ])
    func clients(text: String) { #expect(OAuthClient(text) == nil) }

    @Test("a registered redirect matches letter by letter, but for the port of a loopback address")
    func redirects() throws {
        let exact = try #require(RegisteredRedirect("https://app.example/cb"))
        #expect(exact.matches("https://app.example/cb"))
        for wrong in ["https://app.example/cb/", "https://app.example/CB", "https://app.example:443/cb", "https://app"]
        {
            #expect(!exact.matches(wrong))
        }
        let loopback = try #require(RegisteredRedirect("http://127.0.0.1/cb"))
        for good in ["http://127.0.0.1/cb", "http://127.0.0.1:1/cb"] { #expect(loopback.matches(good)) }
        for wrong in ["http://127.0.0.1:1/", "http://127.0.0.1:0/cb", "http://127.0.0.1:/cb", "http://localhost:1/cb"] {
            #expect(!loopback.matches(wrong))
        }
        let fixed = try #require(RegisteredRedirect("http://127.0.0.1:8080/cb"))
        #expect(!fixed.matches("http://127.0.0.1:8081/cb"))
    }

    @Test("a code that was granted before a restart is good after it")
    func restart() throws {
        let folder = try TemporaryFolder()
        let first = OAuthFlow(cloud: try TestCloud(folder: folder))
        let code = try #require(first.code())
        let second = OAuthFlow(cloud: try TestCloud(folder: folder))
        #expect(second.redeem(code).status == 200)
        let third = OAuthFlow(cloud: try TestCloud(folder: folder))
        #expect(third.redeem(code).body["error"] == "invalid_grant")
    }
}
