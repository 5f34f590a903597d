// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainJSON

/// Tells answers of SPiD from those that were changed in between: each client has a sign secret, and SPiD's signature under it
/// stands beside the data (`sig`, HMAC-SHA-256 over the data as it was sent).
struct SPiDSignature: Sendable {
    private let hash: KeyedHash

    /// - Parameter signSecret: not the client secret: the one for signatures.
    init(signSecret: Secret, hashes: any Hashes.Type) { hash = KeyedHash(key: signSecret, hashes: hashes) }

    /// The data of a signed container, in the bounds of what is not signed. Nothing of it is read before its signature is found to be right.
    func opened(_ container: JSONValue) throws(AccountError) -> JSONValue {
        guard container["algorithm"]?.string?.uppercased() == "HMAC-SHA256", let data = container["data"]?.string,
            let signature = container["sig"]?.string
        else { throw Self.untrusted }
        return try opened(payload: data, signature: signature)
    }

    private func opened(payload: String, signature: String) throws(AccountError) -> JSONValue {
        guard let given = Base64.urlDecoded(signature.utf8),
            equalInConstantTime(given, hash(Array(payload.utf8))),
            let bytes = Base64.urlDecoded(payload.utf8),
            let value = try? JSONValue(parsing: bytes, limits: TokenResponse.limits)
        else { throw Self.untrusted }
        return value
    }

    private static let untrusted = AccountError(
        .untrustedAnswer,
        message: "the answer's signature is not SPiD's, so the answer was not read; check the client's sign secret")
}
