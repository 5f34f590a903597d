// SPDX-License-Identifier: Apache-2.0
@testable import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

@testable import ProtocommCore

private typealias Cipher = Security2Cipher<OpenSSLCrypto>

@Suite("Security 2, messages")
struct Security2CipherTests {
    private static let key = KeyMaterial([UInt8](repeating: 7, count: 32))
    private static let session = hex("a1a2a3a4a5a6a7a8")

    private static func counted(from counter: UInt32 = 1) -> Cipher {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * $0)) }
        return Cipher(key: key, nonce: session + bytes, patchVersion: .countedNonce)
    }

    private static func constant() -> Cipher {
        Cipher(key: key, nonce: session + session, patchVersion: .constantNonce)
    }

    @Test("both directions share one counter that never repeats")
    func counter() throws {
        var client = Self.counted()
        var device = Self.counted()
        var seen: Set<[UInt8]> = []
        for _ in 0..<300 {
            // The same plaintext every time: a nonce used twice would show as the same record twice.
            let request = try client.encrypt([0, 0, 0, 0])
            #expect(seen.insert(request).inserted)
            #expect(try device.decrypt(request) == [0, 0, 0, 0])
            let response = try device.encrypt([0, 0, 0, 0])
            #expect(seen.insert(response).inserted)
            #expect(try client.decrypt(response) == [0, 0, 0, 0])
        }
    }

    @Test("the counter is the last four bytes of the nonce, big-endian, and carries")
    func carry() throws {
        var cipher = Self.counted(from: 0x00FF_FFFF)
        _ = try cipher.encrypt([1])
        var expected = Self.counted(from: 0x0100_0000)
        #expect(try cipher.encrypt([2]) == expected.encrypt([2]))
    }

    @Test("after the last nonce nothing is encrypted or decrypted any more")
    func wrap() throws {
        var cipher = Self.counted(from: 0xFFFF_FFFE)
        _ = try cipher.encrypt([1])
        _ = try cipher.encrypt([1])
        #expect(throws: CipherError.nonceExhausted) { try cipher.encrypt([1]) }
        var wrapped = Self.counted(from: 0)
        let record = try wrapped.encrypt([1])
        #expect(throws: CipherError.nonceExhausted) { try cipher.decrypt(record) }
    }

    @Test("a changed, a replayed and a cut record are refused, and the session goes on", arguments: [false, true])
    func tampered(_ isCounted: Bool) throws {
        var client = isCounted ? Self.counted() : Self.constant()
        var device = isCounted ? Self.counted() : Self.constant()
        let first = try client.encrypt([1, 2, 3])
        for index in first.indices {
            var changed = first
            changed[index] ^= 0x80
            #expect(throws: CipherError.authenticationFailed) { try device.decrypt(changed) }
        }
        #expect(throws: CipherError.authenticationFailed) { try device.decrypt(Array(first.dropLast())) }
        #expect(try device.decrypt(first) == [1, 2, 3])
        if isCounted { #expect(throws: CipherError.authenticationFailed) { try device.decrypt(first) } }
        #expect(try client.decrypt(device.encrypt([9])) == [9])
    }

    @Test("an empty message is refused before it is sent, and one without ciphertext when it arrives")
    func empty() throws {
        var cipher = Self.counted()
        #expect(throws: CipherError.emptyPlaintext) { try cipher.encrypt([]) }
        for length in 0...16 {
            #expect(throws: CipherError.tooShort) { try cipher.decrypt([UInt8](repeating: 0, count: length)) }
        }
        var untouched = Self.counted()
        #expect(try cipher.encrypt([1]) == untouched.encrypt([1]))
    }
}
