// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of one security scheme: a handshake as a value.
///
/// It takes the board's answers and returns the next request. The cipher exists only after the board has proven itself.
public protocol SecurityScheme: Sendable {
    /// The scheme's name in messages, such as "Security 2".
    var title: String { get }
    /// The cipher of the session after the handshake. The board's end has the same type.
    associatedtype Cipher: SessionCipher
    /// Returns the first request for `prov-session`.
    mutating func start() throws(HandshakeError) -> HandshakeStep
    /// Takes the board's answer to the previous request and returns the next step.
    mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep
    /// Returns the session's cipher. Throws `notEstablished` unless the previous step was ``HandshakeStep/established``.
    consuming func finish() throws(HandshakeError) -> Cipher
}

extension SecurityScheme {
    public var title: String { "This security scheme" }
}

/// The client's next step in a handshake.
public enum HandshakeStep: Sendable, Equatable {
    /// Send these bytes on `prov-session` and pass the answer to ``SecurityScheme/receive(_:)``.
    case send([UInt8])
    /// The board is verified.
    case established
}

/// The board's end of one security scheme. It is used for many handshakes: a first command starts over at any time.
public protocol DeviceSecurityScheme: Sendable {
    /// The cipher of the session after the handshake. The client's end has the same type.
    associatedtype Cipher: SessionCipher
    /// Answers one request on `prov-session`. If it throws, the board sends an empty answer, as firmware does.
    mutating func respond(to request: [UInt8]) throws(HandshakeError) -> DeviceHandshakeStep<Cipher>
}

/// The board's reaction to a request on `prov-session`.
public enum DeviceHandshakeStep<Cipher: SessionCipher>: Sendable {
    /// Send this answer; the client is not verified yet. The cipher of an earlier session is no longer valid.
    case reply([UInt8])
    /// Send this answer in clear; the client is verified and the session's messages use `cipher`.
    case established(reply: [UInt8], cipher: Cipher)
}

/// Encrypts and decrypts the messages of one session, in their order of transmission. Both ends use the same type.
public protocol SessionCipher: Sendable {
    /// Encrypts a message that is about to be sent.
    mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8]
    /// Decrypts a message that was received.
    mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8]
}

/// A reason why a handshake stopped. No case contains key material.
public enum HandshakeError: Error, Equatable, Sendable {
    /// The peer's bytes are not a message, or not the one that is expected.
    case malformed
    /// The peer uses another scheme, or another patch version of it.
    case versionMismatch
    /// A key or a user name has a length that the scheme does not allow. RainMaker boards count it as a wrong proof.
    case invalidParameters
    /// The peer answered with a status other than success.
    case rejected(status: Int32)
    /// The peer's public key would make the shared secret known to everyone (X25519 low order, A or B ≡ 0, u = 0).
    case unsafePublicKey
    /// The peer did not prove that it knows the same proof of possession.
    case proofMismatch
    /// A step was requested out of order.
    case notEstablished
    /// The crypto library reported an error.
    case cryptoFailure
}

/// A reason why a message could not be encrypted or decrypted.
public enum CipherError: Error, Equatable, Sendable {
    /// The bytes were changed, replayed, or encrypted under another key or nonce.
    case authenticationFailed
    /// The message is shorter than the minimum.
    case tooShort
    /// Empty plaintext, which firmware cannot handle under Security 2.
    case emptyPlaintext
    /// All nonces are used up; a new handshake is necessary.
    case nonceExhausted
    /// The crypto library reported an error.
    case cryptoFailure
}

extension SessionData {
    /// Decodes a message of the handshake for the scheme with this number.
    static func decode(_ bytes: [UInt8], expecting version: SecurityVersion) throws(HandshakeError) -> SessionData {
        let message: SessionData
        do throws(WireError) { message = try SessionData(decoding: bytes) } catch { throw .malformed }
        guard message.version == version else { throw .versionMismatch }
        return message
    }
}

extension Status {
    func orThrow() throws(HandshakeError) {
        guard self == .success else { throw .rejected(status: rawValue) }
    }
}

/// Runs a crypto operation of a handshake and converts its failure into the handshake's.
func duringHandshake<Result>(
    _ body: () throws(CryptoFailure) -> Result
) throws(HandshakeError) -> Result {
    do throws(CryptoFailure) { return try body() } catch { throw .cryptoFailure }
}
