// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// Reads what a portal answers to a call of its JSON web services.
///
/// An exception comes with status 200 as a rule, in one of three shapes: `{exception:"Class: words"}` of version 6.1,
/// `{exception:"Class",message}` of 6.2, `{exception,throwable,error:{type,message}}` of 7. It stands in the place of the array or of
/// one of its elements.
enum LiferayReply {
    static let limits = JSONLimits(maximumBytes: 4 << 20)

    /// The answers to `count` commands, in their order.
    static func values(_ response: HTTPResponse, count: Int, from host: String) throws(AccountError) -> [JSONValue] {
        if [301, 302, 303, 307, 308, 401, 451, 511].contains(response.status),
            let refusal = refusal(response, from: host)
        {
            throw refusal
        }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: response.body, limits: limits)
        } catch {
            throw .unreadable(response, from: host, because: error.description)
        }
        if let exception = LiferayException(json) {
            throw exception.accountError(from: host, status: response.status)
        }
        if let refusal = refusal(response, from: host) { throw refusal }
        let values = json.array ?? (count == 1 ? [json] : [])
        guard values.count == count else {
            throw AccountError(
                .malformedAnswer, message: "\(host) answered \(values.count) calls where \(count) were made",
                status: response.status)
        }
        for value in values {
            if let exception = LiferayException(value) {
                throw exception.accountError(from: host, status: response.status)
            }
        }
        return values
    }

    /// What a status alone says; nil for one of success.
    static func refusal(_ response: HTTPResponse, from host: String) -> AccountError? {
        guard !(200..<300 ~= response.status) else { return nil }
        if let error = AccountError(interference: response, from: host) { return error }
        let (code, sentence): (AccountError.Code, String) =
            switch response.status {
            case 302, 303, 307:
                (.malformedAnswer, AccountError.Code.redirectSentence(host: host, status: response.status))
            // What was asked with a password or a token is not asked again somewhere else.
            case 300..<400:
                (.moved, "the portal's address has moved (HTTP \(response.status)); configure \(host)'s new one")
            case 401:
                (.invalidCredentials, "\(host) does not accept this session any more (HTTP 401); sign in again")
            case 403: (.forbidden, "the signed-in user may not do this")
            case 404: (.unsupported, "\(host) has no such service; check the portal's version and address")
            case 429: (.rateLimited, "\(host) asks to slow down; try again in some minutes")
            case 500...: (.serverFault, "\(host) has a fault of its own (HTTP \(response.status)); try again later")
            default: (.rejected, "\(host) refused the request (HTTP \(response.status))")
            }
        var error = AccountError(code, message: sentence, status: response.status)
        error.retryAfter = response.retryAfter
        return error
    }
}
