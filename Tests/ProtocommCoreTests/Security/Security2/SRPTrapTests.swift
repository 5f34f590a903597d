// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("Security 2, numbers that are shorter than usual")
struct SRPTrapTests {
    @Test("both ends send what an independent implementation computes", arguments: SRPTrap.all.keys.sorted())
    func agrees(_ name: String) throws {
        let trap = SRPTrap.named(name)
        var client = trap.client(trap.hash)
        var device = trap.device()

        let command0 = try client.start().request
        #expect(try clientPublicKey(command0) == hex(trap.A))
        let response0 = try device.respond(to: command0).reply
        #expect(try devicePublicKey(response0) == hex(trap.B))

        let command1 = try client.receive(response0).request
        #expect(try clientProof(command1) == hex(trap.M1))
        let response1 = try device.respond(to: command1).reply
        #expect(try deviceProof(response1) == hex(trap.M2))
        #expect(try client.receive(response1) == .established)
    }

    @Test(
        "a faulty verifier refuses the standard proof",
        arguments: SRPTrap.all.filter { $0.value.hash != .standard }.keys.sorted())
    func faultyVerifier(_ name: String) throws {
        let trap = SRPTrap.named(name)
        var client = trap.client(.standard)
        var device = trap.device()
        let command1 = try client.receive(device.respond(to: client.start().request).reply).request
        #expect(throws: HandshakeError.proofMismatch) { try device.respond(to: command1) }
    }

    @Test("A is padded to 384 bytes, B travels without leading zeros")
    func lengths() {
        #expect(hex(SRPTrap.named("A begins with 00").A).first == 0)
        #expect(hex(SRPTrap.named("B has 383 bytes").B).count == 383)
        #expect(hex(SRPTrap.named("S begins with 00").S).count == 383)
    }

    private func clientPublicKey(_ bytes: [UInt8]) throws -> [UInt8]? {
        guard case .command0(let body)? = try payload(bytes) else { return nil }
        return body.clientPublicKey
    }

    private func devicePublicKey(_ bytes: [UInt8]) throws -> [UInt8]? {
        guard case .response0(let body)? = try payload(bytes) else { return nil }
        return body.devicePublicKey
    }

    private func clientProof(_ bytes: [UInt8]) throws -> [UInt8]? {
        guard case .command1(let body)? = try payload(bytes) else { return nil }
        return body.clientProof
    }

    private func deviceProof(_ bytes: [UInt8]) throws -> [UInt8]? {
        guard case .response1(let body)? = try payload(bytes) else { return nil }
        return body.deviceProof
    }

    private func payload(_ bytes: [UInt8]) throws -> Security2Payload.Payload? {
        guard case .security2(let payload)? = try SessionData(decoding: bytes).payload else { return nil }
        return payload.payload
    }
}
