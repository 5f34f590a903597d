// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

@testable import CloudSimulator

/// What the tests of Liferay do again and again.
extension TestIdentity {
    static let ada = basic("ada@example.com", "correct-horse")
    static let byEmail: JSONValue = [
        "/user/get-user-by-email-address": ["companyId": 10157, "emailAddress": "ada@example.com"]
    ]
    static let currentUser: JSONValue = ["/user/get-current-user": [:]]

    func invoke(_ command: JSONValue, _ headers: [Request.Field] = [ada], path: String = "/api/jsonws/invoke")
        -> Response
    {
        json(path, [command], headers: headers)
    }

    /// `POST /c/portal/login`, and where it leads to, as a browser follows it.
    func portalSignIn(
        _ login: String = "ada@example.com", _ password: String = "correct-horse"
    ) -> (browser: TestBrowser, page: Response, redirects: Int) {
        let browser = TestBrowser(self)
        var page = browser.open("/c/portal/login")
        page = browser.submit(
            page, at: "/c/portal/login", ["login": login, "password": password, "rememberMe": "true"])
        var redirects = 0
        while let next = page.location, redirects < 10 {
            page = browser.open(next)
            redirects += 1
        }
        return (browser, page, redirects)
    }
}

extension Response {
    /// The value in `Liferay.authToken = '…'`.
    var portalToken: String? {
        page.split(separator: "Liferay.authToken = '").dropFirst().first?.split(separator: "'").first.map(String.init)
    }
}

extension TestBrowser {
    func portalHeaders(token: String?) -> [Request.Field] {
        [.init("Cookie", cookies.map { "\($0)=\($1)" }.joined(separator: "; "))]
            + (token.map { [.init("X-CSRF-Token", $0)] } ?? [])
    }
}
