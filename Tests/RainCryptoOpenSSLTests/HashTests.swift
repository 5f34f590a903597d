// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("Hashes")
struct HashTests {
    @Test("SHA-2 of \"abc\" is what FIPS 180-4 prints")
    func sha2() {
        #expect(
            OpenSSLHashes.sha256(Array("abc".utf8))
                == hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(
            OpenSSLHashes.sha512(Array("abc".utf8))
                == hex(
                    """
                    ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
                    2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
                    """))
    }

    @Test("MD5 is what RFC 1321 prints")
    func md5() {
        #expect(OpenSSLHashes.md5([]) == hex("d41d8cd98f00b204e9800998ecf8427e"))
        #expect(OpenSSLHashes.md5(Array("abc".utf8)) == hex("900150983cd24fb0d6963f7d28e17f72"))
    }

    @Test("HMAC is what RFC 4231 prints, for short keys and for keys longer than a block")
    func hmac() {
        #expect(
            OpenSSLHashes.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
                == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        let longKey = [UInt8](repeating: 0xAA, count: 131)
        let message = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            OpenSSLHashes.hmacSHA256(message, key: longKey)
                == hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
    }

    @Test("two draws of random bytes differ")
    func random() {
        var random = OpenSSLRandom()
        #expect(random.bytes(32) != random.bytes(32))
        #expect(random.bytes(0) == [])
    }

    @Test("byte strings are equal only if every byte is", arguments: 0..<8)
    func constantTime(position: Int) {
        let left = [UInt8](repeating: 7, count: 8)
        var right = left
        #expect(equalInConstantTime(left, right))
        right[position] ^= 1
        #expect(!equalInConstantTime(left, right))
        #expect(!equalInConstantTime(left, Array(left.dropLast())))
    }
}
