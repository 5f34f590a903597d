// SPDX-License-Identifier: Apache-2.0
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
        /// A response in place of the sign-in page.
        case instead(Response)
    }

    private enum Submission {
        case user(User)
        /// The page again, with the reason.
        case page(String)
        /// The page that asks for the code, of the sign-in with that handle.
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

    /// The account of a user of an identity provider; made at the first sign-in.
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
