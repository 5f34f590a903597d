// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainJSON

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
