import HTTPCore
import JSON

/// What SPiD's API wraps every answer in ("SPP Container", version 0.2): the data, or an error, and what is left of the client's
/// allowance.
struct SPiDContainer {
    var data: JSONValue
    /// What `data` is: `User`, `Code`…
    var object: String?
    /// How many requests the client has left before the service answers 420, and in how many seconds it has all of them again.
    var remaining: Int?
    var reset: Int?

    static let limits = JSONLimits(maximumBytes: 4 << 20)
    /// SPiD's own status for too many requests.
    static let enhanceYourCalm = 420

    /// - Parameter signature: checks answers that are signed; nil takes none that is, as nobody could say whether it was changed.
    /// - Throws: what the answer refuses with; `untrustedAnswer` for a signature that is not SPiD's.
    init(
        _ response: HTTPResponse, from host: String, signature: SPiDSignature?
    ) throws(AccountError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: response.body, limits: Self.limits)
        } catch {
            throw Self.unreadable(response, because: error, from: host)
        }
        if let failure = SPiDFailure(json, status: response.status) {
            throw failure.accountError(from: host, retryAfter: response.retryAfter)
        }
        try self.init(json, from: host, signature: signature)
    }

    /// The container of an answer that refuses nothing.
    init(_ json: JSONValue, from host: String, signature: SPiDSignature?) throws(AccountError) {
        object = json["object"]?.string
        remaining = json["request"]?["remaining"].flatMap(LenientInteger.init).map { Int($0.value) }
        reset = json["request"]?["reset"].flatMap(LenientInteger.init).map { Int($0.value) }
        data = try Self.data(of: json, from: host, signature: signature)
    }

    private static func data(
        of json: JSONValue, from host: String, signature: SPiDSignature?
    ) throws(AccountError) -> JSONValue {
        guard let data = json["data"] else {
            throw AccountError(.malformedAnswer, message: "\(host) did not answer as SPiD's API does (no data)")
        }
        guard json["sig"]?.unlessNull != nil || json["algorithm"]?.unlessNull != nil else {
            return normalized(data)
        }
        guard let signature else {
            throw AccountError(
                .untrustedAnswer,
                message: "\(host) signs its answers; configure the client's sign secret, so that they can be checked")
        }
        return normalized(try signature.opened(json))
    }

    /// SPiD's own platform writes an empty object as an empty array.
    private static func normalized(_ data: JSONValue) -> JSONValue { data == .array([]) ? .object([]) : data }

    private static func unreadable(
        _ response: HTTPResponse, because reason: JSONError, from host: String
    ) -> AccountError {
        if response.status == enhanceYourCalm {
            return SPiDFailure(status: response.status).accountError(from: host, retryAfter: response.retryAfter)
        }
        let what = reason.code == .markup ? "a web page, as proxies and sign-in portals send it" : reason.description
        return AccountError(
            response.status >= 500 ? .serverFault : .malformedAnswer,
            message: "\(host) answered with HTTP \(response.status) and no readable JSON (\(what)); try again later",
            status: response.status)
    }
}
