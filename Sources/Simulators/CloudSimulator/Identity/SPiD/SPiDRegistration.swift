// SPDX-License-Identifier: Apache-2.0

/// A person who has registered, and the page to go back to once the address is confirmed.
struct SPiDRegistration: Sendable {
    var person: Int64
    var authorization: SPiDAuthorization?
}

/// Registering at SPiD's own page. Who registers and verifies the account goes back to the application as who signs in does.
extension SPiDService {
    private static let title = "Create your SPiD account"
    /// How long the link is good that confirms an address.
    static let registrationLifetime: Int64 = 86_400

    /// `GET /flow/signup`. An application that has no redirect URI in the address gets no code: the person may register anyway.
    mutating func showRegistration(_ call: inout IdentityCall) -> Response {
        switch application(&call) {
        case .success: return registrationPage(call)
        case .failure(let instead): return instead.response
        }
    }

    /// Handles the form: makes the account, and shows the link that a real service would send.
    mutating func submitRegistration(_ call: inout IdentityCall) -> Response {
        let authorization: SPiDAuthorization?
        switch application(&call) {
        case .success(let found): authorization = found
        case .failure(let instead): return instead.response
        }
        guard let form = try? OAuthParameters(form: call.request) else {
            return registrationPage(call, failure: "The form is not understood")
        }
        if form["action"] == "deny" {
            call.note(.account, "cancelled")
            guard let authorization else { return redirect(to: "/login", []) }
            return redirect(to: authorization.cancelRedirect ?? authorization.redirect, state(of: authorization))
        }
        let (email, password) = (form["username"]?.trimmingSpaces() ?? "", form["password"] ?? "")
        guard email.contains("@"), email.utf8.count <= 254 else {
            return registrationPage(call, failure: "This is not an e-mail address")
        }
        guard (8...256).contains(password.utf8.count) else {
            return registrationPage(call, failure: "A password has 8 to 256 characters")
        }
        guard people.with(email: email) == nil else {
            return registrationPage(call, failure: "There is an account with this e-mail address; log in")
        }
        guard let person = people.add(email: email, password: password, isVerified: false) else {
            return registrationPage(call, failure: "There are too many users")
        }
        call.note(.account, "registered")
        let token = opaqueToken()
        registrations.insert(
            SPiDRegistration(person: person.id, authorization: authorization), key: token,
            until: call.now + Self.registrationLifetime * 1000, at: call.now)
        return IdentityPage.page(
            status: 200, title: Self.title,
            """
            <p>SPiD sends a link to <b id="person">\(IdentityPage.escaped(person.email))</b>, which confirms the address. The \
            simulator sends no mail: <a id="confirm" href="/flow/confirm?token=\(token)">this is the link</a>.</p>
            """)
    }

    /// The link in the mail: the address is confirmed, the browser has a session, and the application gets its code.
    mutating func confirmRegistration(_ call: inout IdentityCall) -> Response {
        guard let token = call.request.query("token"), let waiting = registrations.take(token, at: call.now),
            var person = people[waiting.person]
        else { return IdentityPage.message(status: 400, title: Self.title, "This link is used up, or too old") }
        person.isVerified = true
        people[person.id] = person
        call.person = person.email
        call.note(.account, "verified")
        let session = beginWebSession(person.id, at: call.now)
        let cookies = [cookie("identity", session)]
        guard let authorization = waiting.authorization else {
            var page = IdentityPage.message(
                status: 200, title: "SPiD", "Your address is confirmed, and you are signed in", id: "signed-in")
            page.headers += cookies
            return page
        }
        call.client = authorization.client
        return goOn(authorization, person, session, &call, cookies)
    }

    /// The authorization request that registering is a part of; nil for a person who came by a link.
    private func application(_ call: inout IdentityCall) -> Result<SPiDAuthorization?, PageInstead> {
        let id = call.request.query("client_id")
        guard let id, call.request.query("redirect_uri") != nil || client(id)?.defaultRedirect != nil else {
            guard id == nil || client(id) != nil else {
                return .failure(
                    PageInstead(
                        IdentityPage.message(
                            status: 400, title: Self.title, "invalid_client_id: no such client")))
            }
            return .success(nil)
        }
        return asked(&call).map(Optional.some)
    }

    private func registrationPage(_ call: IdentityCall, failure: String? = nil) -> Response {
        IdentityPage.signIn(
            title: Self.title, query: call.request.query, failure: failure, button: "Create the account")
    }
}
