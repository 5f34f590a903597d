// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import Testing

@Suite("Signatures")
struct SignatureTests {
    @Test("the fixed-length form of ECDSA is 64 bytes, and means the same as the DER form")
    func fixedLength() throws {
        let key = try PrivateKey(generating: .p256)
        let message = Array("header.payload".utf8)
        // r or s is shorter than 32 bytes in one signature of 128: enough signatures to meet it.
        for _ in 0..<300 {
            let signature = try key.sign(message, algorithm: .ecdsaFixedLength)
            #expect(signature.count == 64)
            #expect(try key.publicKey.isValid(signature, for: message, algorithm: .ecdsaFixedLength))
        }
        let der = try key.sign(message, algorithm: .ecdsa)
        #expect(try !key.publicKey.isValid(der, for: message, algorithm: .ecdsaFixedLength))
        #expect(try !key.publicKey.isValid([], for: message, algorithm: .ecdsaFixedLength))
    }

    @Test(
        "a changed signature is refused",
        arguments: [
            (.p256, .ecdsa), (.rsa2048, .rsaPKCS1), (.rsa2048, .rsaPSS), (.rsa2048, .rsaPSSFixedSalt),
        ] as [(PrivateKey.Kind, SignatureAlgorithm)])
    func changed(_ kind: PrivateKey.Kind, _ algorithm: SignatureAlgorithm) throws {
        let key = try PrivateKey(generating: kind)
        var signature = try key.sign([1, 2, 3], algorithm: algorithm)
        signature[signature.count / 2] ^= 1
        #expect(try !key.publicKey.isValid(signature, for: [1, 2, 3], algorithm: algorithm))
    }

    @Test("an algorithm of another kind of key is refused")
    func otherKind() throws {
        let key = try PrivateKey(generating: .p256)
        #expect(throws: SignatureFailure.self) { try key.sign([1], algorithm: .rsaPSS) }
        #expect(try !key.publicKey.isValid([1], for: [1], algorithm: .rsaPKCS1))
    }

    @Test(
        "what is not a key is refused",
        arguments: ["", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func garbage(_ text: String) {
        #expect(throws: KeyError.malformed) { try PrivateKey(pem: Array(text.utf8)) }
        #expect(throws: KeyError.malformed) { try PublicKey(pem: Array(text.utf8)) }
    }
}
