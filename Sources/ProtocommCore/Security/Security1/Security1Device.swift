// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The board's end of Security 1.
///
/// Like the firmware: a first command starts over at any time, and after a wrong proof the right one is still taken.
public struct Security1Device<Suite: CryptoSuite, Random: RandomSource>: DeviceSecurityScheme {
    private struct Agreed {
        let clientPublicKey: [UInt8]
        let devicePublicKey: [UInt8]
        /// At its start: each proof that arrives is tried from there.
        let stream: CounterModeStream<Suite>
    }

    private let proofOfPossession: KeyMaterial
    private var random: Random
    /// What the first command agreed on, until the client has proven itself.
    private var agreed: Agreed?

    /// - Parameter proofOfPossession: empty if the board wants none.
    public init(proofOfPossession: [UInt8], random: Random) {
        self.proofOfPossession = KeyMaterial(proofOfPossession)
        self.random = random
    }

    public mutating func respond(
        to request: [UInt8]
    ) throws(HandshakeError) -> DeviceHandshakeStep<Security1Cipher<Suite>> {
        let message = try SessionData.decode(request, expecting: .security1)
        guard case .security1(let payload)? = message.payload else { throw .malformed }
        // The message type and the member must agree: firmware once trusted the type alone and read another member.
        switch (payload.message, payload.payload) {
        case (.command0, .command0(let body)?): return .reply(try answer(body))
        case (.command1, .command1(let body)?): return try answer(body)
        default: throw .malformed
        }
    }

    private mutating func answer(_ command: Security1Command0) throws(HandshakeError) -> [UInt8] {
        agreed = nil
        guard command.clientPublicKey.count == Security1KeyAgreement<Suite>.keyLength else {
            throw .invalidParameters
        }
        let privateKey = KeyMaterial(count: Security1KeyAgreement<Suite>.keyLength, drawingFrom: &random)
        let publicKey = try duringHandshake { () throws(CryptoFailure) in try Suite.x25519PublicKey(privateKey) }
        let key = try Security1KeyAgreement<Suite>.sessionKey(
            privateKey: privateKey, peerPublicKey: command.clientPublicKey, proofOfPossession: proofOfPossession)
        let deviceRandom = random.bytes(Security1KeyAgreement<Suite>.randomLength)
        agreed = Agreed(
            clientPublicKey: command.clientPublicKey, devicePublicKey: publicKey,
            stream: CounterModeStream(key: key, initialBlock: deviceRandom))
        return Self.message(
            .response0(Security1Response0(devicePublicKey: publicKey, deviceRandom: deviceRandom)))
    }

    private mutating func answer(
        _ command: Security1Command1
    ) throws(HandshakeError) -> DeviceHandshakeStep<Security1Cipher<Suite>> {
        guard let agreed else { throw .notEstablished }
        guard command.clientVerifyData.count == Security1KeyAgreement<Suite>.keyLength else { throw .malformed }
        var stream = agreed.stream
        let proof: [UInt8]
        let reply: [UInt8]
        do throws(CryptoFailure) {
            proof = try stream.apply(to: command.clientVerifyData)
            reply = try stream.apply(to: agreed.clientPublicKey)
        } catch { throw .cryptoFailure }
        guard equalInConstantTime(proof, agreed.devicePublicKey) else { throw .proofMismatch }
        self.agreed = nil
        return .established(
            reply: Self.message(.response1(Security1Response1(deviceVerifyData: reply))),
            cipher: Security1Cipher(stream: stream))
    }

    private static func message(_ payload: Security1Payload.Payload) -> [UInt8] {
        SessionData(.security1(Security1Payload(payload))).encoded()
    }
}
