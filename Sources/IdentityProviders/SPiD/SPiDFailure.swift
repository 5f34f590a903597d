// SPDX-License-Identifier: Apache-2.0
import RainAccount
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
