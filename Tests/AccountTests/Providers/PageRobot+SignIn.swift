import Account
import Hashing
import HashingOpenSSL
import OAuth2
import Vocabulary

extension ProfiledProvider {
    func signInThroughBrowser(
        _ grant: GrantName = .authorizationCode, by agent: PageRobot
    ) async throws(AccountError) -> SignInCredentials {
        try demand(grant)
        var random = OpenSSLRandom()
        let state = State(random: &random)
        let verifier = CodeVerifier(random: &random)
        let endpoint = try await endpoint("authorize")
        let id = try clientID()
        let rules = profile.grants?[grant.rawValue]
        let more = (rules?.authorizeParameters ?? [:]).compactMap { name, template in
            text(template).map { (name: name, value: $0) }
        }
        let response = try await agent.authorize { target throws(AccountError) in
            var request = AuthorizationRequest(endpoint: endpoint, clientID: id, redirectURI: target.redirectURI)
            request.scope = scope
            request.state = state
            if grant == .implicit {
                request.responseType = .token
            } else if rules?.pkce != "none" {
                request.codeChallenge = verifier.challenge(OpenSSLHashes.self)
            }
            request.more = more
            return AuthorizationAttempt(request)
        }
        switch response.outcome {
        case .code(let code):
            return .authorizationCode(
                code, redirectURI: agent.redirect, codeVerifier: rules?.pkce == "none" ? nil : verifier.secret)
        case .tokens(let tokens): return .tokens(tokens)
        case .refused(let error):
            let denied = error.code == .accessDenied
            throw AccountError(
                denied ? .accessDenied : error.code == .unauthorizedClient ? .clientRefused : .rejected,
                message: error.code.rawValue)
        }
    }
}
