// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// What the two ends of Security 1 compute alike.
enum Security1KeyAgreement<Suite: CryptoSuite> {
    static var keyLength: Int { 32 }
    static var randomLength: Int { 16 }

    /// The session key: the X25519 secret, exclusive-or the hash of the proof of possession if there is one.
    static func sessionKey(
        privateKey: KeyMaterial, peerPublicKey: [UInt8], proofOfPossession: KeyMaterial
    ) throws(HandshakeError) -> KeyMaterial {
        let shared = try duringHandshake { () throws(CryptoFailure) in
            try Suite.x25519SharedSecret(privateKey: privateKey, publicKey: peerPublicKey)
        }
        // A key of low order makes the secret zero whatever our own key is (RFC 7748, 6.1).
        guard !shared.isZero else { throw .unsafePublicKey }
        guard proofOfPossession.count > 0 else { return shared }
        return shared.exclusiveOr(Suite.sha256(proofOfPossession))
    }
}
