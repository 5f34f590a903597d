// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// Reads what the cloud, or a proxy or gateway in front of it, answered.
///
/// A failure comes in one of several shapes: `{status:"failure",error_code,description}` from the service, without the code or as
/// `{message}` from the gateway before it, `{error}` from OAuth endpoints, HTML from a proxy. `error_code` is a number or digits in
/// a string, and a failure can come with status 200.
enum RainMakerReply {
    /// The answer of a call that succeeded: an object.
    static func value(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        let json = try anyValue(response, from: host)
        guard json.array == nil else { throw notAsExpected(response, from: host) }
        return json
    }

    /// The same, of the few calls that answer with a list.
    static func list(_ response: HTTPResponse, from host: String) throws(AccountError) -> [JSONValue] {
        guard let list = try anyValue(response, from: host).array else { throw notAsExpected(response, from: host) }
        return list
    }

    private static func notAsExpected(_ response: HTTPResponse, from host: String) -> AccountError {
        AccountError(
            .malformedAnswer,
            message:
                "\(host) answered with JSON that is not the RainMaker cloud's: the base URL is another service's, or something on the way "
                + "answered in its place",
            status: response.status)
    }

    private static func anyValue(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        do throws(AccountError) {
            return try read(response, from: host)
        } catch {
            var error = error
            error.retryAfter = response.retryAfter
            throw error
        }
    }

    private static func read(_ response: HTTPResponse, from host: String) throws(AccountError) -> JSONValue {
        if let error = AccountError(interference: response, from: host) { throw error }
        if 300..<400 ~= response.status { throw redirect(response.status, from: host) }
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: response.body, limits: JSONLimits(maximumBytes: 4 << 20))
        } catch {
            throw .unreadable(response, from: host, because: error.description)
        }
        guard json.members != nil || json.array != nil && 200..<300 ~= response.status else {
            throw notAsExpected(response, from: host)
        }
        guard 200..<300 ~= response.status, json["status"]?.string != "failure" else {
            throw failure(json, status: response.status, from: host)
        }
        return json
    }

    /// The service sends none; whatever stands before it decides nothing.
    private static func redirect(_ status: Int, from host: String) -> AccountError {
        let code = AccountError.Code(status: status, isForTokens: false)
        var error = AccountError(
            code, message: code.sentence(host: host, status: status, name: nil), status: status)
        error.isFromGateway = true
        return error
    }

    private static func failure(_ json: JSONValue, status: Int, from host: String) -> AccountError {
        let serverCode = json["error_code"].flatMap(LenientInteger.init).map { Int($0.value) }
        let words = serverWords(json)
        // The cloud's own number counts first: a wrong password is 400/101009 and an ended session 400/101017, neither is a 401.
        let meaning = serverCode.flatMap { RainMakerErrorCode.meaning(of: $0, status: status) }
        let code = meaning?.code ?? code(status)
        // The claim service's refusals have no number either, and the envelope. Another framework's envelope is the service's own word too:
        // what stands before a service does not read its requests.
        let isFromGateway =
            serverCode == nil && json["status"]?.string != "failure" && !isFromService(json, status: status)
        let sentence = sentence(
            code, host: host, status: status, number: serverCode, isFromGateway: isFromGateway)
        var error = AccountError(
            code, message: meaning?.sentence ?? sentence, serverCode: serverCode, serverMessage: words.map(presentable),
            status: status)
        error.serverCause = json["error"]?.string.map(presentable)
        error.isFromGateway = isFromGateway
        return error
    }

    /// Whether a web framework's envelope says that the service read the request: 422 (RFC 9110, section 15.5.21), `detail` as of FastAPI,
    /// Django and RFC 9457, or `errors`.
    private static func isFromService(_ json: JSONValue, status: Int) -> Bool {
        400..<500 ~= status && (status == 422 || json["detail"] != nil || json["errors"] != nil)
    }

    /// What is left to go by where the cloud gave no number, or one that nobody has documented.
    private static func code(_ status: Int) -> AccountError.Code {
        switch status {
        case 401: .expired
        case 403: .forbidden
        case 429: .rateLimited
        case 500...: .serverFault
        default: .rejected
        }
    }

    /// - Parameter number: the cloud's, where it gave one: nobody has documented it, so it is named.
    private static func sentence(
        _ code: AccountError.Code, host: String, status: Int, number: Int?, isFromGateway: Bool
    ) -> String {
        let answer = "HTTP \(status)" + (number.map { ", error code \($0)" } ?? "")
        let named = number.map { " (error code \($0))" } ?? ""
        return switch code {
        case .expired: "the session has ended\(named); sign in again"
        case .rateLimited: "\(host) asks to slow down\(named); try again in some minutes"
        case .forbidden where !isFromGateway: "the signed-in user may not do this\(named)"
        case .forbidden, .rejected:
            if isFromGateway {
                "something on the way to \(host) refused the request (\(answer)); try again later, and check the base URL"
            } else {
                "\(host) refused the request (\(answer))"
            }
        case .serverFault: "\(host) has a fault of its own (\(answer)); try again later"
        default: "\(host) refused the request (\(answer))"
        }
    }
}
