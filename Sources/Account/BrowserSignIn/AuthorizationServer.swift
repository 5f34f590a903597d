// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import Synchronization

/// A provider's sign-in page and token endpoint, and this client's id there.
public struct AuthorizationServer: Sendable {
    /// The address of the sign-in page.
    public var authorizeURL: String
    /// The endpoint that exchanges codes for tokens.
    public var tokenURL: String
    /// How the client authenticates at the token endpoint (RFC 6749, section 2.3).
    public var client: ClientAuthentication
    /// The `client_id` of the authorization request, as the provider registered it (RFC 6749, section 2.2).
    public var clientID: String
    /// The requested rights, sent with spaces between them (RFC 6749, section 3.3). If it is empty, the server decides.
    public var scope: [String]
    /// The server's name in `iss`, if known.
    public var issuer: String?
    /// Whether its answers always have `iss` (RFC 9207, section 3). Then an answer without it is ignored.
    public var namesIssuer = false
    /// More parameters of the authorization request, in order.
    public var parameters: [(name: String, value: String)] = []
    /// Whether the request has a code challenge (RFC 7636); false only for servers that refuse one.
    public var usesCodeChallenge = true
    /// Whether the page redirects a user who gives up with only the state.
    public var answersWithoutParameters = false
    /// Whether the request has a nonce, which the ID token repeats (OpenID Connect Core 1.0, section 3.1.2.1).
    public var usesNonce = true
    /// The kind of answer: a code, or tokens at once for servers that issue no codes.
    public var responseType = AuthorizationRequest.ResponseType.code

    /// Creates a public client, like every installed program.
    public init(authorizeURL: String, tokenURL: String, clientID: String, scope: [String] = [], issuer: String? = nil) {
        self.authorizeURL = authorizeURL
        self.tokenURL = tokenURL
        self.clientID = clientID
        client = .none(clientID: clientID)
        self.scope = scope
        self.issuer = issuer
    }

    /// Shows the user the sign-in page, and returns a code to redeem at once, or tokens. State, code verifier and nonce have 256 random
    /// bits each.
    /// - Throws: `accessDenied` if the user or the server refuses; the errors of the agent.
    public func signIn(
        through agent: any AuthorizationUserAgent, random: inout some RandomSource, hashes: (some Hashes).Type
    ) async throws(AccountError) -> SignInCredentials {
        let fresh = State(random: &random)
        let wantsCode = responseType == .code
        let verifier = usesCodeChallenge && wantsCode ? CodeVerifier(random: &random) : nil
        let nonce = usesNonce ? State(random: &random).secret.revealString() : nil
        let challenge = verifier?.challenge(hashes)

        let used = UsedRedirect()
        let response = try await agent.authorize { target throws(AccountError) in
            used.set(target.redirectURI.text)
            var request = AuthorizationRequest(
                endpoint: authorizeURL, clientID: clientID, redirectURI: target.redirectURI)
            request.responseType = responseType
            request.scope = scope
            request.state = target.state(fresh)
            request.codeChallenge = challenge
            request.nonce = nonce
            request.more = parameters
            var attempt = AuthorizationAttempt(request, issuer: issuer, requiresIssuer: namesIssuer)
            attempt.answersWithoutParameters = answersWithoutParameters
            return attempt
        }
        switch response.outcome {
        case .code(let code) where wantsCode:
            return .authorizationCode(
                code, redirectURI: used.text, codeVerifier: verifier?.secret, nonce: nonce)
        case .refused(let error): throw AccountError(signIn: error)
        case .tokens(let response) where !wantsCode: return .tokens(response, nonce: nonce)
        case .code, .tokens:
            throw AccountError(
                .malformedAnswer,
                message: "the sign-in page did not send the requested kind of answer (\(responseType.rawValue))"
            )
        }
    }
}

/// The redirect URI that the agent chose. The token request must repeat it (RFC 6749, section 4.1.3).
private final class UsedRedirect: Sendable {
    private let value = Mutex("")
    var text: String { value.withLock { $0 } }
    func set(_ text: String) { value.withLock { $0 = text } }
}

extension AccountError {
    /// Creates the error for a refusal from the sign-in page.
    init(signIn error: OAuthError) {
        let name = presentable(error.code.rawValue)
        // A redirect has no status for the error (RFC 6749, 4.1.2.1). The error means a bad request, so status 400 is used.
        let code: Code = error.code == .abandoned ? .abandoned : Code(error.code, status: 400)
        let message =
            switch code {
            case .accessDenied: "the sign-in was refused at the sign-in page"
            case .abandoned: "the sign-in page returned without an answer, because nobody signed in"
            case .serverFault: "the sign-in page has an internal fault; try again later"
            case .clientRefused: "the sign-in page does not accept this client or its request (\(name))"
            case .invalidConfiguration: "the sign-in page does not support this request (\(name))"
            default: "the sign-in page refused the request (\(name))"
            }
        let sentence = error.code.sentence(host: "the sign-in page", code: code)
        self.init(code, message: sentence ?? message, serverMessage: error.description.map(presentable))
        serverCause = name
    }
}

extension OAuthError.Code {
    /// RainKit's own code, for a page that returned with neither a code nor an error.
    static let abandoned = OAuthError.Code(rawValue: "abandoned")
}
