// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A refusal in OAuth's own words (RFC 6749, 4.1.2.1 and 5.2).
struct OAuthFailure: Error, Equatable {
    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case accessDenied = "access_denied"
        case serverError = "server_error"
        case invalidScope = "invalid_scope"
        /// Of resources (RFC 6750, 3.1).
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        /// Of devices (RFC 8628, 3.5).
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        /// Of revocation (RFC 7009, 2.2.1).
        case unsupportedTokenType = "unsupported_token_type"
        /// Of OpenID Connect (Core, 3.1.2.6).
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
    }

    var code: Code
    var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// As the token endpoint answers.
    func response(status: Int = 400) -> Response {
        var response = Response(
            status: code == .serverError ? 500 : status,
            ["error": .string(code.rawValue), "error_description": .string(description)])
        response.headers = Self.uncached
        return response
    }

    /// The parameters of the redirect.
    var parameters: [Request.Field] { [.init("error", code.rawValue), .init("error_description", description)] }

    static let uncached = [Request.Field("Cache-Control", "no-store")]
}
