// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// An app's assertion about a person who signed in to Facebook or Google: a JWT in the form of SPiD's SDKs, or of RFC 7515.
///
/// The SDKs' form has segments in standard base64 with padding, a signature in lower-case hex, and `exp` as a date.
struct SPiDAssertion: Equatable {
    var issuer: String
    /// `authorization`, `registration` or `attach`.
    var subject: String
    var audience: String
    /// Seconds since 1970.
    var expiresAt: Int64
    var provider: String
    var token: String

    static let maximumLength = 8 << 10

    /// Nil for an assertion that this secret has not signed, or that lacks a claim.
    init?(_ text: String, secret: String) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let expected = OpenSSLHashes.hmacSHA256(Array("\(parts[0]).\(parts[1])".utf8), key: Array(secret.utf8))
        let isStandard = parts[2].utf8.count == 43
        let given = isStandard ? decodedBase64URL(parts[2]) : bytes(ofHex: String(parts[2]))
        guard let given, equalInConstantTime(given, expected), isStandard || parts[2] == parts[2].lowercased() else {
            return nil
        }
        let decode = { (part: Substring) in isStandard ? decodedBase64URL(part) : decodedBase64(part) }
        guard let header = decode(parts[0]).flatMap({ try? JSONValue(parsing: $0) }),
            header["alg"]?.string == "HS256",
            let claims = decode(parts[1]).flatMap({ try? JSONValue(parsing: $0) }),
            let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string,
            let audience = claims["aud"]?.string, let provider = claims["token_type"]?.string,
            let token = claims["token_value"]?.string,
            let end = claims["exp"]?.integer ?? claims["exp"]?.string.flatMap(seconds(ofDate:))
        else { return nil }
        (self.issuer, self.subject, self.audience, self.provider) = (issuer, subject, audience, provider)
        (self.token, expiresAt) = (token, end)
    }
}

extension SPiDService {
    /// Checks the issuer, the purpose, the audience and the expiry.
    func assertion(
        _ text: String?, _ client: SPiDClient, _ subject: String, path: String, _ call: IdentityCall
    ) throws(SPiDFailure) -> SPiDAssertion {
        guard let text else { throw .oauth(.invalidRequest, "assertion is missing") }
        guard let secret = client.signSecret, let assertion = SPiDAssertion(text, secret: secret) else {
            throw .oauth(.invalidGrant, "The assertion is not signed by the client's sign secret")
        }
        guard client.thirdPartyIDs.contains(assertion.issuer) else {
            throw .oauth(.invalidGrant, "iss is not an application of the client's")
        }
        guard assertion.subject == subject else { throw .oauth(.invalidGrant, "sub is not \(subject)") }
        let hosts = [call.base] + (call.request.header("Host").map { ["http://\($0)"] } ?? [])
        guard hosts.contains(where: { assertion.audience == $0 + path }) else {
            throw .oauth(.invalidGrant, "aud is not the address of this endpoint")
        }
        guard call.now / 1000 < assertion.expiresAt else { throw .oauth(.invalidGrant, "The assertion has expired") }
        return assertion
    }

    /// The person who is connected to the token's account; nil if none is. An unknown token is refused.
    func person(of assertion: SPiDAssertion) throws(SPiDFailure) -> Person? {
        guard let account = thirdParties["\(assertion.provider):\(assertion.token)"] else {
            throw .oauth(.invalidGrant, "The third party does not accept its token")
        }
        return account.person.flatMap { people[$0] }
    }
}
