// SPDX-License-Identifier: Apache-2.0
import Foundation
import ProtocommCore
import RainCryptoOpenSSL
import TestSupport

/// A Security 2 handshake computed by `Fixtures/make_srp_traps.py`, which knows nothing of our code.
struct SRPTrap: Decodable, Sendable {
    let a, b, salt, verifier, A, B, S, M1, M2, passwordHash, password: String

    static let all: [String: SRPTrap] = {
        let file = Bundle.module.url(forResource: "Fixtures/srp-traps", withExtension: "json")!
        return try! JSONDecoder().decode([String: SRPTrap].self, from: Data(contentsOf: file))
    }()

    static func named(_ name: String) -> SRPTrap { all[name]! }

    var hash: PasswordHash {
        switch passwordHash {
        case "saltWithoutLastByte": .saltWithoutLastByte
        case "withoutLeadingZeros": .withoutLeadingZeros
        default: .standard
        }
    }

    func client(_ passwordHash: PasswordHash) -> Client2 {
        var random = ScriptedRandom(hex(a))
        return Client2(
            username: Array("wifiprov".utf8), password: hex(password), patchVersion: .countedNonce,
            passwordHash: passwordHash, random: &random)
    }

    func device() -> Security2Device<OpenSSLCrypto, ScriptedRandom> {
        Security2Device(
            verifier: Security2Verifier(salt: hex(salt), verifier: hex(verifier)), patchVersion: .countedNonce,
            random: ScriptedRandom(hex(b) + Array(1...8)))
    }
}
