// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// What SPiD's API wraps every answer in ("SPP Container", version 0.2): the data, or an error.
struct SPiDContainer {
    var data: JSONValue

    /// SPiD's own status for too many requests.
    static let enhanceYourCalm = 420

    /// The container of an answer that refuses nothing.
    /// - Parameter signature: checks answers that are signed; nil takes none that is, as nobody could say whether it was changed.
    /// - Throws: `untrustedAnswer` for a signature that is not SPiD's.
    init(_ json: JSONValue, from host: String, signature: SPiDSignature?) throws(AccountError) {
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
                message:
                    "\(host) signs its answers, and they are checked with the client's sign secret, which is missing",
                remedies: [.secretParameter(name: SPiDExtension.signSecretName)])
        }
        return normalized(try signature.opened(json))
    }

    /// SPiD's own platform writes an empty object as an empty array.
    private static func normalized(_ data: JSONValue) -> JSONValue { data == .array([]) ? .object([]) : data }
}
