// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Testing

/// Tokens that other programs signed, with the keys that check them.
struct SignedToken: Sendable {
    var scheme: SignatureScheme
    var key: JSONValue
    var token: String

    func isValid(_ changed: String? = nil, key other: JSONValue? = nil) throws -> Bool {
        let signature = try JSONWebSignature(Secret(changed ?? token))
        let keys = try JSONWebKeySet(["keys": [other ?? key]]).keys(for: signature, as: scheme)
        return keys.contains {
            OpenSSLCrypto.isValid(signature.signature, for: signature.message, by: $0.numbers, as: scheme)
        }
    }

    private static let payload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    /// RFC 7515, appendix A.2.
    static let rs256 = SignedToken(
        scheme: .rs256,
        key: [
            "kty": "RSA", "e": "AQAB",
            "n": .string(
                "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Ql"
                    + "L-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUs"
                    + "LA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoud"
                    + "F8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
        ],
        token: "eyJhbGciOiJSUzI1NiJ9.\(payload)."
            + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujG"
            + "bds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K"
            + "0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6"
            + "LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")

    /// RFC 7515, appendix A.3.
    static let es256 = SignedToken(
        scheme: .es256,
        key: [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ],
        token: "eyJhbGciOiJFUzI1NiJ9.\(payload)."
            + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")

    /// Made by joserfc 1.8.0 (PyPI), because RFC 7515 has no example of it.
    static let ps256 = SignedToken(
        scheme: .ps256,
        key: [
            "kty": "RSA", "e": "AQAB",
            "n": .string(
                "pg3RrhC6sPJx00bkTJPhUoi-O7-rnpAuzD2R64-mVz7mgvprEzxWO-0GvMfHZQmAAJZLjIUkGLGbAoSb7u2otGdVLPT8y4wU"
                    + "TBME8hvhswcz4JlZPkUyM0c-fUiHhZm5ZIuvG5iEtr7e4Cxzuz1FKzjPYMkBddlRGv01tCKccXcu3es9u2oAhOw895dS4-SD"
                    + "czGRUyz13COhkLM1bbLKQiOPffc0Q-lOqka04ID-GBKhuZFVujxHSuXCc9lOFw6EI_z4PoO4I_pxW-4qBS8c4rmVKyhlY90T"
                    + "YcpzEsOYaAQFhFsX4CySkRrAfDcvUtfxoCoHQ1e-jn5zXD8s7-_BLQ"),
        ],
        token: "eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJqb2UifQ."
            + "GNnfZIu9i5o-Z0MI1t0TwqHTXnkdSvKYJwAoF5rF8dXqyqf3VoAgf1Wwhc8IoAYL5Uopc6HzWCXmAM0FV9JFl8pCUsUneMZh"
            + "Tlv_t8YGSqVZDofsGjEkBwfk6IP7FyU_PM7Y733blhWQ9BLijMAcVx8RBG2QZ9tObLPRsyjJNnUuWkECR4SQsxQLF3_UNJEJ"
            + "rjbm2yAOrzQhWJmTEkGbek3sXHxjWTab4zVwKcMwoTZMNnonU2fzLk79DPyzte86JYwav8JBfo33BPVBESZUqzJuNbcw7p0T"
            + "4f-aY0ndKBaysoe1viDnjQjNk75gjCRtcbaExh0osja6OWaKdnYE6A")

    /// The same text and key with a salt of 20 bytes (made by cryptography, PyPI). RFC 7518, section 3.5, requires 32.
    static let shortSalt = SignedToken(
        scheme: .ps256, key: ps256.key,
        token: "eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJqb2UifQ."
            + "d1uVATRoNbb2zEH6pw4Q72sKp5Fiw2il0AYXbkz_V6Sjp4K7KIRv0p4khmF6ZWg84P9sWKR9JbxbQi_YDeH5NtW6n6oMQFaf"
            + "z_8e8MQ6LP-nw-e7eMIO9c791dwNvh_JSZ4tOK7QW18HA4LtIfTb5aW_dyYMpsaoCvUGFd5fHeoox9fpFaQvtlj7qzNZQvWV"
            + "DReqWgGKmeYu347cAj3umLvfAa53qtIa2XLUCe4M8qPURRuRBHGB90Qp9etIS56rTwARossX43PEHvKQZMB8cXbpjtnyjvZt"
            + "3Le_dXH3dBrHceqsFnG3gX9pEODCX30p0hErP6YyOOvfVSLI3tjh1w")

    /// RS256 with a key of 1024 bits, which RFC 7518, section 3.3, forbids.
    static let shortKey = SignedToken(
        scheme: .rs256,
        key: [
            "kty": "RSA", "e": "AQAB",
            "n": .string(
                "-RB9ASLjCwmTr_ZIkJcqsl6PJKl1oKZ8jXYCmDMfIuOpxVBkbK1Q_J_lGDXF9OOAszUzkOrxWh_brXRpFolkzj4jbk1KFw7Z"
                    + "eei3OuTqdpI-YRKGRmcmG1kiFNCT_rW40DwzOmLxCvj6m0JRbd2LotoFisWF_kyviPGu_uzAKiE"),
        ],
        token: "eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJqb2UifQ."
            + "dkKA2gffGiaNQ9STLWvJt85cMTsm5RAw0THFO4-y1lHctHK6OLlTFW98_kYMCZmpRZqosSc-kYnuvjEc1N2rjYVa2_qZoelp"
            + "W89wYbQzCJhPbFZI-w9_S-zXIR0GMZD0wqbshuSrtqBl54gdESG3fyhFBgInG1DZUbLaYL-_qow")
}

@Suite("Signed tokens and published keys")
struct JSONWebSignatureTests {
    @Test("published examples, and tokens of another implementation", arguments: [SignedToken.rs256, .es256, .ps256])
    func published(_ signed: SignedToken) throws {
        #expect(try signed.isValid())
        // Every byte counts: of the signature, of the signed text, of the key.
        let parts = signed.token.split(separator: ".").map(String.init)
        let other = parts[1].replacing("e", with: "f", maxReplacements: 1)
        #expect(try !signed.isValid("\(parts[0]).\(other).\(parts[2])"))
        let flipped = (parts[2].first == "A" ? "B" : "A") + parts[2].dropFirst()
        #expect(try !signed.isValid("\(parts[0]).\(parts[1]).\(flipped)"))
        #expect(try !signed.isValid("\(parts[0]).\(parts[1])."))
    }

    @Test("a salt of another length, and a key that is too short, are refused")
    func weak() throws {
        #expect(try !SignedToken.shortSalt.isValid())
        #expect(try !SignedToken.shortKey.isValid())
    }

    @Test("a point that is not on the curve, an even modulus and an exponent of 1 are not keys")
    func noKeys() {
        let one = [UInt8](repeating: 1, count: 32)
        #expect(!OpenSSLCrypto.isValid([1], for: [1], by: .p256(x: one, y: one), as: .es256))
        var modulus = [UInt8](repeating: 0xFF, count: 256)
        #expect(!OpenSSLCrypto.isValid([1], for: [1], by: .rsa(modulus: modulus, exponent: [1]), as: .rs256))
        modulus[255] = 0xFE
        #expect(!OpenSSLCrypto.isValid([1], for: [1], by: .rsa(modulus: modulus, exponent: [1, 0, 1]), as: .rs256))
        #expect(!OpenSSLCrypto.isValid([1], for: [1], by: .rsa(modulus: [], exponent: []), as: .rs256))
    }

    @Test(
        "a key for another purpose is not used",
        arguments: [
            ["use": "enc"], ["key_ops": ["encrypt"]], ["alg": "RS384"], ["alg": "PS256"], ["kty": "oct"],
            ["kid": "other"],
            ["n": "AQ=="], ["e": nil],
        ] as [JSONValue])
    func otherUse(_ changes: JSONValue) throws {
        let changed = (SignedToken.rs256.key.members ?? []).filter { changes[$0.name] == nil }
        // The token's header names a key in this one.
        let named = try JSONWebSignature(Secret("eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.AA"))
        let set = try JSONWebKeySet(["keys": [.object(changed + (changes.members ?? []))]])
        #expect(set.keys(for: named, as: .rs256).isEmpty)
        #expect(try JSONWebKeySet(["keys": [SignedToken.rs256.key]]).keys(for: named, as: .rs256).count == 1)
    }

    @Test(
        "text that is not a signed token is refused",
        arguments: [
            "", "a.b", "a.b.c.d.e", "e30.e30.AA", "bm90IGpzb24.e30.AA", "eyJhbGciOiJSUzI1NiJ9.e30.A",
            // crit, which requires an unsupported extension.
            "eyJhbGciOiJSUzI1NiIsImNyaXQiOlsiYjY0Il0sImI2NCI6ZmFsc2V9.e30.AA",
        ])
    func malformed(_ text: String) {
        #expect(throws: OAuth2FormatError.self) { try JSONWebSignature(Secret(text)) }
    }

    @Test("key sets have a limit, and an invalid one is refused")
    func bounds() throws {
        let key = SignedToken.es256.key
        #expect(try JSONWebKeySet(["keys": .array(Array(repeating: key, count: 100))]).keys.count == 100)
        #expect(throws: OAuth2FormatError.self) {
            try JSONWebKeySet(["keys": .array(Array(repeating: key, count: 101))])
        }
        for json in [[:], ["keys": "x"], []] as [JSONValue] {
            #expect(throws: OAuth2FormatError.self) { try JSONWebKeySet(json) }
        }
    }
}
