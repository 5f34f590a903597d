import HTTPCore
import JSON
import OAuth2

/// Reads what OCLC's servers refuse with: RFC 6749's JSON at the current service, `{code:{type,value},message,details}` at the one
/// before it.
///
/// `details` quotes the whole `Authorization` header of the request, signature and all. It is never kept, and neither is anything in
/// `message` that looks like such a header.
enum OCLCReply {
    /// The JSON of an answer that is no refusal.
    static func value(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        guard let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits), json.members != nil
        else {
            let isServerFault = response.status >= 500
            throw AccountError(
                isServerFault ? .serverFault : .malformedAnswer,
                message: "\(host) answered with HTTP \(response.status) and no readable JSON; try again later",
                status: response.status)
        }
        if let refusal = OAuthError(json) {
            throw AccountError(token: redacted(refusal), host: host, status: response.status)
        }
        if json["code"]?.members != nil || !(200..<300 ~= response.status) {
            throw legacy(json, status: response.status, host: host)
        }
        return json
    }

    private static func redacted(_ error: OAuthError) -> OAuthError {
        var error = error
        error.description = error.description.map(withoutHeaders)
        return error
    }

    private static func legacy(_ json: JSONValue, status: Int, host: String) -> AccountError {
        let code = json["code"].flatMap { $0["value"] }.flatMap(LenientInteger.init).map { Int($0.value) } ?? status
        let words = (json["message"]?.string).map(withoutHeaders).map(presentable)
        let (meaning, sentence): (AccountError.Code, String) =
            switch code {
            case 401, 403:
                (
                    .invalidConfiguration,
                    "\(host) does not accept this WSKey, its signature, or the services that were asked for"
                )
            case 429: (.rateLimited, "\(host) asks to slow down; try again in some minutes")
            case 500...: (.serverFault, "\(host) has a fault of its own (HTTP \(status)); try again later")
            default: (.rejected, "\(host) refused the request (HTTP \(status))")
            }
        return AccountError(meaning, message: sentence, serverCode: code, serverMessage: words, status: status)
    }

    /// A server's words up to where they begin to quote the request.
    static func withoutHeaders(_ words: String) -> String {
        let lower = words.lowercased()
        let marks = ["authorization", "signature=", WSKeySignature.scheme, "bearer ", "basic ", "tk_", "rt_"]
        let cut = marks.compactMap { lower.ranges(of: $0).first?.lowerBound }.map {
            lower.distance(from: lower.startIndex, to: $0)
        }.min()
        guard let cut else { return words }
        let kept = words.prefix(cut)
        return kept + "(the request, left out)"
    }
}
