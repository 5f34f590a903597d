// SPDX-License-Identifier: Apache-2.0

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

    /// The address that the browser is redirected to with the answer.
    func redirect(_ parameters: [Request.Field]) -> Response {
        let all = parameters + (state.map { [Request.Field("state", $0)] } ?? [])
        let target = redirectURI + (redirectURI.contains("?") ? "&" : "?") + formEncoded(all)
        return Response(status: 302, content: .none, headers: [.init("Location", target)] + OAuthFailure.uncached)
    }
}

extension ReceivedAuthorization {
    /// Why a request gets no sign-in page.
    enum Refusal: Error {
        /// Shown to the user, as no redirect URI can be trusted yet.
        case page(String)
        /// The application is told, through the browser.
        case redirect(Response, OAuthFailure)
    }

    /// The client and its redirect are checked first: until they are known, nobody is redirected (RFC 6749, 4.1.2.1).
    init(query: [Request.Field], clients: [OAuthClient], relay: String, providers: [String]) throws(Refusal) {
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
        // The phone apps and the official client say CODE.
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
