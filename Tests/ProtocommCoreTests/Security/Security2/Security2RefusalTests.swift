// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("Security 2, what each end refuses")
struct Security2RefusalTests {
    @Test("B that is a multiple of N is refused", arguments: ["", "00", "N", "0 padded"])
    func zeroB(_ kind: String) throws {
        var client = client2()
        _ = try client.start()
        let reply = response0(publicKey: multipleOfN(kind))
        #expect(throws: HandshakeError.unsafePublicKey) { try client.receive(reply) }
    }

    @Test("B longer than N is refused")
    func longB() throws {
        var client = client2()
        _ = try client.start()
        let reply = response0(publicKey: [UInt8](repeating: 1, count: 385))
        #expect(throws: HandshakeError.malformed) { try client.receive(reply) }
    }

    @Test("A that is a multiple of N is refused", arguments: ["0 padded", "N"])
    func zeroA(_ kind: String) throws {
        var device = device2(try verifier2())
        let request = command0(publicKey: multipleOfN(kind))
        #expect(throws: HandshakeError.unsafePublicKey) { try device.respond(to: request) }
    }

    @Test("A of any length but 384 is refused", arguments: [0, 1, 383, 385, 1000])
    func lengthOfA(_ length: Int) throws {
        var device = device2(try verifier2())
        let request = command0(publicKey: [UInt8](repeating: 1, count: length))
        #expect(throws: HandshakeError.invalidParameters) { try device.respond(to: request) }
    }

    @Test("an empty user name is refused by both ends")
    func emptyUsername() throws {
        var device = device2(try verifier2())
        let request = command0(username: "", publicKey: [UInt8](repeating: 1, count: 384))
        #expect(throws: HandshakeError.invalidParameters) { try device.respond(to: request) }
        var client = client2(username: "")
        #expect(throws: HandshakeError.invalidParameters) { try client.start() }
    }

    @Test("u = 0 is refused by both ends")
    func zeroScramble() throws {
        var random = ReproducibleRandom(seed: 1)
        var client = Security2Client<ZeroHashCrypto>(
            username: [1], password: [1], patchVersion: .countedNonce, random: &random)
        let request = try client.start().request
        #expect(throws: HandshakeError.unsafePublicKey) { try client.receive(response0(publicKey: [2])) }
        var device = Security2Device<ZeroHashCrypto, ReproducibleRandom>(
            verifier: try verifier2(), patchVersion: .countedNonce, random: random)
        #expect(throws: HandshakeError.unsafePublicKey) { try device.respond(to: request) }
    }

    @Test("a wrong password or user name is refused by the device")
    func wrongPassword() throws {
        for var client in [client2("abcd1235"), client2(""), client2(username: "wifiprow")] {
            var device = device2(try verifier2())
            let proof = try client.receive(device.respond(to: client.start().request).reply).request
            #expect(throws: HandshakeError.proofMismatch) { try device.respond(to: proof) }
        }
    }

    @Test("a client proof that is not 64 bytes long is refused", arguments: [0, 1, 63, 65])
    func proofLength(_ length: Int) throws {
        var client = client2()
        var device = device2(try verifier2())
        _ = try client.receive(device.respond(to: client.start().request).reply)
        let request = SessionData(
            .security2(.init(.command1(.init(clientProof: [UInt8](repeating: 0, count: length)))))
        ).encoded()
        #expect(throws: HandshakeError.malformed) { try device.respond(to: request) }
    }

    @Test("a device that cannot prove itself is refused, whatever it sends", arguments: 0...3)
    func deviceProof(_ kind: Int) throws {
        var client = client2()
        var device = device2(try verifier2())
        let proof = try client.receive(device.respond(to: client.start().request).reply).request
        let genuine = try payload1(device.respond(to: proof).reply)
        var forged = genuine
        switch kind {
        case 0: forged.deviceProof[63] ^= 1
        case 1: forged.deviceProof = []
        case 2: forged.deviceProof.removeLast()
        default: forged.deviceProof.append(0)
        }
        #expect(throws: HandshakeError.proofMismatch) {
            try client.receive(SessionData(.security2(.init(.response1(forged)))).encoded())
        }
        #expect(throws: HandshakeError.notEstablished) { try client.finish() }
    }

    @Test("a nonce of the other patch version is refused: the nonce is not covered by the proof")
    func patchMismatch() throws {
        for (mine, theirs) in [
            (Security2PatchVersion.countedNonce, Security2PatchVersion.constantNonce), (.constantNonce, .countedNonce),
        ] {
            var client = client2(patch: mine)
            var device = device2(try verifier2(), patch: theirs)
            let proof = try client.receive(device.respond(to: client.start().request).reply).request
            let reply = try device.respond(to: proof).reply
            #expect(throws: HandshakeError.versionMismatch) { try client.receive(reply) }
        }
    }

    private func payload1(_ bytes: [UInt8]) throws -> Security2Response1 {
        guard case .security2(let payload)? = try SessionData(decoding: bytes).payload,
            case .response1(let body)? = payload.payload
        else { throw HandshakeError.malformed }
        return body
    }

    private func response0(publicKey: [UInt8]) -> [UInt8] {
        SessionData(.security2(.init(.response0(.init(devicePublicKey: publicKey, deviceSalt: [1, 2]))))).encoded()
    }

    private func command0(username: String = "wifiprov", publicKey: [UInt8]) -> [UInt8] {
        SessionData(
            .security2(.init(.command0(.init(clientUsername: Array(username.utf8), clientPublicKey: publicKey))))
        ).encoded()
    }

    /// RFC 5054, appendix A.
    private func multipleOfN(_ kind: String) -> [UInt8] {
        switch kind {
        case "N":
            hex(
                """
                FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD
                EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED
                EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F
                83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B
                E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510
                15728E5A8AAAC42DAD33170D04507A33A85521ABDF1CBA64ECFB850458DBEF0A8AEA71575D060C7DB3970F85A6E1E4C7
                ABF5AE8CDB0933D71E8C94E04A25619DCEE3D2261AD2EE6BF12FFA06D98A0864D87602733EC86A64521F2B18177B200C
                BBE117577A615D6C770988C0BAD946E208E24FA074E5AB3143DB5BFCE0FD108E4B82D120A93AD2CAFFFFFFFFFFFFFFFF
                """)
        case "0 padded": [UInt8](repeating: 0, count: 384)
        default: hex(kind)
        }
    }
}

/// libcrypto, but for a SHA-512 that is always zero: the only way to meet u = 0.
private enum ZeroHashCrypto: CryptoSuite {
    static func sha256(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>) {
        OpenSSLCrypto.sha256(message, into: digest)
    }
    static func sha512(_ message: UnsafeBufferPointer<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>) {
        digest.update(repeating: 0)
    }
    static func x25519PublicKey(_ privateKey: KeyMaterial) throws(CryptoFailure) -> [UInt8] {
        try OpenSSLCrypto.x25519PublicKey(privateKey)
    }
    static func x25519SharedSecret(
        privateKey: KeyMaterial, publicKey: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial {
        try OpenSSLCrypto.x25519SharedSecret(privateKey: privateKey, publicKey: publicKey)
    }
    static func aes256CounterMode(
        _ message: [UInt8], key: KeyMaterial, counterBlock: [UInt8], skipping offset: Int
    ) throws(CryptoFailure) -> [UInt8] {
        try OpenSSLCrypto.aes256CounterMode(message, key: key, counterBlock: counterBlock, skipping: offset)
    }
    static func aes256GCMSeal(
        _ plaintext: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8] { try OpenSSLCrypto.aes256GCMSeal(plaintext, key: key, nonce: nonce) }
    static func aes256GCMOpen(
        _ sealed: [UInt8], key: KeyMaterial, nonce: [UInt8]
    ) throws(CryptoFailure) -> [UInt8]? { try OpenSSLCrypto.aes256GCMOpen(sealed, key: key, nonce: nonce) }
    static func power(
        _ base: KeyMaterial, _ exponent: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { try OpenSSLCrypto.power(base, exponent, modulus: modulus) }
    static func multiply(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { try OpenSSLCrypto.multiply(left, right, modulus: modulus) }
    static func add(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { try OpenSSLCrypto.add(left, right, modulus: modulus) }
    static func subtract(
        _ left: KeyMaterial, _ right: KeyMaterial, modulus: [UInt8]
    ) throws(CryptoFailure) -> KeyMaterial { try OpenSSLCrypto.subtract(left, right, modulus: modulus) }
    static func multiplyAdd(
        _ factor: KeyMaterial, _ other: KeyMaterial, _ summand: KeyMaterial
    ) throws(CryptoFailure) -> KeyMaterial { try OpenSSLCrypto.multiplyAdd(factor, other, summand) }
}
