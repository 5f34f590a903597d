// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// An error of SPiD: OAuth errors are flat, those of the API are inside the container.
enum SPiDFailure: Error, Equatable {
    /// `{"error","error_code","type":"OAuthException","error_description"}`.
    case oauth(Code, String, status: Int)
    /// `error: {code, type, description}` of the container.
    case api(Int, String)

    /// The names that the mobile SDKs know.
    enum Code: String {
        case redirectURIMismatch = "redirect_uri_mismatch"
        case unauthorizedClient = "unauthorized_client"
        case accessDenied = "access_denied"
        case invalidRequest = "invalid_request"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case invalidGrant = "invalid_grant"
        case invalidClient = "invalid_client"
        /// Until draft 10; `invalid_client` since.
        case invalidClientID = "invalid_client_id"
        case invalidClientCredentials = "invalid_client_credentials"
        case invalidToken = "invalid_token"
        case expiredToken = "expired_token"
        case insufficientScope = "insufficient_scope"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidUserCredentials = "invalid_user_credentials"
        case unverifiedUser = "unverified_user"
        case unknownUser = "unknown_user"
    }

    static func oauth(_ code: Code, _ description: String) -> SPiDFailure { .oauth(code, description, status: 400) }

    init(_ failure: OAuthFailure) {
        self = .oauth(Code(rawValue: failure.code.rawValue) ?? .invalidRequest, failure.description, status: 400)
    }

    /// The error's name in the journal.
    var reason: String {
        switch self {
        case .oauth(let code, _, _): code.rawValue
        case .api(let code, _): "\(code)"
        }
    }

    var response: Response {
        switch self {
        case .oauth(let code, let description, let status):
            return Response(
                status: status,
                content: .json([
                    "error": .string(code.rawValue), "error_code": .integer(Int64(status)), "type": "OAuthException",
                    "error_description": .string(description),
                ]), headers: OAuthFailure.uncached)
        case .api(let code, let description):
            return SPiDContainer.failure(code, description)
        }
    }
}
