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
    ///   - proofOfPossession: empty for a board that needs none (`no_pop`). If it is wrong, the board falls silent.
    ///   - random: provides the 32 bytes of this handshake's private key. A value is for one handshake.
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
        // Any fault in the answer ends this handshake.
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

/// The board's end of Security 1.
///
/// Like the firmware, it accepts a first command at any time and starts over. After a wrong proof it still accepts the right one.
public struct Security1Device<Suite: CryptoSuite, Random: RandomSource>: DeviceSecurityScheme {
    private struct Agreed {
        let clientPublicKey: [UInt8]
        let devicePublicKey: [UInt8]
        /// Always at its start: each proof that arrives is decrypted from there.
        let stream: CounterModeStream<Suite>
    }

    private let proofOfPossession: KeyMaterial
    private var random: Random
    /// The result of the first command, until the client has proven itself.
    private var agreed: Agreed?

    /// - Parameter proofOfPossession: empty if the board needs none.
    public init(proofOfPossession: [UInt8], random: Random) {
        self.proofOfPossession = KeyMaterial(proofOfPossession)
        self.random = random
    }

    public mutating func respond(
        to request: [UInt8]
    ) throws(HandshakeError) -> DeviceHandshakeStep<Security1Cipher<Suite>> {
        let message = try SessionData.decode(request, expecting: .security1)
        guard case .security1(let payload)? = message.payload else { throw .malformed }
        // The message type and the member must agree. Firmware once trusted only the type and read another member.
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

/// The computations that both ends of Security 1 share.
enum Security1KeyAgreement<Suite: CryptoSuite> {
    static var keyLength: Int { 32 }
    static var randomLength: Int { 16 }

    /// Returns the session key: the X25519 secret, XORed with the hash of the proof of possession if there is one.
    static func sessionKey(
        privateKey: KeyMaterial, peerPublicKey: [UInt8], proofOfPossession: KeyMaterial
    ) throws(HandshakeError) -> KeyMaterial {
        let shared = try duringHandshake { () throws(CryptoFailure) in
            try Suite.x25519SharedSecret(privateKey: privateKey, publicKey: peerPublicKey)
        }
        // A key of low order makes the secret zero, whatever our own key is (RFC 7748, 6.1).
        guard !shared.isZero else { throw .unsafePublicKey }
        guard proofOfPossession.count > 0 else { return shared }
        return shared.exclusiveOr(Suite.sha256(proofOfPossession))
    }
}

/// The cipher of a Security 1 session: confidential, but not authenticated.
///
/// A message that is lost, repeated or changed puts the two ends' key streams apart for good; only a new handshake helps. Use one value for
/// the whole session: two copies would encrypt two messages with the same key stream.
public struct Security1Cipher<Suite: CryptoSuite>: SessionCipher {
    private var stream: CounterModeStream<Suite>

    init(stream: CounterModeStream<Suite>) { self.stream = stream }

    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] { try apply(to: plaintext) }
    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] { try apply(to: ciphertext) }

    private mutating func apply(to message: [UInt8]) throws(CipherError) -> [UInt8] {
        do throws(CryptoFailure) { return try stream.apply(to: message) } catch { throw .cryptoFailure }
    }
}

/// The one AES-256-CTR key stream that both directions of a Security 1 session share, byte by byte.
struct CounterModeStream<Suite: CryptoSuite>: Sendable {
    private let key: KeyMaterial
    private let initialBlock: [UInt8]
    /// Bytes of key stream used so far.
    private var position: UInt64 = 0

    /// - Parameter initialBlock: the first counter block, 16 bytes.
    init(key: KeyMaterial, initialBlock: [UInt8]) {
        self.key = key
        self.initialBlock = initialBlock
    }

    /// Encrypts or decrypts, which is the same operation. The position advances only on success.
    mutating func apply(to message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let result = try Suite.aes256CounterMode(
            message, key: key, counterBlock: counterBlock(position / 16), skipping: Int(position % 16))
        position += UInt64(message.count)
        return result
    }

    /// Returns the initial block plus `blocks`, as a 128-bit big-endian number that wraps around.
    private func counterBlock(_ blocks: UInt64) -> [UInt8] {
        var block = initialBlock
        var carry = blocks
        var index = block.count
        while carry > 0, index > 0 {
            index -= 1
            let sum = UInt64(block[index]) + (carry & 0xFF)
            block[index] = UInt8(truncatingIfNeeded: sum)
            carry = (carry >> 8) + (sum >> 8)
        }
        return block
    }
}
