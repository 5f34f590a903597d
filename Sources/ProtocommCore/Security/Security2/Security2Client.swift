// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of Security 2: SRP-6a with a user name and a password, AES-256-GCM.
public struct Security2Client<Suite: CryptoSuite>: SecurityScheme {
    public var title: String { "Security 2" }

    private struct Agreed {
        let sessionKey: KeyMaterial
        let clientProof: [UInt8]
    }
    private enum State {
        case ready
        case awaitingResponse0
        case awaitingResponse1(Agreed)
        case established(Security2Cipher<Suite>)
        case ended
    }

    private let username: [UInt8]
    private let password: KeyMaterial
    private let patchVersion: Security2PatchVersion
    private let passwordHash: PasswordHash
    private let privateKey: KeyMaterial
    private var publicKey: [UInt8] = []
    private var state = State.ready

    /// - Parameters:
    ///   - username: not empty; RainMaker boards use `wifiprov`.
    ///   - password: RainMaker boards use the proof of possession.
    ///   - patchVersion: from `proto-ver`; with the wrong one the first message after the handshake fails.
    ///   - passwordHash: other than standard for a second attempt at a board with a faulty verifier.
    ///   - random: gives the 32 bytes of this handshake's private key. A value serves one handshake.
    public init(
        username: [UInt8], password: [UInt8], patchVersion: Security2PatchVersion,
        passwordHash: PasswordHash = .standard, random: inout some RandomSource
    ) {
        self.username = username
        self.password = KeyMaterial(password)
        self.patchVersion = patchVersion
        self.passwordHash = passwordHash
        privateKey = KeyMaterial(count: 32, drawingFrom: &random)
    }

    public mutating func start() throws(HandshakeError) -> HandshakeStep {
        guard case .ready = state else { throw .notEstablished }
        guard !username.isEmpty else { throw .invalidParameters }
        let privateKey = self.privateKey
        // Always 384 bytes: the board refuses a shorter A, and hashes the very bytes that it receives.
        publicKey = try duringHandshake { () throws(CryptoFailure) in
            try SRP<Suite>.power(ofGenerator: privateKey).bytes
        }
        state = .awaitingResponse0
        return .send(
            Self.message(.command0(Security2Command0(clientUsername: username, clientPublicKey: publicKey))))
    }

    public mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        let before = state
        // Whatever is wrong with the answer ends this handshake.
        state = .ended
        switch before {
        case .awaitingResponse0: return try receiveResponse0(response)
        case .awaitingResponse1(let agreed): return try receiveResponse1(response, agreed)
        case .ready, .established, .ended: throw .notEstablished
        }
    }

    public consuming func finish() throws(HandshakeError) -> Security2Cipher<Suite> {
        guard case .established(let cipher) = state else { throw .notEstablished }
        return cipher
    }

    private mutating func receiveResponse0(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        let payload = try Self.payload(response)
        guard payload.message == .response0, case .response0(let body)? = payload.payload else { throw .malformed }
        try body.status.orThrow()
        let devicePublicKey = body.devicePublicKey
        guard devicePublicKey.count <= SRPGroup.length else { throw .malformed }
        try SRP<Suite>.refuseUnsafe(devicePublicKey)
        let scramble = try SRP<Suite>.scramble(clientPublicKey: publicKey, devicePublicKey: devicePublicKey)
        let x = passwordHash.compute(
            salt: body.deviceSalt, username: username, password: password, with: Suite.self)
        let privateKey = self.privateKey
        let secret = try duringHandshake { () throws(CryptoFailure) in
            try SRP<Suite>.clientSecret(
                privateKey: privateKey, devicePublicKey: devicePublicKey, scramble: scramble, passwordHash: x)
        }
        let sessionKey = SRP<Suite>.sessionKey(secret)
        let proof = SRP<Suite>.clientProof(
            username: username, salt: body.deviceSalt, clientPublicKey: publicKey, devicePublicKey: devicePublicKey,
            sessionKey: sessionKey)
        state = .awaitingResponse1(Agreed(sessionKey: sessionKey, clientProof: proof))
        return .send(Self.message(.command1(Security2Command1(clientProof: proof))))
    }

    private mutating func receiveResponse1(
        _ response: [UInt8], _ agreed: Agreed
    ) throws(HandshakeError) -> HandshakeStep {
        let payload = try Self.payload(response)
        guard payload.message == .response1, case .response1(let body)? = payload.payload else { throw .malformed }
        try body.status.orThrow()
        let proof = SRP<Suite>.deviceProof(
            clientPublicKey: publicKey, clientProof: agreed.clientProof, sessionKey: agreed.sessionKey)
        guard equalInConstantTime(body.deviceProof, proof) else { throw .proofMismatch }
        // The nonce is not covered by the proof, so its length must not choose how nonces are made.
        guard body.deviceNonce.count == patchVersion.nonceLength else { throw .versionMismatch }
        state = .established(
            Security2Cipher(
                key: agreed.sessionKey.prefix(32), nonce: body.deviceNonce, patchVersion: patchVersion))
        return .established
    }

    private static func message(_ payload: Security2Payload.Payload) -> [UInt8] {
        SessionData(.security2(Security2Payload(payload))).encoded()
    }

    private static func payload(_ bytes: [UInt8]) throws(HandshakeError) -> Security2Payload {
        guard case .security2(let payload)? = try SessionData.decode(bytes, expecting: .security2).payload else {
            throw .malformed
        }
        return payload
    }
}
