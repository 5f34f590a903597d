// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("Liferay's web services")
struct LiferayServiceTests {
    @Test("a password on the request finds its user; ids are text, and many commands answer in a list")
    func basic() throws {
        let liferay = try TestIdentity(.liferay)
        let reply = liferay.json(
            "/api/jsonws/invoke",
            [
                TestIdentity.byEmail, ["/user/get-user-by-id": ["userId": "1001"]],
                ["/group/get-user-sites-groups": [:]],
            ],
            headers: [TestIdentity.ada])
        let list = try #require(reply.body.array)
        #expect(list.count == 3 && list[0]["userId"] == "1001" && list[0]["companyId"] == "10157")
        #expect(list[0] == list[1] && list[0]["screenName"] == "ada" && list[0]["emailAddressVerified"] == true)
        #expect(list[2].array?.first?["groupId"] == "10184")
        #expect(liferay.invoke(TestIdentity.byEmail, path: "/api/secure/jsonws/invoke").body.array?.count == 1)
        let single = liferay.json("/api/jsonws/invoke", TestIdentity.currentUser, headers: [TestIdentity.ada])
        #expect(single.body["userId"] == "1001")
        let direct = liferay.get("/api/jsonws/user/get-current-user", headers: [TestIdentity.ada])
        #expect(direct.body["userId"] == "1001")
        let form = liferay.post(
            "/api/jsonws/user/get-user-by-screen-name", ["companyId": "10157", "screenName": "ada"],
            headers: [TestIdentity.ada])
        #expect(form.body["userId"] == "1001")
    }

    @Test(
        "the portal takes one kind of name only",
        arguments: [("email", "ada@example.com"), ("screenName", "ada"), ("userId", "1001")])
    func kinds(type: String, name: String) throws {
        let liferay = try TestIdentity(.liferay)
        #expect(liferay.control("settings", ["auth_type": .string(type)]) == 200)
        for given in ["ada@example.com", "ada", "1001"] {
            let reply = liferay.invoke(TestIdentity.currentUser, [TestIdentity.basic(given, "correct-horse")])
            #expect(reply.status == (given == name ? 200 : 401), "\(given)")
        }
        #expect(liferay.control("settings", ["auth_type": "nonsense"]) == 400)
    }

    @Test("a wrong password is 401; another company's, another's and an unknown user are exceptions")
    func refusals() throws {
        let liferay = try TestIdentity(.liferay)
        let wrong = liferay.invoke(TestIdentity.byEmail, [TestIdentity.basic("ada@example.com", "wrong")])
        #expect(wrong.status == 401 && wrong.has("WWW-Authenticate", "Basic"))
        let cases: [(JSONValue, String)] = [
            (["/user/get-user-by-email-address": ["companyId": 999, "emailAddress": "ada@example.com"]], "NoSuchUser"),
            (["/user/get-user-by-email-address": ["companyId": 10157, "emailAddress": "x@example.com"]], "NoSuchUser"),
            (["/user/get-user-by-id": ["userId": 1003]], "PrincipalException"),
            (["/user/get-user-by-id": [:]], "IllegalArgument"), (["/nonsense": [:]], "NoSuchJSONWebService"),
            ([:], "IllegalArgument"), (["/a": 1, "/b": 2], "IllegalArgument"),
        ]
        for (command, type) in cases {
            let reply = liferay.invoke(command)
            #expect(
                reply.status == 200 && reply.body["error"]?["type"]?.string?.contains(type) == true, "\(reply.body)")
        }
        #expect(liferay.invoke(TestIdentity.byEmail, []).body["exception"] == "Authenticated access required")
        #expect(
            liferay.send("POST", "/api/jsonws/invoke", headers: [TestIdentity.ada], body: Array("[".utf8))
                .body["exception"] != nil)
        let many = liferay.json(
            "/api/jsonws/invoke", .array(Array(repeating: TestIdentity.currentUser, count: 33)),
            headers: [TestIdentity.ada])
        #expect(many.body["exception"] == "Too many commands")
    }

    @Test("each generation of portals has its own shape of an exception")
    func shapes() throws {
        let liferay = try TestIdentity(.liferay)
        let command: JSONValue = ["/user/get-user-by-email-address": ["companyId": 1, "emailAddress": "a@b"]]
        let message = "No User exists with the key {companyId=10157, emailAddress=a@b}"
        let type = "com.liferay.portal.NoSuchUserException"
        _ = liferay.control("settings", ["version": "6.1"])
        #expect(liferay.invoke(command).body == ["exception": .string("\(type): \(message)")])
        #expect(liferay.invoke(TestIdentity.currentUser).body.array?.first?["userId"] == 1001, "numbers are numbers")
        _ = liferay.control("settings", ["version": "6.2"])
        #expect(liferay.invoke(command).body == ["exception": .string(type), "message": .string(message)])
        #expect(liferay.invoke(TestIdentity.currentUser).body["exception"] != nil, "a plug-in's service there")
        #expect(
            liferay.invoke(["/screens-web.screensuser/get-current-user": [:]]).body.array?.first?["userId"] == "1001")
        _ = liferay.control("settings", ["version": "7"])
        let new = liferay.invoke(command).body
        #expect(new["exception"] == .string(message) && new["error"]?["message"] == .string(message))
        #expect(new["throwable"]?.string?.hasPrefix("com.liferay.portal.kernel.exception.NoSuchUser") == true)
    }

    @Test("something in front of the portal asks who it is")
    func challenge() throws {
        let liferay = try TestIdentity(.liferay)
        #expect(liferay.control("settings", ["challenge": ["user": "proxy", "password": "proxy-pass"]]) == 200)
        let asked = liferay.get("/c/portal/login")
        #expect(asked.status == 401 && asked.has("WWW-Authenticate", "Basic realm=\"portal\""))
        #expect(liferay.get("/c/portal/login", headers: [TestIdentity.ada]).status == 401)
        let proven = [TestIdentity.basic("proxy", "proxy-pass")]
        #expect(liferay.get("/c/portal/login", headers: proven).status == 200)
        #expect(liferay.control("settings", ["challenge": nil]) == 200)
        #expect(liferay.get("/c/portal/login").status == 200)
    }
}

@Suite("Liferay's sign-in by cookie")
struct LiferayCookieTests {
    @Test("the chain of redirects ends at a page with the token that requests with the cookie need")
    func journey() throws {
        let liferay = try TestIdentity(.liferay)
        let (browser, page, redirects) = liferay.portalSignIn()
        let token = try #require(page.portalToken)
        #expect(redirects == 2 && token.count == 8 && page.page.contains("Welcome Ada Example!"))
        #expect(browser.cookies["JSESSIONID"] != nil && browser.cookies["COMPANY_ID"] == "10157")
        let good = liferay.invoke(TestIdentity.currentUser, browser.portalHeaders(token: token))
        #expect(good.body.array?.first?["userId"] == "1001")
        for wrong in [nil, "wrong678"] {
            let reply = liferay.invoke(TestIdentity.currentUser, browser.portalHeaders(token: wrong))
            #expect(reply.body["exception"] == "Authenticated access required")
        }
    }

    @Test("a wrong password shows the form again with 200 and no token; guests get one only if told so")
    func wrong() throws {
        let liferay = try TestIdentity(.liferay)
        let (_, page, redirects) = liferay.portalSignIn("ada@example.com", "wrong")
        #expect(
            page.status == 200 && redirects == 0 && page.portalToken == nil
                && page.page.contains("Authentication failed"))
        _ = liferay.control("settings", ["guest_tokens": true])
        let (browser, guest, _) = liferay.portalSignIn("ada@example.com", "wrong")
        let token = try #require(guest.portalToken)
        let reply = liferay.invoke(TestIdentity.currentUser, browser.portalHeaders(token: token))
        #expect(reply.body["exception"] == "Authenticated access required")
        #expect(liferay.get("/web/guest/home").portalToken != nil)
    }

    @Test("an unverified user is asked to follow the link, and a browser without cookies to enable them")
    func others() throws {
        let liferay = try TestIdentity(.liferay)
        let (browser, page, redirects) = liferay.portalSignIn("eve@example.com")
        #expect(redirects == 1 && page.page.contains("Follow the link") && browser.cookies["JSESSIONID"] == nil)
        let form: KeyValuePairs<String, String?> = ["login": "ada@example.com", "password": "correct-horse"]
        let reply = liferay.post("/c/portal/login", form)
        #expect(reply.page.contains("Enable cookies") && reply.portalToken == nil)
    }

    @Test("a session is good for 900 seconds after its last request", arguments: [899, 901])
    func lifetime(seconds: Int) throws {
        let liferay = try TestIdentity(.liferay)
        let (browser, page, _) = liferay.portalSignIn()
        let headers = browser.portalHeaders(token: page.portalToken)
        liferay.pass(.seconds(seconds))
        let reply = liferay.invoke(TestIdentity.currentUser, headers)
        #expect((reply.body["exception"] == nil) == (seconds < 900))
        guard seconds < 900 else { return }
        liferay.pass(.seconds(899))
        #expect(liferay.invoke(TestIdentity.currentUser, headers).body["exception"] == nil, "it slides")
    }

    @Test("documents that guests may not see open with a cookie, not with a password or an access token")
    func documents() throws {
        let liferay = try TestIdentity(.liferay)
        let (browser, _, _) = liferay.portalSignIn()
        let secret = "/documents/10184/0/private.txt"
        #expect(
            liferay.get(secret, headers: browser.portalHeaders(token: nil)).content
                == .data(Array("for members\n".utf8), type: "text/plain"))
        #expect(
            liferay.get(secret, headers: [TestIdentity.ada]).location?.hasPrefix("/c/portal/login?redirect=") == true)
        #expect(liferay.get("/documents/10184/0/public.txt").status == 200)
        #expect(liferay.get("/documents/1/2/3").status == 404)
    }

    @Test("signing out ends the session; so does a test's word")
    func ends() throws {
        let liferay = try TestIdentity(.liferay)
        let (browser, page, _) = liferay.portalSignIn()
        let headers = browser.portalHeaders(token: page.portalToken)
        _ = browser.open("/c/portal/logout")
        #expect(browser.cookies["JSESSIONID"] == nil)
        #expect(liferay.invoke(TestIdentity.currentUser, headers).body["exception"] != nil)
        for word in ["expire", "revoke"] {
            let (browser, page, _) = liferay.portalSignIn()
            #expect(liferay.control(word, ["user": "ada"]) == 200)
            let reply = liferay.invoke(TestIdentity.currentUser, browser.portalHeaders(token: page.portalToken))
            #expect(reply.body["exception"] != nil)
        }
        let text = try readFile(liferay.folder.file("journal"))
        #expect(!text.contains(browser.cookies["JSESSIONID"] ?? "correct-horse") && !text.contains("correct-horse"))
    }
}
