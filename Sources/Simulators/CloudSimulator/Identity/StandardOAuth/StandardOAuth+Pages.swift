// SPDX-License-Identifier: Apache-2.0

/// The authorization endpoint (RFC 6749, 3.1): sign-in, consent and redirect.
extension StandardOAuth {
    struct Authorization: Sendable {
        var client: Client
        var redirect: String
        var state: String?
        var scope: String
        var isImplicit = false
        var challenge: StoredChallenge?
        var nonce: String?
        var attributes: [String: String] = [:]
    }

    struct Pending: Sendable {
        var authorization: Authorization
        var person: Int64
    }

    private enum Refusal: Error {
        /// Shown to the person, because no redirect URI can be trusted yet.
        case page(String)
        case redirect(Response, String)
    }

    /// The texts of one system's pages, and its authentication of people.
    struct Front {
        var title: String
        var userLabel = "E-mail"
        /// Hidden fields of the form, in addition to user and password.
        var hidden: [Request.Field] = []
        /// Finds the person with a user name and password. The description of a failure is shown on the page.
        var signIn: (String, String) throws(OAuthFailure) -> Person
        /// The person who is already signed in in this browser.
        var known: Person?
        /// Reads the system's own attributes from the request. It may refuse the request.
        var attributes: (OAuthParameters) throws(OAuthFailure) -> [String: String] = { _ throws(OAuthFailure) in [:] }
        /// The parameters of an error in the redirect: those of RFC 6749, unless the system has its own.
        var failure: (OAuthFailure) -> [Request.Field] = { $0.parameters }
        /// Whether errors are in the fragment; nil puts them where the token or the code would be.
        var putsErrorsInFragment: Bool?
        /// The fragment without the state, if it is not that of RFC 6749. Its argument is the time in milliseconds.
        var fragment: ((Issued, Int64) -> String)?
    }

    /// Handles `GET` and `POST` of the authorization endpoint.
    ///
    /// - Returns: the answer, and the person who has just signed in, so that a system can give the browser a session.
    mutating func page(_ call: inout IdentityCall, _ front: Front) -> (Response, signedIn: Person?) {
        let authorization: Authorization
        do throws(Refusal) {
            authorization = try asked(call, front)
        } catch {
            switch error {
            case .page(let reason):
                call.note(.authorize, "refused") { $0.reason = reason }
                return (IdentityPage.message(status: 400, title: front.title, reason), nil)
            case .redirect(let response, let reason):
                call.note(.authorize, "refused") { $0.reason = reason }
                return (response, nil)
            }
        }
        call.client = authorization.client.id
        if call.method == "GET" {
            call.note(.authorize, front.known == nil ? "shown" : "asked") {
                $0.isProtected = (pkce: authorization.challenge != nil, state: authorization.state != nil)
            }
            if let person = front.known { return (consent(authorization, person, &call, front), nil) }
            return (signInPage(call, front, failure: nil), nil)
        }
        return submit(authorization, &call, front)
    }

    private mutating func submit(
        _ authorization: Authorization, _ call: inout IdentityCall, _ front: Front
    ) -> (Response, signedIn: Person?) {
        let form: OAuthParameters
        do throws(OAuthFailure) {
            form = try OAuthParameters(form: call.request)
        } catch {
            return (IdentityPage.message(status: 400, title: front.title, error.description), nil)
        }
        if form["handle"] == nil, form["action"] == "deny" {
            call.note(.authorize, "cancelled")
            return (refuse(authorization, OAuthFailure(.accessDenied, "The user denied access"), call, front), nil)
        }
        if let handle = form["handle"] {
            guard let waiting = pending.take(handle, at: call.now),
                waiting.authorization.client.id == authorization.client.id
            else {
                return (IdentityPage.message(status: 400, title: front.title, "This page is too old; begin again"), nil)
            }
            guard form["action"] == "allow" else {
                call.note(.authorize, "denied")
                let failure = OAuthFailure(.accessDenied, "The user denied access")
                return (refuse(waiting.authorization, failure, call, front), nil)
            }
            call.note(.authorize, "granted") {
                $0.isProtected = (
                    pkce: waiting.authorization.challenge != nil, state: waiting.authorization.state != nil
                )
            }
            return (goOn(waiting, call, front), nil)
        }
        do throws(OAuthFailure) {
            let person = try front.signIn(form["username"] ?? "", form["password"] ?? "")
            call.person = person.email
            call.note(.login, "accepted") { $0.kind = "page" }
            return (consent(authorization, person, &call, front), person)
        } catch {
            call.note(.login, "refused") { $0.reason = error.description }
            return (signInPage(call, front, failure: error.description), nil)
        }
    }

    private func signInPage(_ call: IdentityCall, _ front: Front, failure: String?) -> Response {
        IdentityPage.signIn(
            title: front.title, userLabel: front.userLabel, query: call.request.query, hidden: front.hidden,
            failure: failure)
    }

    private mutating func consent(
        _ authorization: Authorization, _ person: Person, _ call: inout IdentityCall, _ front: Front
    ) -> Response {
        call.person = person.email
        let handle = opaqueToken()
        pending.insert(
            Pending(authorization: authorization, person: person.id), key: handle, until: call.now + 600_000,
            at: call.now)
        return IdentityPage.consent(
            title: front.title, person: person.email, application: authorization.client.name,
            wants: authorization.scope.split(separator: " ").map(String.init), query: call.request.query,
            handle: handle)
    }

    /// Redirects to the application, with a code in the query or a token in the fragment.
    private mutating func goOn(_ waiting: Pending, _ call: IdentityCall, _ front: Front) -> Response {
        let authorization = waiting.authorization
        let grant = Grant(
            client: authorization.client.id, person: waiting.person, scope: authorization.scope, login: opaqueToken(),
            authenticatedAt: call.now / 1000, nonce: authorization.nonce, attributes: authorization.attributes)
        guard !authorization.isImplicit else {
            let issued = issue(grant, at: call.now)
            if let text = front.fragment?(issued, call.now) {
                let rest = formEncoded(tail(authorization, call))
                return redirect(to: authorization.redirect + "#" + text + (rest.isEmpty ? "" : "&" + rest), [])
            }
            let fields: [Request.Field] = [
                .init("access_token", issued.access), .init("token_type", "Bearer"),
                .init("expires_in", "\(rules.accessLifetime)"), .init("scope", grant.scope),
            ]
            return redirect(to: authorization.redirect, fields + tail(authorization, call), inFragment: true)
        }
        let code = rules.code()
        codes.insert(
            Code(grant: grant, redirect: authorization.redirect, challenge: authorization.challenge), key: code,
            until: call.now + rules.codeLifetime * 1000, at: call.now)
        return redirect(to: authorization.redirect, [.init("code", code)] + tail(authorization, call))
    }

    private func refuse(
        _ authorization: Authorization, _ failure: OAuthFailure, _ call: IdentityCall, _ front: Front
    ) -> Response {
        redirect(
            to: authorization.redirect, front.failure(failure) + tail(authorization, call),
            inFragment: front.putsErrorsInFragment ?? authorization.isImplicit)
    }

    /// Returns the state and the issuer (RFC 9207).
    private func tail(_ authorization: Authorization, _ call: IdentityCall) -> [Request.Field] {
        (authorization.state.map { [.init("state", $0)] } ?? [])
            + (rules.namesIssuer ? [Request.Field("iss", rules.wrongIssuer ?? call.base)] : [])
    }

    /// The client and its redirect URI are checked first: until they are known, nobody is redirected (RFC 6749, 4.1.2.1).
    private func asked(_ call: IdentityCall, _ front: Front) throws(Refusal) -> Authorization {
        let parameters: OAuthParameters
        do throws(OAuthFailure) {
            parameters = try OAuthParameters(call.request.query)
        } catch {
            throw .page(error.description)
        }
        guard let client = client(parameters["client_id"]) else { throw .page("The client is not known here") }
        guard let target = parameters["redirect_uri"], client.registration.accepts(redirect: target) else {
            throw .page("The redirect URI is not registered for this client")
        }
        let type = parameters["response_type"] ?? ""
        let state = parameters["state"].flatMap { $0.utf8.count <= 2048 ? $0 : nil }
        var authorization = Authorization(
            client: client, redirect: target, state: state, scope: "", isImplicit: type == "token",
            nonce: parameters["nonce"])
        do throws(OAuthFailure) {
            guard rules.responseTypes.contains(type) else {
                throw OAuthFailure(.unsupportedResponseType, "The response_type is not supported")
            }
            guard client.grants.contains(type == "token" ? "implicit" : "authorization_code") else {
                throw OAuthFailure(.unauthorizedClient, "The client may not use this response_type")
            }
            guard (authorization.nonce ?? "").utf8.count <= 2048, state == parameters["state"] else {
                throw OAuthFailure(.invalidRequest, "A parameter is too long")
            }
            authorization.scope = try scope(parameters["scope"], of: client)
            authorization.challenge = try StoredChallenge.of(parameters)
            guard type == "token" || authorization.challenge != nil || !client.needsChallenge else {
                throw OAuthFailure(.invalidRequest, "A code_challenge is needed")
            }
            authorization.attributes = try front.attributes(parameters)
        } catch {
            throw .redirect(refuse(authorization, error, call, front), error.code.rawValue)
        }
        return authorization
    }
}
