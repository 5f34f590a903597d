// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import TestSupport

typealias Client1 = Security1Client<OpenSSLCrypto>
typealias Client2 = Security2Client<OpenSSLCrypto>
typealias Device1 = Security1Device<OpenSSLCrypto, ReproducibleRandom>
typealias Device2 = Security2Device<OpenSSLCrypto, ReproducibleRandom>

func client1(_ proof: String = "abcd1234", seed: UInt64 = 1) -> Client1 {
    var random = ReproducibleRandom(seed: seed)
    return Client1(proofOfPossession: Array(proof.utf8), random: &random)
}

func device1(_ proof: String = "abcd1234", seed: UInt64 = 2) -> Device1 {
    Device1(proofOfPossession: Array(proof.utf8), random: ReproducibleRandom(seed: seed))
}

func client2(
    _ password: String = "abcd1234", username: String = "wifiprov", patch: Security2PatchVersion = .countedNonce,
    passwordHash: PasswordHash = .standard, seed: UInt64 = 1
) -> Client2 {
    var random = ReproducibleRandom(seed: seed)
    return Client2(
        username: Array(username.utf8), password: Array(password.utf8), patchVersion: patch,
        passwordHash: passwordHash, random: &random)
}

func verifier2(
    _ password: String = "abcd1234", salt: [UInt8] = hex("031a2b3c4d5e6f708192a3b4c5d6e7f8"),
    passwordHash: PasswordHash = .standard
) throws -> Security2Verifier {
    try Security2Verifier(
        username: Array("wifiprov".utf8), password: Array(password.utf8), salt: salt, passwordHash: passwordHash,
        with: OpenSSLCrypto.self)
}

func device2(
    _ verifier: Security2Verifier, patch: Security2PatchVersion = .countedNonce, seed: UInt64 = 2
) -> Device2 {
    Device2(verifier: verifier, patchVersion: patch, random: ReproducibleRandom(seed: seed))
}

/// Lets the two ends talk until both have a cipher.
func shakeHands<Scheme: SecurityScheme, Board: DeviceSecurityScheme>(
    _ client: Scheme, _ device: inout Board
) throws -> (client: Scheme.Cipher, device: Board.Cipher) {
    var client = client
    var cipher: Board.Cipher?
    var step = try client.start()
    while case .send(let request) = step {
        switch try device.respond(to: request) {
        case .reply(let reply): step = try client.receive(reply)
        case .established(let reply, let established):
            cipher = established
            step = try client.receive(reply)
        }
    }
    return (try client.finish(), cipher!)
}

extension HandshakeStep {
    /// What this step sends.
    var request: [UInt8] {
        guard case .send(let request) = self else { return [] }
        return request
    }
}

extension DeviceHandshakeStep {
    var reply: [UInt8] {
        switch self {
        case .reply(let reply), .established(let reply, _): reply
        }
    }
}
