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
    ///   - patchVersion: from `proto-ver`. If it is wrong, the first message after the handshake fails.
    ///   - passwordHash: anything but `standard` only for a second attempt at a board with a faulty verifier.
    ///   - random: provides the 32 bytes of this handshake's private key. A value is for one handshake.
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
        // Always 384 bytes: the board refuses a shorter A, and hashes exactly the bytes that it receives.
        publicKey = try duringHandshake { () throws(CryptoFailure) in
            try SRP<Suite>.power(ofGenerator: privateKey).bytes
        }
        state = .awaitingResponse0
        return .send(
            Self.message(.command0(Security2Command0(clientUsername: username, clientPublicKey: publicKey))))
    }

    public mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        let before = state
        // Any fault in the answer ends this handshake.
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
        // The proof does not cover the nonce, so its length must not decide how nonces are made.
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

/// The board's end of Security 2.
///
/// Like the firmware, it accepts a first command at any time and starts over. After a wrong proof it still accepts the right one.
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
    /// The result of the first command, until the client has proven itself.
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

/// A board's record of a password: enough to check the password, not enough to use it.
public struct Security2Verifier: Sendable {
    /// The random bytes that the verifier was made with. They are not secret: the board sends them to each client.
    public let salt: [UInt8]
    /// v = g^x, up to 384 bytes, big-endian.
    public let verifier: [UInt8]

    /// Uses a stored verifier.
    public init(salt: [UInt8], verifier: [UInt8]) {
        self.salt = salt
        self.verifier = verifier
    }

    /// Computes the verifier of a password. Boards use a random salt of 16 bytes.
    public init<Suite: CryptoSuite>(
        username: [UInt8], password: [UInt8], salt: [UInt8], passwordHash: PasswordHash = .standard, with _: Suite.Type
    ) throws(CryptoFailure) {
        self.salt = salt
        let x = passwordHash.compute(
            salt: salt, username: username, password: KeyMaterial(password), with: Suite.self)
        verifier = try SRP<Suite>.power(ofGenerator: x).bytes
    }
}

/// The cipher of a Security 2 session: AES-256-GCM, each message followed by a tag of 16 bytes.
///
/// Under patch version 1 the two ends share one message counter. If an answer is lost, the next request would be encrypted with the nonce
/// of that answer, so such a session must end. Use one value for the whole session.
public struct Security2Cipher<Suite: CryptoSuite>: SessionCipher {
    static var tagLength: Int { 16 }

    private let key: KeyMaterial
    private let isCounted: Bool
    private var nonce: [UInt8]
    private var isExhausted = false

    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: the board's nonce. Under patch version 1 its last four bytes are the counter.
    init(key: KeyMaterial, nonce: [UInt8], patchVersion: Security2PatchVersion) {
        self.key = key
        self.nonce = nonce
        isCounted = patchVersion == .countedNonce
    }

    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] {
        guard !plaintext.isEmpty else { throw .emptyPlaintext }
        guard !isExhausted else { throw .nonceExhausted }
        let sealed: [UInt8]
        do throws(CryptoFailure) {
            sealed = try Suite.aes256GCMSeal(plaintext, key: key, nonce: nonce)
        } catch { throw .cryptoFailure }
        advance()
        return sealed
    }

    /// Decrypts a message. A message that cannot be decrypted does not advance the counter, as on the board.
    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] {
        guard ciphertext.count > Self.tagLength else { throw .tooShort }
        guard !isExhausted else { throw .nonceExhausted }
        let opened: [UInt8]?
        do throws(CryptoFailure) {
            opened = try Suite.aes256GCMOpen(ciphertext, key: key, nonce: nonce)
        } catch { throw .cryptoFailure }
        guard let opened else { throw .authenticationFailed }
        advance()
        return opened
    }

    private mutating func advance() {
        guard isCounted else { return }
        var index = nonce.count
        while index > nonce.count - 4 {
            index -= 1
            nonce[index] &+= 1
            if nonce[index] != 0 { return }
        }
        // The counter is back at zero: a further message would sooner or later repeat a nonce.
        isExhausted = true
    }
}

/// `sec_patch_ver`: how the nonces of Security 2 are made.
public struct Security2PatchVersion: Sendable, Equatable {
    public let rawValue: Int

    /// 16 random bytes, the same for every message (firmware without `sec_patch_ver`).
    public static let constantNonce = Security2PatchVersion(rawValue: 0)
    /// 8 random bytes and a 32-bit counter that both directions share.
    public static let countedNonce = Security2PatchVersion(rawValue: 1)

    /// Takes `prov.sec_patch_ver`, or 0 if that is absent; nil for an unknown version.
    public init?(_ number: Int) {
        guard number == 0 || number == 1 else { return nil }
        rawValue = number
    }

    private init(rawValue: Int) { self.rawValue = rawValue }

    var nonceLength: Int { self == .constantNonce ? 16 : 12 }
}
