// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

@Suite("Security 1, what each end refuses")
struct Security1RefusalTests {
    /// Points of order 1, 2, 4 and 8 (https://cr.yp.to/ecdh.html#validate), and the same with the top bit set, which
    /// RFC 7748 has everyone ignore.
    private static let lowOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ]

    @Test("a public key of low order is refused by both ends", arguments: lowOrder)
    func lowOrderPoints(_ point: String) throws {
        var client = client1()
        _ = try client.start()
        let reply = SessionData(
            .security1(
                .init(.response0(.init(devicePublicKey: hex(point), deviceRandom: [UInt8](repeating: 1, count: 16)))))
        ).encoded()
        #expect(throws: HandshakeError.unsafePublicKey) { try client.receive(reply) }
        var device = device1()
        let request = SessionData(.security1(.init(.command0(.init(clientPublicKey: hex(point)))))).encoded()
        #expect(throws: HandshakeError.unsafePublicKey) { try device.respond(to: request) }
    }

    @Test("a client key of any length but 32 is refused", arguments: [0, 31, 33])
    func clientKeyLength(_ length: Int) {
        var device = device1()
        let request = SessionData(
            .security1(.init(.command0(.init(clientPublicKey: [UInt8](repeating: 9, count: length)))))
        ).encoded()
        #expect(throws: HandshakeError.invalidParameters) { try device.respond(to: request) }
    }

    @Test(
        "a device key or first counter block of the wrong length is refused",
        arguments: [(31, 16), (33, 16), (32, 0), (32, 15), (32, 17)])
    func deviceLengths(_ key: Int, _ random: Int) throws {
        var client = client1()
        _ = try client.start()
        let body = Security1Response0(
            devicePublicKey: [UInt8](repeating: 9, count: key), deviceRandom: [UInt8](repeating: 1, count: random))
        #expect(throws: HandshakeError.malformed) {
            try client.receive(SessionData(.security1(.init(.response0(body)))).encoded())
        }
    }

    @Test("a client proof that is not 32 bytes long is refused", arguments: [0, 1, 31, 33])
    func proofLength(_ length: Int) throws {
        var client = client1()
        var device = device1()
        let proof = try client.receive(device.respond(to: client.start().request).reply).request
        var genuine = try command1(proof)
        genuine.clientVerifyData = Array((genuine.clientVerifyData + [0]).prefix(length))
        #expect(throws: HandshakeError.malformed) {
            try device.respond(to: SessionData(.security1(.init(.command1(genuine)))).encoded())
        }
    }

    @Test(
        "a wrong proof of possession is refused by the device",
        arguments: [("abcd1234", "abcd1235"), ("abcd1234", ""), ("", "abcd1234")])
    func wrongProof(_ mine: String, _ theirs: String) throws {
        var client = client1(mine)
        var device = device1(theirs)
        let proof = try client.receive(device.respond(to: client.start().request).reply).request
        #expect(throws: HandshakeError.proofMismatch) { try device.respond(to: proof) }
    }

    @Test("a device that cannot prove itself is refused, whatever it sends", arguments: [0, 1, 31, 32, 33])
    func deviceProof(_ length: Int) throws {
        var client = client1()
        var device = device1()
        _ = try client.receive(device.respond(to: client.start().request).reply)
        let body = Security1Response1(deviceVerifyData: [UInt8](repeating: 0, count: length))
        #expect(throws: HandshakeError.proofMismatch) {
            try client.receive(SessionData(.security1(.init(.response1(body)))).encoded())
        }
        #expect(throws: HandshakeError.notEstablished) { try client.finish() }
    }

    private func command1(_ bytes: [UInt8]) throws -> Security1Command1 {
        guard case .security1(let payload)? = try SessionData(decoding: bytes).payload,
            case .command1(let body)? = payload.payload
        else { throw HandshakeError.malformed }
        return body
    }
}
