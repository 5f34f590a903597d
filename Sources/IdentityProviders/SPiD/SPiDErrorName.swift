// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// What SPiD's errors mean, under the names of OAuth 2.0's drafts 10 and 11 and under today's.
///
/// Names from SPiD's own SDKs (schibsted/sdk-ios `SPiDError`, schibsted/sdk-android `SPiDException`).
struct SPiDErrorName: RawRepresentable, Hashable, Sendable {
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }

    /// What it comes to for the account, and a sentence that says so.
    func meaning(host: String) -> (code: AccountError.Code, sentence: String)? {
        switch rawValue {
        case "invalid_user_credentials":
            (.invalidCredentials, "wrong user name or password")
        case "unknown_user":
            (.unknownUser, "there is no account for this user yet; register first")
        case "unverified_user":
            (.unverifiedUser, "the account's e-mail address is not confirmed yet; follow the link that was sent to it")
        case "access_denied":
            (.accessDenied, "\(host) refused the sign-in")
        case "invalid_grant":
            (.invalidGrant, "\(host) does not accept the grant: it is used up, too old or not ours; sign in again")
        case "expired_token", "invalid_token":
            (.expired, "the session has ended; sign in again")
        case "insufficient_scope":
            (.insufficientScope, "the session may not do this: its scope is too small")
        case "invalid_client", "invalid_client_credentials":
            (.clientRefused, "\(host) does not accept the client's id and secret (\(rawValue)): check them")
        case "invalid_client_id":
            (
                .clientRefused,
                "\(host) does not know the client, or not with this redirect URI (invalid_client_id); check both"
            )
        case "redirect_uri_mismatch":
            (.invalidConfiguration, "the redirect URI is not the one that is registered for the client; check it")
        case "unauthorized_client":
            (.clientRefused, "the client may not sign in this way (unauthorized_client)")
        case "unsupported_grant_type", "unsupported_response_type":
            (.unsupported, "\(host) does not offer this way to sign in (\(rawValue))")
        case "invalid_scope":
            (.invalidConfiguration, "\(host) does not know the scope that was asked for, or does not give it")
        case "invalid_request":
            (.rejected, "\(host) refused the request as malformed (invalid_request)")
        case "server_error", "temporarily_unavailable":
            (.serverFault, "\(host) has a fault of its own (\(rawValue)); try again later")
        default: nil
        }
    }
}
