// SPDX-License-Identifier: Apache-2.0
import TestSupport
import RainHTTP
import RainJSON
import Testing
import RainCore

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("The sign-in at a portal's own form, step by step")
struct LiferayCookieSignInTests {
    private func response(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "") -> HTTPResponse {
        HTTPResponse(status: status, headers: headers.map { HTTPHeader($0.0, $0.1) }, body: Array(body.utf8))
    }

    private func signIn(_ server: String = "https://portal.example/web") throws -> LiferayCookieSignIn {
        LiferayCookieSignIn(
            server: try ServiceURL(server), user: "ada@example.com", password: Secret("correct+horse &"))
    }

    private let page = "<script>\nLiferay.authToken = 'AbC12345';\nLiferay.currentURL = '/web';</script>"

    /// A portal that shows no page with a form.
    private func submit(_ signIn: inout LiferayCookieSignIn) throws {
        #expect(signIn.start().method == .get)
        guard case .send(let form) = try signIn.next(response(404)) else {
            Issue.record("no form")
            return
        }
        #expect(form.method == .post)
    }

    @Test(
        "the form is sent with the token of its page, in the page's session; without a token if the page has none"
    )
    func pageToken() throws {
        for (body, more) in [("Liferay.authToken = 'Gu3st+12';", "&p_auth=Gu3st%2B12"), ("<form>", "")] {
            var signIn = try signIn()
            let page = signIn.start()
            #expect(page.method == .get && page.url == "https://portal.example/web/c/portal/login" && page.body.isEmpty)
            guard case .send(let form) = try signIn.next(response(200, [("Set-Cookie", "JSESSIONID=g1")], body)) else {
                Issue.record("no form")
                return
            }
            #expect(form.method == .post && form.url == page.url)
            #expect(
                String(decoding: form.body, as: UTF8.self)
                    == "login=ada%40example.com&password=correct%2Bhorse+%26&rememberMe=true" + more)
            #expect(form.headers.contains(HTTPHeader("Cookie", "COOKIE_SUPPORT=true; JSESSIONID=g1")))
        }
    }

    @Test("page, form, redirect, page: the cookies of all answers and the last page's token are the session")
    func chain() throws {
        var signIn = try signIn()
        try submit(&signIn)

        let redirect = response(
            302,
            [("Location", "/web/home#top"), ("Set-Cookie", "JSESSIONID=s1; Path=/; HttpOnly"), ("Set-Cookie", "ID=i1")])
        guard case .send(let next) = try signIn.next(redirect) else {
            Issue.record("not followed")
            return
        }
        #expect(next.method == .get && next.url == "https://portal.example/web/home" && next.body.isEmpty)
        #expect(next.headers.contains(HTTPHeader("Cookie", "COOKIE_SUPPORT=true; JSESSIONID=s1; ID=i1")))

        let last = response(200, [("Set-Cookie", "JSESSIONID=s2"), ("Set-Cookie", "ID=x; Max-Age=0")], page)
        guard case .done(let cookies) = try signIn.next(last) else {
            Issue.record("not done")
            return
        }
        #expect(cookies.token == Secret("AbC12345"))
        #expect(cookies.jar.header == Secret("COOKIE_SUPPORT=true; JSESSIONID=s2"))
    }

    @Test(
        "a redirect is followed only on the portal's own address",
        arguments: [
            "https://evil.example/web", "http://portal.example/web", "//evil.example/", "https://portal.example.evil/",
            "https://portal.example@evil.example/", "https://portal.example:444/", "home", "/a\\b", "", "javascript:1",
        ])
    func elsewhere(location: String) async throws {
        var signIn = try signIn()
        try submit(&signIn)
        let answer = response(302, [("Location", location)])
        let error = await accountError { () throws(AccountError) in try signIn.next(answer) }
        #expect(error != nil, "\(location)")
    }

    @Test("a redirect that asks for the form again (307, 308) is not followed, and a circle ends")
    func formAgain() async throws {
        for status in [307, 308] {
            var signIn = try signIn()
            try submit(&signIn)
            let answer = response(status, [("Location", "/x")])
            #expect(await accountError { () throws(AccountError) in try signIn.next(answer) } != nil)
        }
        var signIn = try signIn()
        try submit(&signIn)
        let answer = response(302, [("Location", "/x")])
        for _ in 0..<LiferayCookieSignIn.maximumRedirects { _ = try signIn.next(answer) }
        #expect(await accountError { () throws(AccountError) in try signIn.next(answer) }?.code == .malformedAnswer)
    }

    @Test(
        "answers that are not a sign-in",
        arguments: [
            (200, "<html>no token here</html>", "malformed_answer"), (500, "", "forbidden"), (503, "", "server_fault"),
            (401, "", "invalid_credentials"),
            (407, "", "invalid_credentials"), (403, "", "forbidden"), (404, "", "unsupported"), (400, "", "rejected"),
            (408, "", "rejected"), (429, "", "rate_limited"),
        ])
    func failures(status: Int, body: String, reason: String) async throws {
        var signIn = try signIn()
        try submit(&signIn)
        let answer = response(status, [], body)
        let error = await accountError { () throws(AccountError) in try signIn.next(answer) }
        #expect(error?.code.description == reason)
    }

    @Test(
        "a server in front of the portal asks for authentication: the answer is sent with every later request, and is counted"
    )
    func challenge() throws {
        var signIn = try signIn()
        _ = signIn.start()
        let asks = response(401, [("WWW-Authenticate", "Basic realm=\"front door\"")])
        guard case .challenge(let first) = try signIn.next(asks) else {
            Issue.record("no challenge")
            return
        }
        #expect(first == AuthenticationChallenge(scheme: "basic", realm: "front door", host: "portal.example"))
        let again = signIn.answer(with: HTTPHeader(first.header, "Basic cHJveHk6cMOkc3N3b3Jk"))
        #expect(again.authorization == "Basic cHJveHk6cMOkc3N3b3Jk" && again.method == .get)
        guard case .challenge(let second) = try signIn.next(asks) else {
            Issue.record("no second challenge")
            return
        }
        #expect(second.previousFailureCount == 1)
        _ = signIn.answer(with: HTTPHeader(second.header, "Basic cHJveHk6Yg=="))
        guard case .send(let next) = try signIn.next(response(302, [("Location", "/")])) else {
            Issue.record("not followed")
            return
        }
        #expect(next.headers.filter { $0.name == "Authorization" }.map(\.value) == ["Basic cHJveHk6Yg=="])
    }

    @Test(
        "the token in a page, at any place and in either kind of quotation marks",
        arguments: [
            ("Liferay.authToken = 'AbC12345';", "AbC12345" as String?), ("Liferay.authToken=\"x1\"", "x1"),
            ("if (Liferay.authToken) {}\nLiferay.authToken\n=\n'y2'", "y2"), ("Liferay.authToken = '';", nil),
            ("Liferay.authToken = 'a b'", nil), ("Liferay.authToken = 'unfinished", nil), ("Liferay.authTok", nil),
            ("Liferay.authToken == 'no'", nil), ("", nil),
        ])
    func tokens(page: String, token: String?) {
        #expect(LiferayAuthToken.find(in: Array(page.utf8))?.revealString() == token)
        // In a truncated page it is found completely or not at all.
        for count in 0..<page.utf8.count {
            let found = LiferayAuthToken.find(in: Array(page.utf8.prefix(count)))?.revealString()
            #expect(found == nil || found == token)
        }
    }

    @Test(
        "only cookies of this host, and none that could break out of its header",
        arguments: [
            ("a=1", "a=1" as String?), ("a=1; Domain=portal.example", "a=1"), ("a=1; Domain=.portal.example", "a=1"),
            ("a=1; domain=evil.example", nil), ("a=1; Domain=example", nil), ("a", nil), ("=1", nil), ("a b=1", nil),
            ("a=\"q\"", "a=\"q\""), ("a=1,2", nil), ("a=", "a="), (" a = 1 ;Secure", "a=1"), ("a=1; Max-Age=0", nil),
            ("a=1; Expires=Thu, 01-Jan-1970 00:00:10 GMT", nil), ("a=1; Max-Age=60", "a=1"), ("a=\u{e4}", nil),
        ])
    func cookies(line: String, header: String?) {
        var jar = CookieJar()
        jar.take(from: response(200, [("set-cookie", line)]), host: "portal.example:8443")
        #expect(jar.header?.revealString() == header)
    }
}
