// SPDX-License-Identifier: Apache-2.0

/// A checked authorization request (RFC 6749, 4.1.1).
struct SPiDAuthorization: Sendable {
    var client: String
    var clientName: String
    var redirect: String
    var cancelRedirect: String?
    var state: String?
    var scope: String
    var isImplicit: Bool
    var challenge: StoredChallenge?
    /// Whether to ask for the password even if there is a session.
    var isForced: Bool

    fileprivate enum Refusal: Error {
        /// Shown to the person, because no redirect URI can be trusted yet.
        case page(String)
        case redirect(Response, String)
    }
}

/// A person who has signed in and is asked for consent.
struct SPiDPending: Sendable {
    var authorization: SPiDAuthorization
    var person: Int64
    var webSession: String
}

extension SPiDService {
    private static let title = "Log in to SPiD"

    /// `GET /login` and its aliases. A browser that has a session or is remembered is signed in without a form.
    mutating func showLogin(_ call: inout IdentityCall) -> Response {
        guard call.request.query.contains(where: { $0.name == "client_id" }) else {
            return signInPage(call)
        }
        let authorization: SPiDAuthorization
        switch asked(&call) {
        case .success(let good): authorization = good
        case .failure(let instead): return instead.response
        }
        let protection = (pkce: authorization.challenge != nil, state: authorization.state != nil)
        if !authorization.isForced, let (person, session, cookies) = knownBrowser(call) {
            call.person = person.email
            return goOn(authorization, person, session, &call, cookies)
        }
        call.note(.authorize, "shown") { $0.isProtected = protection }
        return signInPage(call)
    }

    private func signInPage(_ call: IdentityCall) -> Response {
        let target = "/flow/signup?" + formEncoded(call.request.query)
        let note = "<p><a id=\"register\" href=\"\(IdentityPage.escaped(target))\">Create an account</a></p>\n"
        return IdentityPage.signIn(title: Self.title, query: call.request.query, canRemember: true, note: note)
    }

    /// Handles the form of the sign-in page.
    mutating func submitLogin(_ call: inout IdentityCall) -> Response {
        let form: OAuthParameters
        do throws(OAuthFailure) {
            form = try OAuthParameters(form: call.request)
        } catch {
            return IdentityPage.message(status: 400, title: Self.title, error.description)
        }
        if let handle = form["handle"] { return decide(handle, form, &call) }
        var authorization: SPiDAuthorization?
        if call.request.query.contains(where: { $0.name == "client_id" }) {
            switch asked(&call) {
            case .success(let good): authorization = good
            case .failure(let instead): return instead.response
            }
        }
        if form["action"] == "deny" {
            call.note(.authorize, "cancelled")
            // SPiD redirects a person who cancels with neither a code nor an error.
            guard let authorization else { return redirect(to: "/login", []) }
            return redirect(to: authorization.cancelRedirect ?? authorization.redirect, state(of: authorization))
        }
        let person: Person
        do throws(SPiDFailure) {
            person = try signIn(form["username"] ?? "", form["password"] ?? "")
        } catch {
            call.note(.login, "refused") { $0.reason = error.reason }
            guard case .oauth(_, let text, _) = error else { return error.response }
            return IdentityPage.signIn(
                title: Self.title, query: call.request.query, canRemember: true, failure: text)
        }
        call.person = person.email
        call.note(.login, "accepted") { $0.kind = "page" }
        let session = beginWebSession(person.id, at: call.now)
        var cookies = [cookie("identity", session)]
        if form["remember"] != nil {
            let token = opaqueToken()
            rememberedPeople.insert(
                person.id, key: token, until: call.now + Self.rememberLifetime * 1000, at: call.now)
            cookies.append(cookie("remember", token, maximumAge: Self.rememberLifetime))
        }
        guard let authorization else {
            var page = IdentityPage.message(status: 200, title: "SPiD", "You are signed in", id: "signed-in")
            page.headers += cookies
            return page
        }
        return goOn(authorization, person, session, &call, cookies)
    }

    /// Returns the person with that name and password. Unknown user, wrong password and unverified user are different errors.
    func signIn(_ name: String, _ password: String) throws(SPiDFailure) -> Person {
        guard let person = people.with(email: name.trimmingSpaces()) else {
            throw .oauth(.unknownUser, "There is no such user")
        }
        guard person.accepts(password: password) else {
            throw .oauth(.invalidUserCredentials, "Invalid email or password")
        }
        guard person.isVerified else { throw .oauth(.unverifiedUser, "The user is not verified") }
        return person
    }

    mutating func beginWebSession(_ person: Int64, at now: Int64) -> String {
        let session = opaqueToken()
        webSessions.insert(person, key: session, until: now + Self.webSessionLifetime * 1000, at: now)
        return session
    }

    func cookie(_ name: String, _ value: String, maximumAge: Int64? = nil) -> Request.Field {
        let age = maximumAge.map { "; Max-Age=\($0)" } ?? ""
        return .init("Set-Cookie", "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax\(age)")
    }

    // MARK: Steps

    /// Handles the person's answer on the consent page.
    private mutating func decide(_ handle: String, _ form: OAuthParameters, _ call: inout IdentityCall) -> Response {
        guard let waiting = pending.take(handle, at: call.now), let person = people[waiting.person] else {
            return IdentityPage.message(status: 400, title: Self.title, "This page is too old; begin again")
        }
        call.client = waiting.authorization.client
        call.person = person.email
        guard form["action"] == "allow" else {
            call.note(.authorize, "denied")
            let failure = OAuthFailure(.accessDenied, "The user denied access")
            return redirect(
                to: waiting.authorization.redirect, failure.parameters + state(of: waiting.authorization),
                inFragment: waiting.authorization.isImplicit)
        }
        if agreements.count >= SPiDAgreement.maximum { agreements = [] }
        agreements.insert(SPiDAgreement(person: person.id, client: waiting.authorization.client))
        return goOn(waiting.authorization, person, waiting.webSession, &call, [])
    }

    /// Redirects to the application, or shows the consent page first.
    mutating func goOn(
        _ authorization: SPiDAuthorization, _ person: Person, _ session: String, _ call: inout IdentityCall,
        _ cookies: [Request.Field]
    ) -> Response {
        guard agreements.contains(SPiDAgreement(person: person.id, client: authorization.client)) else {
            let handle = opaqueToken()
            pending.insert(
                SPiDPending(authorization: authorization, person: person.id, webSession: session), key: handle,
                until: call.now + 600_000, at: call.now)
            call.note(.authorize, "asked")
            return IdentityPage.consent(
                title: "Terms of \(authorization.clientName)", person: person.email,
                application: authorization.clientName,
                wants: ["your SPiD account"] + authorization.scope.split(separator: " ").map(String.init),
                query: call.request.query, handle: handle, headers: cookies)
        }
        call.note(.authorize, "granted") {
            $0.isProtected = (pkce: authorization.challenge != nil, state: authorization.state != nil)
        }
        if authorization.isImplicit {
            let grant = SPiDGrant(
                client: authorization.client, person: person.id, scope: authorization.scope, login: opaqueToken(),
                webSession: session, issuedAt: call.now)
            let token = issueAccess(grant, at: call.now)
            let fields: [Request.Field] = [
                .init("access_token", token), .init("expires_in", "\(Self.accessLifetime)"),
                .init("token_type", "Bearer"), .init("user_id", "\(person.id)"),
            ]
            return redirect(
                to: authorization.redirect, fields + state(of: authorization), inFragment: true, headers: cookies)
        }
        let code = opaqueToken()
        codes.insert(
            SPiDCode(
                kind: .authorization(redirect: authorization.redirect, challenge: authorization.challenge),
                client: authorization.client, person: person.id, scope: authorization.scope, webSession: session),
            key: code, until: call.now + Self.codeLifetime * 1000, at: call.now)
        return redirect(
            to: authorization.redirect, [.init("code", code)] + state(of: authorization), headers: cookies)
    }

    func state(of authorization: SPiDAuthorization) -> [Request.Field] {
        authorization.state.map { [.init("state", $0)] } ?? []
    }

    /// Returns the person of the browser's session. A remembered browser gets a new session.
    private mutating func knownBrowser(
        _ call: IdentityCall
    ) -> (Person, session: String, cookies: [Request.Field])? {
        if let session = call.cookie("identity"), let id = webSessions.value(session, at: call.now),
            let person = people[id]
        {
            return (person, session, [])
        }
        guard let token = call.cookie("remember"), let id = rememberedPeople.value(token, at: call.now),
            let person = people[id]
        else { return nil }
        let session = beginWebSession(id, at: call.now)
        return (person, session, [cookie("identity", session)])
    }

    // MARK: The request

    func asked(_ call: inout IdentityCall) -> Result<SPiDAuthorization, PageInstead> {
        do throws(SPiDAuthorization.Refusal) {
            let authorization = try authorization(call.request.query)
            call.client = authorization.client
            return .success(authorization)
        } catch {
            switch error {
            case .page(let reason):
                call.note(.authorize, "refused") { $0.reason = reason }
                return .failure(PageInstead(IdentityPage.message(status: 400, title: Self.title, reason)))
            case .redirect(let response, let reason):
                call.note(.authorize, "refused") { $0.reason = reason }
                return .failure(PageInstead(response))
            }
        }
    }

    private func authorization(_ query: [Request.Field]) throws(SPiDAuthorization.Refusal) -> SPiDAuthorization {
        let parameters: OAuthParameters
        do throws(OAuthFailure) {
            parameters = try OAuthParameters(query)
        } catch {
            throw .page(error.description)
        }
        guard let client = client(parameters["client_id"]) else { throw .page("invalid_client_id: no such client") }
        guard let target = parameters["redirect_uri"] ?? client.defaultRedirect,
            client.registration.accepts(redirect: target)
        else { throw .page("invalid_client_id: the redirect_uri is not registered") }
        let cancel = parameters["cancel_redirect_uri"]
        guard cancel.map({ client.registration.accepts(redirect: $0) }) != false else {
            throw .page("invalid_client_id: the cancel_redirect_uri is not registered")
        }
        let type = parameters["response_type"] ?? "code"
        var authorization = SPiDAuthorization(
            client: client.id, clientName: client.name, redirect: target, cancelRedirect: cancel,
            state: parameters["state"], scope: parameters["scope"] ?? "", isImplicit: type == "token",
            challenge: nil, isForced: parameters["force"] == "1")
        do throws(OAuthFailure) {
            guard type == "code" || type == "token" else {
                throw OAuthFailure(.unsupportedResponseType, "Only code and token are supported")
            }
            guard (authorization.state ?? "").utf8.count <= 2048, authorization.scope.utf8.count <= 512 else {
                throw OAuthFailure(.invalidRequest, "A parameter is too long")
            }
            authorization.challenge = try StoredChallenge.of(parameters)
        } catch {
            let state = authorization.state.flatMap { $0.utf8.count <= 2048 ? [Request.Field("state", $0)] : nil } ?? []
            throw .redirect(
                redirect(to: target, error.parameters + state, inFragment: type == "token"), error.code.rawValue)
        }
        return authorization
    }
}

/// A response instead of the sign-in page.
struct PageInstead: Error {
    var response: Response
    init(_ response: Response) { self.response = response }
}
