// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// `GET` and `POST /authorize`: the hosted sign-in page and its forms.
///
/// The page stores nothing in the browser: the request is in the address, and each form is sent to the same address.
extension CloudAPI {
    func showSignInPage(_ call: Call) -> Response {
        switch authorizationRequest(call) {
        case .instead(let response): return response
        case .request(let request):
            journal.authorize(request, outcome: "shown")
            return page(for: request, call, failure: nil)
        }
    }

    func submitSignInPage(_ call: Call) -> Response {
        let request: ReceivedAuthorization
        switch authorizationRequest(call) {
        case .instead(let response): return response
        case .request(let good): request = good
        }
        do throws(OAuthFailure) {
            let form = try OAuthParameters(form: call.request)
            guard form["action"] != "deny" else {
                journal.authorize(request, outcome: "denied")
                return request.redirect(OAuthFailure(.accessDenied, "The user denied access").parameters)
            }
            let user: User
            switch try signIn(form, request) {
            case .user(let known): user = known
            case .page(let failure):
                journal.authorize(request, outcome: "refused")
                return page(for: request, call, failure: failure)
            case .secondStep(let handle, let failure):
                journal.authorize(request, outcome: failure == nil ? "code_sent" : "refused")
                return SignInPage.secondStep(
                    session: handle, query: formEncoded(call.request.query), failure: failure)
            }
            let code = try grant(request, to: user)
            journal.authorize(request, outcome: "granted", user: user.userName)
            return request.redirect([.init("code", code)])
        } catch {
            journal.authorize(request, outcome: "refused")
            return request.redirect(error.parameters)
        }
    }

    private enum Asked {
        case request(ReceivedAuthorization)
        /// A response instead of the sign-in page.
        case instead(Response)
    }

    private enum Submission {
        case user(User)
        /// The page again, with the reason.
        case page(String)
        /// The page that asks for the code, for the sign-in with that handle.
        case secondStep(String, failure: String?)
    }

    private func signIn(_ form: OAuthParameters, _ request: ReceivedAuthorization) throws(OAuthFailure) -> Submission {
        if let handle = form["session"] { return try finish(handle, code: form["code"] ?? "") }
        guard let name = form["username"], name.utf8.count <= User.maximumName else { return .page("User is missing") }
        if let provider = request.identityProvider, provider != SignInPage.ownProvider {
            do throws(APIError) {
                return .user(try federatedUser(name, provider: provider))
            } catch {
                throw OAuthFailure(.serverError, error.description)
            }
        }
        guard let user = readState({ $0.user(named: name) }), user.accepts(password: form["password"] ?? "") else {
            return .page("Incorrect user name or password")
        }
        guard user.isConfirmed else { return .page("The account is not verified") }
        guard user.needsSecondStep else { return .user(user) }
        do throws(APIError) {
            return .secondStep(try sendLogInCode(user, for: .secondStep), failure: nil)
        } catch {
            throw OAuthFailure(.serverError, error.description)
        }
    }

    private func finish(_ handle: String, code: String) throws(OAuthFailure) -> Submission {
        do throws(APIError) {
            return try finishLogIn(handle: handle, code: code).map { .user($0) } ?? .page("Sign in again")
        } catch {
            guard error == .wrongCode else { throw OAuthFailure(.serverError, error.description) }
            return .secondStep(handle, failure: "The code is not right")
        }
    }

    /// Returns the account of a user of an identity provider, which is made at the first sign-in.
    private func federatedUser(_ name: String, provider: String) throws(APIError) -> User {
        try addUser { state in
            let known = state.user(named: name)
            if let known, known.isConfirmed { return known }
            // A sign-up with that name was never confirmed, so its password must not give access to the account.
            var user = known ?? User(id: makeUUID(), userName: name, password: nil)
            user.password = nil
            user.isConfirmed = true
            user.provider = provider
            return user
        }
    }

    private func grant(_ request: ReceivedAuthorization, to user: User) throws(OAuthFailure) -> String {
        let code = makeUUID()
        let now = now
        let grant = AuthorizationGrant(
            userID: user.id, clientID: request.client.id, redirectURI: request.redirectURI,
            challenge: request.challenge, nonce: request.nonce, scope: request.scope,
            provider: request.identityProvider ?? SignInPage.ownProvider,
            expiresAt: now + options.codeLifetime.milliseconds)
        do throws(APIError) {
            try change { $0.grants.issue(grant, code: code, at: now) }
        } catch {
            throw OAuthFailure(.serverError, error.description)
        }
        return code
    }

    private func authorizationRequest(_ call: Call) -> Asked {
        let relay = addresses.withLock { $0.api } + RelayPage.path
        do throws(ReceivedAuthorization.Refusal) {
            return .request(
                try ReceivedAuthorization(
                    query: call.request.query, clients: options.oauthClients, relay: relay,
                    providers: options.identityProviders))
        } catch {
            switch error {
            case .page(let reason):
                journal.authorizeRefused(reason)
                return .instead(SignInPage.failure(reason))
            case .redirect(let response, let failure):
                journal.authorizeRefused(failure.code.rawValue)
                return .instead(response)
            }
        }
    }

    private func page(for request: ReceivedAuthorization, _ call: Call, failure: String?) -> Response {
        let query = formEncoded(call.request.query)
        if let provider = request.identityProvider, provider != SignInPage.ownProvider {
            let user = "\(provider.lowercased())@example.com"
            return SignInPage.consent(provider: provider, user: user, query: query, failure: failure)
        }
        return SignInPage.password(providers: options.identityProviders, query: query, failure: failure)
    }
}

/// An authorization request: the query of `GET /authorize`.
struct ReceivedAuthorization {
    var client: OAuthClient
    var redirectURI: String
    var state: String?
    var challenge: String?
    var nonce: String?
    var scope: String
    /// Nil: the page lets the user choose.
    var identityProvider: String?

    static let defaultScope = "aws.cognito.signin.user.admin email openid phone profile"

    /// Returns the redirect of the browser with the answer.
    fileprivate func redirect(_ parameters: [Request.Field]) -> Response {
        let all = parameters + (state.map { [Request.Field("state", $0)] } ?? [])
        let target = redirectURI + (redirectURI.contains("?") ? "&" : "?") + formEncoded(all)
        return Response(status: 302, content: .none, headers: [.init("Location", target)] + OAuthFailure.uncached)
    }
}

extension ReceivedAuthorization {
    /// Why a request gets no sign-in page.
    fileprivate enum Refusal: Error {
        /// Shown to the user, because no redirect URI can be trusted yet.
        case page(String)
        /// Reported to the application, through the browser.
        case redirect(Response, OAuthFailure)
    }

    /// The client and its redirect URI are checked first: until they are known, nobody is redirected (RFC 6749, 4.1.2.1).
    fileprivate init(query: [Request.Field], clients: [OAuthClient], relay: String, providers: [String]) throws(Refusal)
    {
        let parameters: OAuthParameters
        do throws(OAuthFailure) {
            parameters = try OAuthParameters(query)
        } catch {
            throw .page(error.description)
        }
        guard let id = parameters["client_id"], let client = clients.first(where: { $0.id == id }) else {
            throw .page("The client is not known here")
        }
        guard let redirect = parameters["redirect_uri"],
            client.accepts(redirect: redirect) || redirect == relay && client.id == OAuthClient.shared.id
        else {
            throw .page("The redirect URI is not registered for this client")
        }
        self.client = client
        redirectURI = redirect
        state = parameters["state"]
        nonce = parameters["nonce"]
        challenge = parameters["code_challenge"]
        scope = parameters["scope"] ?? Self.defaultScope
        identityProvider = parameters["identity_provider"]
        do throws(OAuthFailure) {
            try check(parameters, providers: providers)
        } catch {
            throw .redirect(self.redirect(error.parameters), error)
        }
    }

    private func check(_ parameters: OAuthParameters, providers: [String]) throws(OAuthFailure) {
        // The phone apps and the official client send CODE.
        let type = try parameters.required("response_type").lowercased()
        guard type == "code" else { throw OAuthFailure(.unsupportedResponseType, "Only code is supported") }
        let method = parameters["code_challenge_method"]
        guard challenge == nil && method == nil || challenge?.utf8.count == 43 && method == "S256" else {
            throw OAuthFailure(.invalidRequest, "Only the code_challenge_method S256 is supported")
        }
        guard [state, nonce, scope].allSatisfy({ $0?.utf8.count ?? 0 <= 2048 }) else {
            throw OAuthFailure(.invalidRequest, "A parameter is too long")
        }
        if let identityProvider, identityProvider != SignInPage.ownProvider, !providers.contains(identityProvider) {
            throw OAuthFailure(.invalidRequest, "The identity provider is not known here")
        }
    }
}

/// The hosted pages: plain HTML without scripts, so that a browser, a test and `curl` can use them.
enum SignInPage {
    /// The user pool's own name in `identity_provider`.
    static let ownProvider = "COGNITO"

    /// Asks for user and password, with a button for each identity provider.
    fileprivate static func password(providers: [String], query: String, failure: String?) -> Response {
        let buttons = providers.map { provider in
            """
            <li><a id="provider-\(escaped(provider))" href="?\(escaped(query))&amp;identity_provider=\(PercentEncoding.encoded(provider))">\
            Continue with \(escaped(provider))</a></li>
            """
        }
        return page(
            status: failure == nil ? 200 : 400, title: "Sign in",
            """
            \(notice(failure))<form method="post" action="?\(escaped(query))">
            <label>User <input id="username" name="username" autocomplete="username" required autofocus></label>
            <label>Password <input id="password" name="password" type="password" autocomplete="current-password"></label>
            <button id="allow" name="action" value="allow">Sign in</button>
            <button id="deny" name="action" value="deny" formnovalidate>Cancel</button>
            </form>
            <ul>
            \(buttons.joined(separator: "\n"))
            </ul>
            """)
    }

    /// The page of an identity provider: user name and consent.
    fileprivate static func consent(provider: String, user: String, query: String, failure: String?) -> Response {
        page(
            status: failure == nil ? 200 : 400, title: "\(provider) (simulated)",
            """
            \(notice(failure))<p>RainMaker wants to know your \(escaped(provider)) account.</p>
            <form method="post" action="?\(escaped(query))">
            <label>Account <input id="username" name="username" value="\(escaped(user))" required></label>
            <button id="allow" name="action" value="allow">Allow</button>
            <button id="deny" name="action" value="deny" formnovalidate>Deny</button>
            </form>
            """)
    }

    /// Asks for the code that was sent to the user, after the password.
    fileprivate static func secondStep(session: String, query: String, failure: String?) -> Response {
        page(
            status: failure == nil ? 200 : 400, title: "Enter the code",
            """
            \(notice(failure))<p>A code was sent to you.</p>
            <form method="post" action="?\(escaped(query))">
            <input type="hidden" name="session" value="\(escaped(session))">
            <label>Code <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required></label>
            <button id="allow" name="action" value="allow">Go on</button>
            <button id="deny" name="action" value="deny" formnovalidate>Cancel</button>
            </form>
            """)
    }

    fileprivate static func failure(_ reason: String) -> Response {
        page(status: 400, title: "This sign-in cannot begin", "<p id=\"failure\">\(escaped(reason)).</p>")
    }

    static func page(status: Int, title: String, head: String = "", _ body: String) -> Response {
        let text = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>\(escaped(title))</title>\(head)</head>
            <body><h1>\(escaped(title))</h1>
            \(body)
            </body></html>

            """
        return Response(
            status: status, content: .html(text),
            headers: OAuthFailure.uncached + [.init("Referrer-Policy", "no-referrer")])
    }

    private static func notice(_ failure: String?) -> String {
        failure.map { "<p id=\"failure\" role=\"alert\">\(escaped($0)).</p>\n" } ?? ""
    }

    /// For text and quoted attributes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// The page that RainMaker has registered as the redirect URI of command-line tools (`welcome.html`). It redirects the browser to the tool
/// on this machine, whose port is in the state (`port:N`).
enum RelayPage {
    static let path = "/welcome.html"

    /// The parameters that are passed on. A state longer than `port:N` is passed on as well, because the tool has added something to it.
    private static let handedOn = ["code", "error", "error_description"]

    static func respond(to request: Request) -> Response {
        guard let state = request.query("state"), let port = port(in: state) else {
            return SignInPage.page(
                status: 400, title: "Nobody waits for this sign-in",
                "<p id=\"failure\">The state does not say which port to go to.</p>")
        }
        var fields = request.query.filter { handedOn.contains($0.name) }
        if state.split(separator: ":").count > 2 { fields.append(.init("state", state)) }
        let target = SignInPage.escaped("http://localhost:\(port)/?\(formEncoded(fields))")
        return SignInPage.page(
            status: 200, title: "Welcome to RainMaker",
            head: "<meta http-equiv=\"refresh\" content=\"0;url=\(target)\">",
            "<p><a id=\"onward\" href=\"\(target)\">Go on to the program that asked</a></p>")
    }

    /// Returns the N of `port:N`, and of `port:N:anything`.
    private static func port(in state: String) -> UInt16? {
        let parts = state.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "port", parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(parts[1]), port > 0
        else { return nil }
        return port
    }
}
