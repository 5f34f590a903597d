// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// Sign-up, and sign-in without a password.
extension SPiDService {
    private func ownToken(_ caller: Caller) throws(SPiDFailure) {
        guard caller.grant.person == nil else { throw .api(403, "A client's own token is needed") }
    }

    /// `POST /api/2/signup`: 201, or 302 if the account exists.
    mutating func signUp(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        try ownToken(caller)
        guard let email = form["email"], email.contains("@"), email.utf8.count <= 254 else {
            throw .api(400, "email is missing")
        }
        return try add(email, isVerified: false, caller, call)
    }

    private mutating func add(
        _ email: String, isVerified: Bool, _ caller: Caller, _ call: IdentityCall
    ) throws(SPiDFailure) -> Response {
        guard people.with(email: email) == nil else { throw .api(302, "The user exists already") }
        guard let person = people.add(email: email, isVerified: isVerified) else { throw .api(503, "Too many users") }
        let data: JSONValue = [
            "userId": .string("\(person.id)"), "email": .string(person.email),
            "merchants": [.integer(caller.client.merchant)],
        ]
        return answer(data, object: "User", status: 201, caller, call)
    }

    /// `POST /api/2/signup_jwt`: makes an account for a person who signed in to a third party.
    mutating func signUpByAssertion(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        try ownToken(caller)
        let claims = try assertion(form["jwt"], caller.client, "registration", path: "/api/2/signup_jwt", call)
        guard try person(of: claims) == nil else { throw .api(302, "The user exists already") }
        let email = "\(claims.token)@\(claims.provider).example"
        let response = try add(email, isVerified: true, caller, call)
        thirdParties["\(claims.provider):\(claims.token)"]?.person = people.with(email: email)?.id
        return response
    }

    /// `POST /api/2/user/attach_jwt`: connects the caller to an account of a third party.
    mutating func attach(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        guard let own = caller.grant.person else { throw .api(403, "A user's token is needed") }
        let claims = try assertion(form["jwt"], caller.client, "attach", path: call.path, call)
        guard try person(of: claims) == nil else { throw .api(302, "The account is connected already") }
        thirdParties["\(claims.provider):\(claims.token)"]?.person = own
        return answer(["result": true], object: "User", caller, call)
    }

    /// `GET /api/2/email/{base64url}/status`.
    mutating func emailStatus(_ encoded: String, _ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let caller = try caller(&call)
        guard let bytes = Base64.urlDecoded(encoded.prefix { $0 != "=" }.utf8) else { throw .api(400, "Not base64url") }
        let person = people.with(email: String(decoding: bytes, as: UTF8.self))
        let data: JSONValue = [
            "exists": .bool(person != nil), "available": .bool(person == nil),
            "verified": .bool(person?.isVerified == true),
        ]
        return answer(data, object: "Email", caller, call)
    }

    // MARK: Without a password

    /// `POST /api/2/passwordless/start`. The code is always 123456, because no mail is sent.
    mutating func startPasswordless(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let caller = try caller(&call, form)
        try ownToken(caller)
        guard form["connection"] == "email", let person = people.with(email: form["email"] ?? "") else {
            throw .api(400, "connection must be email, and email somebody's")
        }
        let token = opaqueToken()
        passwordless.insert(
            SPiDPasswordless(client: caller.client.id, person: person.id, code: Self.passwordlessCode), key: token,
            until: call.now + 300_000, at: call.now)
        return answer(["passwordless_token": .string(token)], object: "Passwordless", caller, call)
    }

    private static let passwordlessCode = "123456"

    /// `POST /oauth/ro`.
    mutating func passwordlessToken(_ call: inout IdentityCall) throws(SPiDFailure) -> Response {
        let form = try form(call)
        let client = try authenticatedClient(&call, form)
        guard form["grant_type"] == "passwordless" else {
            throw .oauth(.unsupportedGrantType, "The grant type is not supported")
        }
        guard let token = form["passwordless_token"], let waiting = passwordless.value(token, at: call.now),
            waiting.client == client.id
        else { throw .oauth(.invalidGrant, "The passwordless token is unknown or expired") }
        guard form["code"] == waiting.code else {
            passwordless.update(token) { $0.attempts += 1 }
            if waiting.attempts + 1 >= SPiDPasswordless.maximumAttempts { passwordless.remove(token) }
            throw .oauth(.invalidUserCredentials, "The code is wrong")
        }
        passwordless.remove(token)
        return try begin(waiting.person, client, form["scope"], &call)
    }
}

/// A person who has registered, and the page to return to once the address is confirmed.
struct SPiDRegistration: Sendable {
    var person: Int64
    var authorization: SPiDAuthorization?
}

/// Registration on SPiD's own page. After the verification the person returns to the application, as after a sign-in.
extension SPiDService {
    private static let title = "Create your SPiD account"
    /// The lifetime of the confirmation link.
    private static let registrationLifetime: Int64 = 86_400

    /// `GET /flow/signup`. Without a redirect URI in the address the application gets no code, but the person may still register.
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

    /// Handles the link of the mail: the address is confirmed, the browser gets a session, and the application gets its code.
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

    /// Returns the authorization request of the registration; nil for a person who came by a link.
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
