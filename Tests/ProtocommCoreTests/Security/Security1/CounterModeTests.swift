// SPDX-License-Identifier: Apache-2.0
@testable import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

@testable import ProtocommCore

@Suite("Security 1, the key stream")
struct CounterModeTests {
    private static let key = KeyMaterial(hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))

    @Test("is AES-256-CTR of NIST SP 800-38A, F.5.5")
    func nist() throws {
        var stream = CounterModeStream<OpenSSLCrypto>(
            key: Self.key, initialBlock: hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"))
        let plain = hex(
            """
            6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
            30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710
            """)
        let cipher = hex(
            """
            601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5
            2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6
            """)
        #expect(try stream.apply(to: plain) == cipher)
    }

    @Test("is the same however a message is split", arguments: 0...70)
    func splits(_ position: Int) throws {
        // All ones: the counter block wraps around within the message.
        let start = [UInt8](repeating: 0xFF, count: 16)
        let message = [UInt8](repeating: 0, count: 70)
        let whole = try OpenSSLCrypto.aes256CounterMode(message, key: Self.key, counterBlock: start, skipping: 0)
        var stream = CounterModeStream<OpenSSLCrypto>(key: Self.key, initialBlock: start)
        let first = try stream.apply(to: Array(message.prefix(position)))
        let second = try stream.apply(to: Array(message.dropFirst(position)))
        #expect(first + second == whole)
    }
}
