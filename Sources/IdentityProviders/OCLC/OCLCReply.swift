// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// Reads what OCLC's servers refuse with: RFC 6749's JSON at the current service, `{code:{type,value},message,details}` at the one
/// before it.
///
/// `details` quotes the whole `Authorization` header of the request, signature and all. It is never kept, and neither is anything in
/// `message` that looks like such a header.
enum OCLCReply {
    /// What an answer refuses with; nil for one that does not.
    /// - Parameter clock: how many seconds the server's clock is ahead of this machine's, if it said its time.
    static func failure(
        _ json: JSONValue?, status: Int, from host: String, clock: Double? = nil
    ) -> AccountError? {
        let isSuccess = 200..<300 ~= status
        guard let json, json.members != nil else {
            if isSuccess { return nil }
            return AccountError(
                status >= 500 ? .serverFault : .rejected,
                message: "\(host) answered with HTTP \(status) and no readable JSON; try again later", status: status)
        }
        if let refusal = OAuthError(json) { return standard(refusal, status: status, host: host) }
        return json["code"]?.members != nil || !isSuccess ? legacy(json, status: status, host: host, clock: clock) : nil
    }

    private static func standard(_ refusal: OAuthError, status: Int, host: String) -> AccountError {
        let code = AccountError.Code(refusal.code, status: status)
        let name = presentable(refusal.code.rawValue)
        var error = AccountError(
            code, message: code.sentence(host: host, status: status, name: name),
            serverMessage: refusal.description.map { presentable(withoutHeaders($0)) }, status: status)
        error.serverCause = name
        return error
    }

    private static func legacy(_ json: JSONValue, status: Int, host: String, clock: Double?) -> AccountError {
        let code = json["code"].flatMap { $0["value"] }.flatMap(LenientInteger.init).map { Int($0.value) } ?? status
        let words = (json["message"]?.string).map(withoutHeaders).map(presentable)
        let said = (words ?? "").lowercased()
        // If no case below knows the server's text, the message quotes it.
        let quoted = words.map { $0.isEmpty ? "" : ": \"\($0)\"" } ?? ""
        let (meaning, sentence): (AccountError.Code, String) =
            switch code {
            case 400 where said.contains("institution") && said.contains("missing"):
                (
                    .missingParameter,
                    "\(host) misses an institution; set authenticatingInstitutionId and contextInstitutionId"
                )
            case 400 where said.contains("refresh token"), 401 where said.contains("refresh token"):
                (.invalidGrant, "\(host) does not accept what renews the session any more; sign in again")
            case 400 where said.contains("used before"):
                (.usedCode, "the code has been used before; begin again")
            case 400 where said.hasPrefix("the code"):
                (.invalidGrant, "\(host) does not accept the code: it is wrong, used up or too old; sign in again")
            case 401 where said.contains("token"):
                (.expired, "\(host) does not accept the session's token; sign in again")
            case 400...403 where said.contains("institution"):
                (
                    .clientRefused,
                    "\(host) does not let this WSKey ask for the data of this institution; check contextInstitutionId and authenticatingInstitutionId"
                )
            case 400...403 where said.contains("scope"):
                (
                    .invalidConfiguration,
                    "\(host) does not give this WSKey the scope that was asked for; check the scope, and the services of the WSKey"
                )
            case 401...403 where said.contains("timestamp") || said.contains("clock"):
                (
                    .clientRefused,
                    "\(host) does not accept the time of the request\(difference(clock)); check this machine's clock"
                )
            case 401...403 where said.contains("signature"):
                (.clientRefused, "\(host) does not accept the signature of the request: the WSKey's secret is wrong")
            case 401...403 where said.contains("wskey") && (said.contains("invalid") || said.contains("unknown")):
                (.clientRefused, "\(host) does not know this WSKey; check the client id")
            case 401, 403:
                (
                    .clientRefused,
                    "\(host) does not accept this WSKey, its signature, or the services that were asked for\(quoted)"
                )
            case 429: (.rateLimited, "\(host) asks to slow down; try again in some minutes")
            case 500...: (.serverFault, "\(host) has a fault of its own (HTTP \(status)); try again later")
            default: (.rejected, "\(host) refused the request (HTTP \(status))\(quoted)")
            }
        return AccountError(meaning, message: sentence, serverCode: code, serverMessage: words, status: status)
    }

    /// The clocks' difference in words, if it is more than the way of an answer takes.
    private static func difference(_ clock: Double?) -> String {
        guard let clock, abs(clock) >= 60, abs(clock) < 1e12 else { return "" }
        return ": this machine's clock is \(Int(abs(clock) / 60)) min \(clock > 0 ? "behind" : "ahead of") the server's"
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
