// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
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

/// The assertion by which SPiD takes somebody's sign-in at Facebook or Google for one of its own
/// (`urn:ietf:params:oauth:grant-type:jwt-bearer`).
///
/// It looks like a JSON Web Token and is none: the segments are standard base64 with padding, the signature is in hexadecimal digits
/// and under the sign secret, and `exp` is a date in words (schibsted/sdk-ios `SPiDJwt`, schibsted/sdk-android `SPiDJwt`). Servers that
/// follow RFC 7515 and 7519 get a ``Form-swift.enum/standard`` one.
struct SPiDThirdPartyToken: Sendable {
    enum Form: Sendable, Equatable { case spid, standard }
    /// What the token is to bring about.
    enum Subject: String, Sendable { case authorization, registration, attach }
    enum TokenKind: String, Sendable, CaseIterable { case facebook, googleplus }

    /// Who we are to the third party: Facebook's application id, Android's package name.
    var issuer: String
    var subject = Subject.authorization
    /// The address that the token is sent to, in full.
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
                ? .string(CivilTime(expires).text + "+0000") : .integer(Int64(expires.seconds.rounded(.down))),
            "token_type": .string(kind.rawValue), "token_value": .string(token.revealString()),
        ]
        let encoded = { (bytes: [UInt8]) in form == .spid ? Base64.encoded(bytes) : Base64.urlEncoded(bytes) }
        let signed = encoded(header.serialized()) + [UInt8(ascii: ".")] + encoded(claims.serialized())
        let mac = hash(signed)
        return Secret(signed + [UInt8(ascii: ".")] + (form == .spid ? Self.hexadecimal(mac) : Base64.urlEncoded(mac)))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
