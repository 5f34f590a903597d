// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The board's end of Security 2.
///
/// Like the firmware: a first command starts over at any time, and after a wrong proof the right one is still taken.
public struct Security2Device<Suite: CryptoSuite, Random: RandomSource>: DeviceSecurityScheme {
    private struct Agreed {
        let username: [UInt8]
        let clientPublicKey: [UInt8]
        let devicePublicKey: [UInt8]
        let sessionKey: KeyMaterial
    }

    private let salt: [UInt8]
    private let verifier: KeyMaterial
    private let patchVersion: Security2PatchVersion
    private var random: Random
    /// What the first command agreed on, until the client has proven itself.
    private var agreed: Agreed?

    public init(verifier: Security2Verifier, patchVersion: Security2PatchVersion, random: Random) {
        salt = verifier.salt
        self.verifier = KeyMaterial(verifier.verifier)
        self.patchVersion = patchVersion
        self.random = random
    }

    public mutating func respond(
        to request: [UInt8]
    ) throws(HandshakeError) -> DeviceHandshakeStep<Security2Cipher<Suite>> {
        let message = try SessionData.decode(request, expecting: .security2)
        guard case .security2(let payload)? = message.payload else { throw .malformed }
        switch (payload.message, payload.payload) {
        case (.command0, .command0(let body)?): return .reply(try answer(body))
        case (.command1, .command1(let body)?): return try answer(body)
        default: throw .malformed
        }
    }

    private mutating func answer(_ command: Security2Command0) throws(HandshakeError) -> [UInt8] {
        agreed = nil
        let clientPublicKey = command.clientPublicKey
        guard clientPublicKey.count == SRPGroup.length, !command.clientUsername.isEmpty else {
            throw .invalidParameters
        }
        try SRP<Suite>.refuseUnsafe(clientPublicKey)
        let privateKey = KeyMaterial(count: 32, drawingFrom: &random)
        let verifier = self.verifier
        let devicePublicKey = try duringHandshake { () throws(CryptoFailure) in
            try SRP<Suite>.devicePublicKey(verifier: verifier, privateKey: privateKey)
        }
        let scramble = try SRP<Suite>.scramble(clientPublicKey: clientPublicKey, devicePublicKey: devicePublicKey)
        let secret = try duringHandshake { () throws(CryptoFailure) in
            try SRP<Suite>.deviceSecret(
                clientPublicKey: clientPublicKey, verifier: verifier, scramble: scramble, privateKey: privateKey)
        }
        agreed = Agreed(
            username: command.clientUsername, clientPublicKey: clientPublicKey, devicePublicKey: devicePublicKey,
            sessionKey: SRP<Suite>.sessionKey(secret))
        return Self.message(.response0(Security2Response0(devicePublicKey: devicePublicKey, deviceSalt: salt)))
    }

    private mutating func answer(
        _ command: Security2Command1
    ) throws(HandshakeError) -> DeviceHandshakeStep<Security2Cipher<Suite>> {
        guard let agreed else { throw .notEstablished }
        guard command.clientProof.count == 64 else { throw .malformed }
        let expected = SRP<Suite>.clientProof(
            username: agreed.username, salt: salt, clientPublicKey: agreed.clientPublicKey,
            devicePublicKey: agreed.devicePublicKey, sessionKey: agreed.sessionKey)
        guard equalInConstantTime(command.clientProof, expected) else { throw .proofMismatch }
        let proof = SRP<Suite>.deviceProof(
            clientPublicKey: agreed.clientPublicKey, clientProof: command.clientProof,
            sessionKey: agreed.sessionKey)
        let nonce = patchVersion == .constantNonce ? random.bytes(16) : random.bytes(8) + [0, 0, 0, 1]
        self.agreed = nil
        return .established(
            reply: Self.message(.response1(Security2Response1(deviceProof: proof, deviceNonce: nonce))),
            cipher: Security2Cipher(
                key: agreed.sessionKey.prefix(32), nonce: nonce, patchVersion: patchVersion))
    }

    private static func message(_ payload: Security2Payload.Payload) -> [UInt8] {
        SessionData(.security2(Security2Payload(payload))).encoded()
    }
}
