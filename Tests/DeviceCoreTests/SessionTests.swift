// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("Sessions")
struct SessionTests {
    private func core(limit: UInt32 = 5) -> Core {
        Core(
            configuration: DeviceConfiguration(
                nodeID: [0x41], security: .security1, provisioning: ProvisioningOptions(wrongProofLimit: limit)),
            radio: SimulatedRadio(accessPoints: neighbourhood),
            security: .security1(
                Security1Device(
                    proofOfPossession: Array("abcd1234".utf8), random: ReproducibleRandom(seed: 1))),
            signer: nil)
    }

    private func handshake(
        _ core: inout Core, session: UInt32, proof: String = "abcd1234", seed: UInt64 = 2
    ) throws -> Security1Cipher<OpenSSLCrypto> {
        var random = ReproducibleRandom(seed: seed)
        var client = Security1Client<OpenSSLCrypto>(proofOfPossession: Array(proof.utf8), random: &random)
        var step = try client.start()
        while case .send(let request) = step {
            guard case .reply(let reply) = core.respond(to: request, on: .session, session: session, now: 0) else {
                throw Refused()
            }
            step = try client.receive(reply)
        }
        return try client.finish()
    }

    @Test("nothing is answered before a handshake, and everything after it")
    func handshakeFirst() throws {
        var core = core()
        #expect(core.respond(to: [0x52, 0x00], on: .config, session: 1, now: 0) == .refused)
        var cipher = try handshake(&core, session: 1)
        let request = try cipher.encrypt([0x52, 0x00])
        guard case .reply(let reply) = core.respond(to: request, on: .config, session: 1, now: 0) else {
            throw Refused()
        }
        #expect(try cipher.decrypt(reply) == [0x08, 0x01, 0x5A, 0x02, 0x10, 0x01])
    }

    @Test("any request under another id destroys the session, even for the version")
    func anotherSession() throws {
        var core = core()
        var cipher = try handshake(&core, session: 1)
        guard case .reply = core.respond(to: [0x2D], on: .version, session: 2, now: 0) else { throw Refused() }
        let request = try cipher.encrypt([0x52, 0x00])
        #expect(core.respond(to: request, on: .config, session: 1, now: 0) == .refused)
    }

    @Test("the second half of a handshake does not count in another session")
    func handshakeIsNotInherited() throws {
        var core = core()
        var random = ReproducibleRandom(seed: 2)
        var client = Security1Client<OpenSSLCrypto>(proofOfPossession: Array("abcd1234".utf8), random: &random)
        guard case .send(let first) = try client.start(),
            case .reply(let reply) = core.respond(to: first, on: .session, session: 1, now: 0),
            case .send(let second) = try client.receive(reply)
        else { throw Refused() }
        #expect(core.respond(to: second, on: .session, session: 2, now: 0) == .refused)
    }

    @Test("a wrong proof in another session does not belong to its handshake, and is not counted")
    func proofOfAnotherSession() throws {
        var core = core()
        for attempt in 1...6 {
            var random = ReproducibleRandom(seed: UInt64(attempt))
            var client = Security1Client<OpenSSLCrypto>(proofOfPossession: Array("guess".utf8), random: &random)
            let session = UInt32(attempt) * 2
            guard case .send(let first) = try client.start(),
                case .reply(let reply) = core.respond(to: first, on: .session, session: session, now: 0),
                case .send(let second) = try client.receive(reply)
            else { throw Refused() }
            #expect(core.respond(to: second, on: .session, session: session + 1, now: 0) == .refused)
        }
        #expect(!core.takeEvents().contains { if case .wrongProof = $0 { true } else { false } })
        core.advance(to: 10_000)
        #expect(core.isServing)
    }

    @Test(
        "a first command that is refused ends the session that was there, and is a strike",
        arguments: [
            SessionData(.security1(Security1Payload(.command0(Security1Command0(clientPublicKey: hex("0102")))))),
            SessionData(
                .security1(
                    Security1Payload(
                        .command0(Security1Command0(clientPublicKey: [UInt8](repeating: 9, count: 31)))))),
        ])
    func refusedFirstCommand(command: SessionData) throws {
        var core = core()
        var cipher = try handshake(&core, session: 1)
        #expect(core.respond(to: command.encoded(), on: .session, session: 1, now: 0) == .refused)
        #expect(core.takeEvents().last == .wrongProof(count: 1))
        #expect(core.respond(to: try cipher.encrypt([0x52, 0x00]), on: .config, session: 1, now: 0) == .refused)
        // The client starts again, in the same session of the transport.
        cipher = try handshake(&core, session: 1, seed: 3)
        guard case .reply = core.respond(to: try cipher.encrypt([0x52, 0x00]), on: .config, session: 1, now: 0) else {
            throw Refused()
        }
    }

    @Test(
        "so does one of Security 2: a key that is not 384 bytes long, or nobody's name",
        arguments: [("wifiprov", 383), ("", 384)])
    func refusedFirstCommandOfSecurity2(username: String, keyLength: Int) throws {
        let (name, password) = (Array("wifiprov".utf8), Array("abcd1234".utf8))
        var core = Core(
            configuration: DeviceConfiguration(nodeID: [0x41], security: .security2),
            radio: SimulatedRadio(accessPoints: neighbourhood),
            security: .security2(
                Security2Device(
                    verifier: try Security2Verifier(
                        username: name, password: password, salt: [UInt8](1...16), with: OpenSSLCrypto.self),
                    patchVersion: .countedNonce, random: ReproducibleRandom(seed: 1))),
            signer: nil)
        var random = ReproducibleRandom(seed: 2)
        var client = Security2Client<OpenSSLCrypto>(
            username: name, password: password, patchVersion: .countedNonce, random: &random)
        var step = try client.start()
        while case .send(let request) = step {
            guard case .reply(let reply) = core.respond(to: request, on: .session, session: 1, now: 0) else {
                throw Refused()
            }
            step = try client.receive(reply)
        }
        var cipher = try client.finish()
        let command = SessionData(
            .security2(
                Security2Payload(
                    .command0(
                        Security2Command0(
                            clientUsername: Array(username.utf8),
                            clientPublicKey: [UInt8](repeating: 7, count: keyLength))))))
        #expect(core.respond(to: command.encoded(), on: .session, session: 1, now: 0) == .refused)
        #expect(core.respond(to: try cipher.encrypt([0x52, 0x00]), on: .config, session: 1, now: 0) == .refused)
    }

    @Test("five wrong proofs end provisioning until the next boot, right ones in between or not")
    func fiveStrikes() throws {
        var core = core()
        for attempt in 1...5 {
            #expect(throws: Refused.self) { try handshake(&core, session: 1, proof: "guess", seed: UInt64(attempt)) }
            if attempt == 2 { _ = try handshake(&core, session: 1) }
        }
        core.advance(to: 999)
        #expect(core.isServing)
        core.advance(to: 1000)
        #expect(!core.isServing)
    }

    @Test("without a limit, guessing goes on")
    func noLimit() {
        var core = core(limit: 0)
        for attempt in 1...20 {
            #expect(throws: Refused.self) { try handshake(&core, session: 1, proof: "guess", seed: UInt64(attempt)) }
        }
        core.advance(to: 10_000)
        #expect(core.isServing)
    }

    @Test("after a handler error Security 1 has lost its place: a new handshake is due, on the same session")
    func desynchronised() throws {
        var core = core()
        var cipher = try handshake(&core, session: 1)
        #expect(core.respond(to: try cipher.encrypt([0x08, 0x63]), on: .config, session: 1, now: 0) == .refused)
        cipher = try handshake(&core, session: 1, seed: 3)
        guard
            case .reply(let reply) = core.respond(
                to: try cipher.encrypt([0x52, 0x00]), on: .config, session: 1, now: 0)
        else { throw Refused() }
        #expect(try cipher.decrypt(reply) == [0x08, 0x01, 0x5A, 0x02, 0x10, 0x01])
    }
}
