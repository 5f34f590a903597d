// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import TestSupport
import Testing

@Suite("Published vectors, byte for byte")
struct PublishedVectorTests {
    @Test("the client sends and understands what the official client did", arguments: Vector.all.keys.sorted())
    func client(_ name: String) throws {
        let vector = Vector.named(name)
        var client = try vector.client(name)
        var step = try client.start()
        for exchange in vector.handshake {
            #expect(step == .send(hex(exchange.req)))
            step = try client.receive(hex(exchange.resp))
        }
        #expect(step == .established)
        var cipher = try client.finish()
        for call in vector.rpc {
            #expect(try cipher.encrypt(hex(call.req_plain)) == hex(call.req_wire))
            #expect(try cipher.decrypt(hex(call.resp_wire)) == hex(call.resp_plain))
        }
    }

    @Test("the device answers and understands as the firmware did", arguments: Vector.all.keys.sorted())
    func device(_ name: String) throws {
        let vector = Vector.named(name)
        var device = try vector.device(name)
        var established: SelectedCipher<OpenSSLCrypto>?
        for exchange in vector.handshake {
            let step = try device.respond(to: hex(exchange.req))
            #expect(step.reply == hex(exchange.resp))
            if case .established(_, let cipher) = step { established = cipher }
        }
        var cipher = try #require(established)
        for call in vector.rpc {
            #expect(try cipher.decrypt(hex(call.req_wire)) == hex(call.req_plain))
            #expect(try cipher.encrypt(hex(call.resp_plain)) == hex(call.resp_wire))
        }
    }

    @Test("a verifier is made from a user name, a password and a salt as the firmware makes it")
    func verifier() throws {
        #expect(try verifier2().verifier == hex(Vector.named("sec2_patch1").verifier!))
    }
}

extension Vector {
    func client(_ name: String) throws -> ClientSecurity<OpenSSLCrypto> {
        switch name {
        case "sec0": return .security0(Security0Client())
        case "sec1_pop", "sec1_nopop":
            var random = ScriptedRandom(hex(client_private!))
            return .security1(Client1(proofOfPossession: Array(pop!.utf8), random: &random))
        default:
            var random = ScriptedRandom(hex(a!))
            return .security2(
                Client2(
                    username: Array(username!.utf8), password: Array(password!.utf8), patchVersion: patchVersion(name),
                    random: &random))
        }
    }

    func device(_ name: String) throws -> DeviceSecurity<OpenSSLCrypto, ScriptedRandom> {
        switch name {
        case "sec0": return .security0(Security0Device())
        case "sec1_pop", "sec1_nopop":
            let random = ScriptedRandom(hex(device_private!) + hex(device_random_iv!))
            return .security1(Security1Device(proofOfPossession: Array(pop!.utf8), random: random))
        default:
            // Under patch version 1 only the first eight bytes of the nonce are random.
            let nonce = hex(device_nonce!)
            let random = ScriptedRandom(hex(b!) + (nonce.count == 16 ? nonce : Array(nonce.prefix(8))))
            let verifier = Security2Verifier(salt: hex(salt!), verifier: hex(Vector.named("sec2_patch1").verifier!))
            return .security2(Security2Device(verifier: verifier, patchVersion: patchVersion(name), random: random))
        }
    }

    private func patchVersion(_ name: String) -> Security2PatchVersion {
        name == "sec2_patch0" ? .constantNonce : .countedNonce
    }
}
