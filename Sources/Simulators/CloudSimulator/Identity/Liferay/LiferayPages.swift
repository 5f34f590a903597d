// SPDX-License-Identifier: Apache-2.0

/// The portal's web pages, and its cookie sessions.
extension LiferayService {
    mutating func portal(_ parts: [String], _ call: inout IdentityCall) -> Response {
        switch (call.method, parts) {
        case ("GET", ["login"]): return signInPage(call, failure: nil)
        case ("POST", ["login"]): return signIn(&call)
        case ("GET", ["logout"]):
            if let id = call.cookie("JSESSIONID") { sessions.remove(id) }
            call.note(.logout, "done") { $0.kind = "page" }
            let forgotten = ["JSESSIONID", "REMEMBER_ME"].map { Self.cookie($0, "", "; Max-Age=0") }
            return redirect(to: "/web/guest/home", [], headers: forgotten)
        case ("GET", ["verify_email_address"]):
            return IdentityPage.message(status: 200, title: "Verify", "Follow the link that was sent to you")
        default: return IdentityPage.message(status: 404, title: "Not found", "The page does not exist")
        }
    }

    /// `POST /c/portal/login`: the beginning of a chain of redirects that ends at a page with the session's token.
    private mutating func signIn(_ call: inout IdentityCall) -> Response {
        guard let form = try? OAuthParameters(form: call.request) else {
            return signInPage(call, failure: "The form is not understood")
        }
        guard call.cookie("COOKIE_SUPPORT") == "true" else {
            return signInPage(call, failure: "Enable cookies in your browser")
        }
        guard hasPageToken(form, call) else {
            call.note(.login, "refused") { ($0.kind, $0.reason) = ("cookie", "no p_auth of its page") }
            return IdentityPage.message(
                status: 403, title: "Forbidden", "The form does not have the authentication token of its page")
        }
        let name = form["login"] ?? form["username"] ?? ""
        guard let person = people.person(name, by: authenticationType), person.accepts(password: form["password"])
        else {
            call.note(.login, "refused") { ($0.kind, $0.reason) = ("cookie", "wrong name or password") }
            return signInPage(call, failure: "Authentication failed. Please try again")
        }
        call.person = person.email
        guard person.isVerified else {
            call.note(.login, "refused") { ($0.kind, $0.reason) = ("cookie", "not verified") }
            return redirect(to: "/c/portal/verify_email_address", [])
        }
        call.note(.login, "accepted") { $0.kind = "cookie" }
        var cookies = begin(person, at: call.now).cookies
        if form["rememberMe"] == "true" { cookies.append(Self.cookie("REMEMBER_ME", "true", "; Max-Age=31536000")) }
        return redirect(to: "/c", [], headers: cookies)
    }

    mutating func begin(_ person: Person, at now: Int64) -> (session: Session, cookies: [Request.Field]) {
        let id = opaqueToken(bytes: 16).uppercased()
        let session = Session(person: person.id, token: alphanumericToken(8))
        sessions.insert(session, key: id, until: now + Self.sessionLifetime * 1000, at: now)
        return (
            session,
            [
                Self.cookie("JSESSIONID", id), Self.cookie("COMPANY_ID", "\(companyID)"),
                Self.cookie("COOKIE_SUPPORT", "true"),
            ]
        )
    }

    private static func cookie(_ name: String, _ value: String, _ more: String = "") -> Request.Field {
        .init("Set-Cookie", "\(name)=\(value); Path=/; HttpOnly\(more)")
    }

    /// The session of the request's cookie. Its idle timeout starts anew.
    func session(_ call: IdentityCall) -> (id: String, session: Session)? {
        guard let id = call.cookie("JSESSIONID"), let session = sessions.value(id, at: call.now) else { return nil }
        return (id, session)
    }

    mutating func touch(_ id: String, at now: Int64) { sessions.extend(id, until: now + Self.sessionLifetime * 1000) }

    private mutating func signInPage(_ call: IdentityCall, failure: String?) -> Response {
        var token = givesGuestsTokens ? alphanumericToken(8) : nil
        var cookies = [Self.cookie("COOKIE_SUPPORT", "true")]
        if version == .v74 {
            let known = call.cookie("JSESSIONID").flatMap { guestTokens.value($0, at: call.now) }
            let fresh = known ?? alphanumericToken(8)
            if known == nil {
                let id = opaqueToken(bytes: 16).uppercased()
                guestTokens.insert(fresh, key: id, until: call.now + Self.sessionLifetime * 1000, at: call.now)
                cookies.append(Self.cookie("JSESSIONID", id))
            }
            token = fresh
        }
        var page = IdentityPage.signIn(
            title: "Sign In - Liferay", userLabel: label, userField: "login", query: call.request.query,
            failure: failure, note: token.map { Self.script($0) } ?? "")
        // A portal shows the form again with 200.
        page.status = 200
        page.headers += cookies
        return page
    }

    /// Whether a form has the token of the page that was shown in the same browser, where the version wants it.
    private func hasPageToken(_ form: OAuthParameters, _ call: IdentityCall) -> Bool {
        guard version == .v74 else { return true }
        guard let own = call.cookie("JSESSIONID").flatMap({ guestTokens.value($0, at: call.now) }) else { return false }
        return (form["p_auth"] ?? call.request.header("X-CSRF-Token")) == own
    }

    private static func script(_ token: String) -> String {
        "<script>var Liferay = Liferay || {}; Liferay.authToken = '\(token)';</script>\n"
    }

    /// Any page: `/c` leads on to the home page, and that has the session's token.
    mutating func page(_ call: inout IdentityCall) -> Response {
        let found = session(call)
        if let found {
            touch(found.id, at: call.now)
            call.person = people[found.session.person]?.email
        }
        if call.parts.first == "c" || call.path == "/" {
            return redirect(to: "/web/guest/home", [])
        }
        let token = found?.session.token ?? (givesGuestsTokens ? alphanumericToken(8) : nil)
        let greeting = found.flatMap { people[$0.session.person] }.map { "Welcome \($0.fullName)!" } ?? "Welcome, guest"
        return IdentityPage.page(
            status: 200, title: "Home - Liferay", head: token.map { Self.script($0) } ?? "",
            "<p id=\"greeting\">\(IdentityPage.escaped(greeting))</p>")
    }

    /// `/documents/{group}/{folder}/{name}`: one for guests, one for users with a session. Other ways to sign in are not accepted here.
    mutating func document(_ parts: [String], _ call: inout IdentityCall) -> Response {
        guard parts.count == 3, parts[0] == "\(Self.groupID)" else {
            return IdentityPage.message(status: 404, title: "Not found", "The document does not exist")
        }
        switch parts[2] {
        case "public.txt": return Response(status: 200, content: .data(Array("for all\n".utf8), type: "text/plain"))
        case "private.txt":
            guard let found = session(call) else {
                return redirect(to: "/c/portal/login", [.init("redirect", call.path)])
            }
            touch(found.id, at: call.now)
            call.person = people[found.session.person]?.email
            return Response(status: 200, content: .data(Array("for members\n".utf8), type: "text/plain"))
        default: return IdentityPage.message(status: 404, title: "Not found", "The document does not exist")
        }
    }
}
