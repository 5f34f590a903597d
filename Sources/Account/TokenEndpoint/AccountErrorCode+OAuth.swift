// SPDX-License-Identifier: Apache-2.0

extension AccountError.Code {
    /// What the RFCs' names mean (6749, 4.1.2.1 and 5.2; 8628, 3.5; 6750, 3.1; 7009, 2.2.1). A server's own name means what its status
    /// does.
    package init(_ error: OAuthError.Code, status: Int, isForTokens: Bool = true) {
        switch error {
        case .invalidGrant: self = .invalidGrant
        case .accessDenied: self = .accessDenied
        case .authorizationPending, .slowDown: self = .pending
        case .expiredToken: self = .codeExpired
        case .invalidToken: self = .expired
        case .insufficientScope: self = .insufficientScope
        case .invalidClient, .unauthorizedClient: self = .clientRefused
        case .unsupportedGrantType, .unsupportedResponseType, .invalidScope: self = .invalidConfiguration
        case .serverError, .temporarilyUnavailable: self = .serverFault
        default: self.init(status: status, isForTokens: isForTokens)
        }
    }

    /// What a status means that comes without a name.
    /// - Parameter isForTokens: whether tokens were asked for: nobody is signed in then who could be forbidden something.
    package init(status: Int, isForTokens: Bool) {
        switch status {
        // For now only: a network's sign-in portal answers so in the server's place.
        case 302, 303, 307: self = .malformedAnswer
        case 300..<400: self = .moved
        case 401: self = .expired
        case 403: self = isForTokens ? .rejected : .forbidden
        case 429: self = .rateLimited
        case 500...: self = .serverFault
        default: self = .rejected
        }
    }

    /// For an answer that sends the client elsewhere for now.
    package static func redirectSentence(host: String, status: Int) -> String {
        "\(host) was answered for by a redirect (HTTP \(status)), as a network's sign-in page sends it; sign in to the network in a browser, "
            + "then try again"
    }

    /// A sentence for a refusal that has no better one.
    /// - Parameter name: the cause as the server names it.
    package func sentence(host: String, status: Int, name: String?) -> String {
        let name = name.map { " (\(presentable($0)))" } ?? ""
        switch self {
        case .invalidGrant:
            return "\(host) does not accept what was given: it is wrong, used up or too old; sign in again"
        case .invalidCredentials: return "wrong user name or password"
        case .unknownUser: return "\(host) does not know the user: register first"
        case .unverifiedUser: return "the user's address is not confirmed yet"
        case .accessDenied: return "the sign-in was refused"
        case .codeExpired: return "the time to use the code is over; begin again"
        case .usedCode: return "the code has been used before; begin again"
        case .pending: return "nobody has answered the sign-in yet"
        case .expired: return "\(host) does not accept the session's token; sign in again"
        case .insufficientScope: return "the session may not do this: sign in with more scope"
        case .clientRefused: return "\(host) does not serve this client\(name): check its id and secret"
        case .invalidConfiguration: return "\(host) does not serve such a request\(name); check the provider's settings"
        case .moved: return "\(host) has moved (HTTP \(status)); credentials are not sent on: set the new base URL"
        case .malformedAnswer: return Self.redirectSentence(host: host, status: status)
        case .rateLimited: return "\(host) asks to slow down; try again in some minutes"
        case .forbidden: return "the signed-in user may not do this"
        case .serverFault: return "\(host) has a fault of its own (HTTP \(status)); try again later"
        default: return "\(host) refused the request (HTTP \(status))\(name)"
        }
    }
}
