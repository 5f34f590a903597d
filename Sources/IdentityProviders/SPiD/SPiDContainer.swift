// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainJSON

/// The container of every answer of SPiD's API ("SPP Container", version 0.2): the data, or an error.
struct SPiDContainer {
    var data: JSONValue

    /// SPiD's own status for too many requests.
    static let enhanceYourCalm = 420

    /// Reads the container of an answer that is not a refusal.
    /// - Parameter signature: checks signed answers. With nil, signed answers are refused, because nobody could detect changes.
    /// - Throws: `untrustedAnswer` for a signature that is not SPiD's.
    init(_ json: JSONValue, from host: String, signature: SPiDSignature?) throws(AccountError) {
        data = try Self.data(of: json, from: host, signature: signature)
    }

    private static func data(
        of json: JSONValue, from host: String, signature: SPiDSignature?
    ) throws(AccountError) -> JSONValue {
        guard let data = json["data"] else {
            throw AccountError(.malformedAnswer, message: "\(host) did not answer in the form of SPiD's API (no data)")
        }
        guard json["sig"]?.unlessNull != nil || json["algorithm"]?.unlessNull != nil else {
            return normalized(data)
        }
        guard let signature else {
            throw AccountError(
                .untrustedAnswer,
                message:
                    "\(host) signs its answers, but the client has no sign secret to check the signatures",
                remedies: [.secretParameter(name: SPiDExtension.signSecretName)])
        }
        return normalized(try signature.opened(json))
    }

    /// SPiD's own platform writes an empty object as an empty array.
    private static func normalized(_ data: JSONValue) -> JSONValue { data == .array([]) ? .object([]) : data }
}

/// Detects answers of SPiD that were changed on the way. Each client has a sign secret. The answer contains SPiD's signature beside the
/// data (`sig`, HMAC-SHA-256 over the data as it was sent).
struct SPiDSignature: Sendable {
    private let hash: KeyedHash

    /// - Parameter signSecret: the secret for signatures, which is not the client secret.
    init(signSecret: Secret, hashes: any Hashes.Type) { hash = KeyedHash(key: signSecret, hashes: hashes) }

    /// Returns the data of a signed container, within the limits for unsigned data. The signature is checked before any of it is read.
    fileprivate func opened(_ container: JSONValue) throws(AccountError) -> JSONValue {
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

/// The assertion with which SPiD accepts a sign-in at Facebook or Google as one of its own (`urn:ietf:params:oauth:grant-type:jwt-bearer`).
///
/// It looks like a JSON Web Token, but differs (schibsted/sdk-ios `SPiDJwt`, schibsted/sdk-android `SPiDJwt`). The segments are standard
/// base64 with padding. The signature is hexadecimal and made with the sign secret, and `exp` is a date in words. Servers that follow
/// RFC 7515 and 7519 get a ``Form-swift.enum/standard`` one.
struct SPiDThirdPartyToken: Sendable {
    enum Form: Sendable, Equatable { case spid, standard }
    /// The purpose of the token.
    enum Subject: String, Sendable { case authorization, registration, attach }
    enum TokenKind: String, Sendable, CaseIterable { case facebook, googleplus }

    /// This application's id at the third party: Facebook's application id, Android's package name.
    var issuer: String
    var subject = Subject.authorization
    /// The full address that the token is sent to.
    var audience: String
    var expires: UnixTime
    var kind: TokenKind
    /// The third party's own access token.
    var token: Secret
    var form = Form.spid

    func signed(with signSecret: Secret, hashes: any Hashes.Type) -> Secret {
        let hash = KeyedHash(key: signSecret, hashes: hashes)
        let header: JSONValue = ["alg": "HS256", "typ": "JWT"]
        let claims: JSONValue = [
            "iss": .string(issuer), "sub": .string(subject.rawValue), "aud": .string(audience),
            "exp": form == .spid
                ? .string(CivilTime(expires).text() + "+0000") : .integer(Int64(expires.seconds.rounded(.down))),
            "token_type": .string(kind.rawValue), "token_value": .string(token.revealString()),
        ]
        let encoded = { (bytes: [UInt8]) in form == .spid ? Base64.encoded(bytes) : Base64.urlEncoded(bytes) }
        let signed = encoded(header.serialized()) + [UInt8(ascii: ".")] + encoded(claims.serialized())
        let mac = hash(signed)
        return Secret(signed + [UInt8(ascii: ".")] + (form == .spid ? Hex.encoded(mac) : Base64.urlEncoded(mac)))
    }
}
