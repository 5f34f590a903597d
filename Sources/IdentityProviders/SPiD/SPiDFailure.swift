// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// A refusal of SPiD. Its API nests errors (`error: {code, type, description}`), its OAuth endpoints have them flat (`error`, `error_code`,
/// `error_description`). A description can be an object with one sentence for each field.
struct SPiDFailure {
    private var name: SPiDErrorName?
    private var type: String?
    private var number: Int?
    private var words: String?
    private var status: Int

    /// Returns nil for an answer that is not a refusal.
    init?(_ json: JSONValue, status: Int) {
        let error = json["error"]?.unlessNull
        guard error != nil || !(200..<300 ~= status) else { return nil }
        self.status = status
        if let name = error?.string {
            self.name = SPiDErrorName(rawValue: name)
            type = json["type"]?.string
            number = Self.number(json["error_code"]) ?? Self.number(json["code"])
            words = Self.words(json["error_description"])
        } else {
            let type = error?["type"]?.string
            self.type = type
            name = type.map(SPiDErrorName.init)
            number = Self.number(error?["code"]) ?? Self.number(json["code"])
            words = Self.words(error?["description"])
        }
    }

    /// Creates the refusal for an answer with only a status.
    init(status: Int) { self.status = status }

    private static func number(_ json: JSONValue?) -> Int? { json.flatMap(LenientInteger.init).map { Int($0.value) } }

    private static func words(_ json: JSONValue?) -> String? {
        guard let json = json?.unlessNull else { return nil }
        if let text = json.string { return text }
        return json.members?.compactMap { member in member.value.string.map { "\(member.name): \($0)" } }.joined(
            separator: "; ")
    }

    func accountError(from host: String, retryAfter: Duration? = nil) -> AccountError {
        let (code, sentence) = meaning(host: host)
        var error = AccountError(
            code, message: sentence, serverCode: number, serverMessage: words.map(presentable), status: status)
        error.serverCause = (name?.rawValue ?? type).map(presentable)
        error.retryAfter = retryAfter
        return error
    }

    private func meaning(host: String) -> (AccountError.Code, String) {
        if status == SPiDContainer.enhanceYourCalm || status == 429 {
            return (.rateLimited, "\(host) received too many requests (HTTP \(status)); try again in a few minutes")
        }
        if let meaning = fineMeaning(host: host) ?? name?.meaning(host: host) { return meaning }
        switch number == 302 ? 302 : status {
        case 302: return (.accountExists, "an account with this e-mail address already exists; sign in")
        case 401: return (.expired, "the session has ended; sign in again")
        case 403: return (.forbidden, "the signed-in user or this client may not do this")
        case 500...: return (.serverFault, "\(host) \(serverTrouble(status)); try again later")
        default: return (.rejected, "\(host) refused the request (HTTP \(status))")
        }
    }

    /// Returns a meaning that only the text shows. SPiD has one name for all problems with a code, and only numbers for its API's refusals.
    private func fineMeaning(host: String) -> (AccountError.Code, String)? {
        let words = (words ?? "").lowercased()
        if name?.rawValue == "invalid_grant", !words.contains("refresh") {
            if words.contains("another client") {
                return (.clientRefused, "the code was made for another client; request a code for this client's id")
            }
            if words.contains("expired") {
                return (.codeExpired, "the code has expired (after 30 seconds for another client); begin again")
            }
            if words.contains("used") { return (.usedCode, "the code has been used before; begin again") }
        }
        switch status {
        case 400 where words.contains("redirecturi") || words.contains("redirect uri"):
            return (
                .missingParameter,
                "the redirect URI is missing from the request to \(host), or is not registered for the client"
            )
        case 403 where words.contains("merchant"):
            return (
                .clientRefused,
                "\(host) issues no code for the requested client: it does not know this client, or the client belongs to another merchant"
            )
        case 401 where words.contains("session"):
            return (
                .webSessionRequired,
                "\(host) answers this request only within a web session, which a sign-in without a browser does not create"
            )
        default: return nil
        }
    }
}

/// The meanings of SPiD's errors, under the names of OAuth 2.0's drafts 10 and 11 and the current ones.
///
/// The names come from SPiD's own SDKs (schibsted/sdk-ios `SPiDError`, schibsted/sdk-android `SPiDException`).
struct SPiDErrorName: RawRepresentable, Hashable, Sendable {
    let rawValue: String
    init(rawValue: String) { self.rawValue = rawValue }

    /// Returns the account's code for the error, and a message.
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
            (
                .invalidGrant,
                "\(host) does not accept the grant: it was used before, is too old or belongs to another client; sign in again"
            )
        case "expired_token", "invalid_token":
            (.expired, "the session has ended; sign in again")
        case "insufficient_scope":
            (.insufficientScope, "the session's scope does not allow this: sign in with a wider scope")
        case "invalid_client", "invalid_client_credentials":
            (.clientRefused, "\(host) does not accept the client's id and secret (\(rawValue)): check them")
        case "invalid_client_id":
            (
                .clientRefused,
                "\(host) does not know the client, or does not accept this redirect URI for it (invalid_client_id); check both"
            )
        case "redirect_uri_mismatch":
            (.invalidConfiguration, "the redirect URI is not the one that is registered for the client; check it")
        case "unauthorized_client":
            (.clientRefused, AccountError.Code.clientRefused.sentence(host: host, status: 400, name: rawValue))
        case "unsupported_grant_type", "unsupported_response_type":
            (.unsupported, "\(host) does not offer this way to sign in (\(rawValue))")
        case "invalid_scope":
            (.invalidConfiguration, "\(host) does not know the requested scope, or does not grant it")
        case "invalid_request":
            (.rejected, "\(host) refused the request as malformed (invalid_request)")
        case "server_error", "temporarily_unavailable":
            (.serverFault, "\(host) has an internal fault (\(rawValue)); try again later")
        default: nil
        }
    }
}

/// The meaning of a refused assertion. SPiD uses the same name as for a refused code, `invalid_grant`; only the text differs.
struct SPiDAssertionRefusal {
    /// The token that the assertion was made from; nil for a given assertion.
    var token: ThirdPartyToken?
    var host: String

    /// Returns the error for the assertion. Other errors do not change.
    func error(_ error: AccountError) -> AccountError {
        guard [.invalidGrant, .codeExpired, .usedCode].contains(error.code) else { return error }
        let words = (error.serverMessage ?? "").lowercased()
        let subject = token.map { "the assertion made of \(presentable($0.provider))'s token" } ?? "the assertion"
        let end = token == nil ? "" : "; get a new token, and check its expiry and this machine's clock"
        var error = error
        if error.code == .codeExpired || words.contains("expire") {
            error.message = "\(host) does not accept \(subject): it has expired\(end)"
        } else if error.code == .usedCode {
            error.message = "\(host) does not accept \(subject): it has been used before; make a new one"
        } else if words.hasPrefix("aud") {
            error.message =
                "\(host) does not accept \(subject): it is made for another address (aud); check the base URL"
        } else if words.hasPrefix("iss") || words.contains("application") {
            let id = token.map { " \"\(presentable($0.applicationID))\"" } ?? ""
            error.message =
                "\(host) does not accept \(subject): the application\(id) in it (iss) is not registered for this client"
            if token != nil { error.remedies = [.applicationID] }
        } else if words.contains("sign") {
            error.message =
                "\(host) does not accept \(subject): it is not signed with this client's sign secret; check signSecret"
        } else if words.contains("third party") {
            error.message =
                "\(host) does not accept \(subject): the token is no longer valid there; sign in there again"
        } else {
            error.message = "\(host) does not accept \(subject); make a new one, and check the application's id"
        }
        // This is not about a code, so the error keeps the meaning of SPiD's own name.
        error.code = .invalidGrant
        return error
    }
}
