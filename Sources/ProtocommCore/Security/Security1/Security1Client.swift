// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of Security 1: X25519, a proof of possession, AES-256-CTR.
public struct Security1Client<Suite: CryptoSuite>: SecurityScheme {
    public var title: String { "Security 1" }

    private enum State {
        case ready
        case awaitingResponse0
        case awaitingResponse1(CounterModeStream<Suite>)
        case established(CounterModeStream<Suite>)
        case ended
    }

    private let proofOfPossession: KeyMaterial
    private let privateKey: KeyMaterial
    private var publicKey: [UInt8] = []
    private var state = State.ready

    /// - Parameters:
    ///   - proofOfPossession: empty for a board that wants none (`no_pop`); with the wrong one the board falls silent.
    ///   - random: gives the 32 bytes of this handshake's private key. A value serves one handshake.
    public init(proofOfPossession: [UInt8], random: inout some RandomSource) {
        self.proofOfPossession = KeyMaterial(proofOfPossession)
        privateKey = KeyMaterial(count: Security1KeyAgreement<Suite>.keyLength, drawingFrom: &random)
    }

    public mutating func start() throws(HandshakeError) -> HandshakeStep {
        guard case .ready = state else { throw .notEstablished }
        let privateKey = self.privateKey
        publicKey = try duringHandshake { () throws(CryptoFailure) in try Suite.x25519PublicKey(privateKey) }
        state = .awaitingResponse0
        return .send(Self.message(.command0(Security1Command0(clientPublicKey: publicKey))))
    }

    public mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        let before = state
        // Whatever is wrong with the answer ends this handshake.
        state = .ended
        switch before {
        case .awaitingResponse0: return try receiveResponse0(response)
        case .awaitingResponse1(let stream): return try receiveResponse1(response, stream)
        case .ready, .established, .ended: throw .notEstablished
        }
    }

    public consuming func finish() throws(HandshakeError) -> Security1Cipher<Suite> {
        guard case .established(let stream) = state else { throw .notEstablished }
        return Security1Cipher(stream: stream)
    }

    private mutating func receiveResponse0(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        let payload = try Self.payload(response)
        guard payload.message == .response0, case .response0(let body)? = payload.payload else { throw .malformed }
        try body.status.orThrow()
        guard body.devicePublicKey.count == Security1KeyAgreement<Suite>.keyLength,
            body.deviceRandom.count == Security1KeyAgreement<Suite>.randomLength
        else { throw .malformed }
        let key = try Security1KeyAgreement<Suite>.sessionKey(
            privateKey: privateKey, peerPublicKey: body.devicePublicKey, proofOfPossession: proofOfPossession)
        var stream = CounterModeStream<Suite>(key: key, initialBlock: body.deviceRandom)
        let proof: [UInt8]
        do throws(CryptoFailure) { proof = try stream.apply(to: body.devicePublicKey) } catch { throw .cryptoFailure }
        state = .awaitingResponse1(stream)
        return .send(Self.message(.command1(Security1Command1(clientVerifyData: proof))))
    }

    private mutating func receiveResponse1(
        _ response: [UInt8], _ before: CounterModeStream<Suite>
    ) throws(HandshakeError) -> HandshakeStep {
        let payload = try Self.payload(response)
        guard payload.message == .response1, case .response1(let body)? = payload.payload else { throw .malformed }
        try body.status.orThrow()
        var stream = before
        let proof: [UInt8]
        do throws(CryptoFailure) { proof = try stream.apply(to: body.deviceVerifyData) } catch { throw .cryptoFailure }
        guard equalInConstantTime(proof, publicKey) else { throw .proofMismatch }
        state = .established(stream)
        return .established
    }

    private static func message(_ payload: Security1Payload.Payload) -> [UInt8] {
        SessionData(.security1(Security1Payload(payload))).encoded()
    }

    private static func payload(_ bytes: [UInt8]) throws(HandshakeError) -> Security1Payload {
        guard case .security1(let payload)? = try SessionData.decode(bytes, expecting: .security1).payload else {
            throw .malformed
        }
        return payload
    }
}
