// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// What SPiD refused with. Its API nests errors (`error: {code, type, description}`), its OAuth endpoints have them flat (`error`,
/// `error_code`, `error_description`), and a description can be an object with one sentence a field.
struct SPiDFailure {
    var name: SPiDErrorName?
    var type: String?
    var number: Int?
    var words: String?
    var status: Int

    /// nil for an answer that refuses nothing.
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

    /// For an answer that says nothing but its status.
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
            return (.rateLimited, "\(host) asks to slow down (HTTP \(status)); try again in some minutes")
        }
        if let meaning = fineMeaning(host: host) ?? name?.meaning(host: host) { return meaning }
        switch number == 302 ? 302 : status {
        case 302: return (.accountExists, "there is an account under this e-mail address already; sign in")
        case 401: return (.expired, "the session has ended; sign in again")
        case 403: return (.forbidden, "the signed-in user or this client may not do this")
        case 500...: return (.serverFault, "\(host) has a fault of its own (HTTP \(status)); try again later")
        default: return (.rejected, "\(host) refused the request (HTTP \(status))")
        }
    }

    /// What only the words tell apart: SPiD has one name for all that can be wrong with a code, and mere numbers for its API's refusals.
    private func fineMeaning(host: String) -> (AccountError.Code, String)? {
        let words = (words ?? "").lowercased()
        if name?.rawValue == "invalid_grant", !words.contains("refresh") {
            if words.contains("another client") {
                return (.clientRefused, "the code was made for another client; ask for one for this client's id")
            }
            if words.contains("expired") {
                return (.codeExpired, "the time to use the code is over (30 seconds for another client); begin again")
            }
            if words.contains("used") { return (.usedCode, "the code has been used before; begin again") }
        }
        switch status {
        case 400 where words.contains("redirecturi") || words.contains("redirect uri"):
            return (.missingParameter, "\(host) misses a redirect URI, or it is not registered for the client")
        case 403 where words.contains("merchant"):
            return (
                .clientRefused,
                "the client for which a code was asked belongs to another merchant than this client, so \(host) gives no code"
            )
        case 401 where words.contains("session"):
            return (
                .webSessionRequired,
                "\(host) answers this only within a web session, which a sign-in without a browser does not make"
            )
        default: return nil
        }
    }
}

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

/// What SPiD means by a refusal of an assertion. It has the same name as the refusal of a code, `invalid_grant`; only the words differ.
struct SPiDAssertionRefusal {
    /// What the assertion was made of; nil for an assertion that was given.
    var token: ThirdPartyToken?
    var host: String

    /// The error for the assertion. Errors that are not about it stay as they are.
    func error(_ error: AccountError) -> AccountError {
        guard [.invalidGrant, .codeExpired, .usedCode].contains(error.code) else { return error }
        let words = (error.serverMessage ?? "").lowercased()
        let subject = token.map { "the assertion made of \(presentable($0.provider))'s token" } ?? "the assertion"
        let end = token == nil ? "" : "; get a new token, and check its end and this machine's clock"
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
                "\(host) does not accept \(subject): the token is not valid there any more; sign in there again"
        } else {
            error.message = "\(host) does not accept \(subject); make a new one, and check the application's id"
        }
        // It was no code: the name for this is the one that SPiD gave.
        error.code = .invalidGrant
        return error
    }
}
