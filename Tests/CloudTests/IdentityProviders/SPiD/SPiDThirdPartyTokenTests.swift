// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCryptoOpenSSL
import RainJSON
import Testing

@testable import IdentityProviders
@testable import RainAccount

@Suite("SPiD's assertion for somebody signed in at Facebook or Google")
struct SPiDThirdPartyTokenTests {
    private let token = SPiDThirdPartyToken(
        issuer: "app1", audience: "http://127.0.0.1/oauth/token", expires: UnixTime(seconds: 1_893_456_000),
        kind: .facebook, token: Secret("fbtok"))

    @Test("the vector, byte for byte: standard base64 with padding, a date in words, a signature in hexadecimal digits")
    func vector() {
        // Computed with Python's json, base64 and hmac modules, and again with the openssl program.
        let text = token.signed(with: Secret("s1gn"), hashes: OpenSSLHashes.self).revealString()
        #expect(
            text
                == "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJhcHAxIiwic3ViIjoiYXV0aG9yaXphdGlvbiIsImF1ZCI6Imh0dHA6Ly8xMjcuMC4wLjEvb2F1dGgvdG9rZW4iLCJleHAiOiIyMDMwLTAxLTAxIDAwOjAwOjAwKzAwMDAiLCJ0b2tlbl90eXBlIjoiZmFjZWJvb2siLCJ0b2tlbl92YWx1ZSI6ImZidG9rIn0=.cdaec8ea7a96a16db702859b3d78bda28e33cf84fe93fd86a87ee856454658fc"
        )
    }

    @Test("the standard form: base64url without padding, a number for the date (RFC 7519)")
    func standard() throws {
        var standard = token
        standard.form = .standard
        let signed = standard.signed(with: Secret("s1gn"), hashes: OpenSSLHashes.self).revealString()
        let parts = signed.split(separator: ".")
        #expect(parts.count == 3)
        let claims = try #require(Base64.urlDecoded(parts[1].utf8))
        #expect(try JSONValue(parsing: claims)["exp"] == 1_893_456_000)
        let mac = KeyedHash(key: Secret("s1gn"), hashes: OpenSSLHashes.self)(Array("\(parts[0]).\(parts[1])".utf8))
        #expect(Base64.urlDecoded(parts[2].utf8) == mac)
    }

    @Test("RFC 7515, appendix A.1: the same signature under the same key")
    func published() throws {
        let key = try #require(
            Base64.urlDecoded(
                "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow".utf8))
        let signed =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let hash = KeyedHash(key: Secret(key), hashes: OpenSSLHashes.self)
        #expect(
            Base64.urlEncoded(hash(Array(signed.utf8))) == Array("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".utf8))
    }
}
