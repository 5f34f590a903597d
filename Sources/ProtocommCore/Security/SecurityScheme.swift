// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of one security scheme: a handshake as a value.
///
/// Feed it the board's answers; it gives back what to send next. The cipher exists only after the board has proven itself.
public protocol SecurityScheme: Sendable {
    /// The scheme's name in messages, such as "Security 2".
    var title: String { get }
    /// What a session's messages go through after the handshake; the board's end has the same type.
    associatedtype Cipher: SessionCipher
    /// The first request for `prov-session`.
    mutating func start() throws(HandshakeError) -> HandshakeStep
    /// Takes the board's answer to the request before.
    mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep
    /// The session's cipher. Throws `notEstablished` unless the step before was ``HandshakeStep/established``.
    consuming func finish() throws(HandshakeError) -> Cipher
}

extension SecurityScheme {
    public var title: String { "This security scheme" }
}

/// What the client does next in a handshake.
public enum HandshakeStep: Sendable, Equatable {
    /// Send these bytes on `prov-session` and hand the answer to ``SecurityScheme/receive(_:)``.
    case send([UInt8])
    /// The board is verified.
    case established
}

/// The board's end of one security scheme. It outlives handshakes: a new first command starts over at any time.
public protocol DeviceSecurityScheme: Sendable {
    /// What a session's messages go through after the handshake; the client's end has the same type.
    associatedtype Cipher: SessionCipher
    /// Answers one request on `prov-session`. Throwing means that the board answers with nothing at all, as firmware does.
    mutating func respond(to request: [UInt8]) throws(HandshakeError) -> DeviceHandshakeStep<Cipher>
}

/// What the board does after a request on `prov-session`.
public enum DeviceHandshakeStep<Cipher: SessionCipher>: Sendable {
    /// Send this answer; the client is not verified yet. A cipher of an earlier session is void now.
    case reply([UInt8])
    /// Send this answer in clear; the client is verified and the session's messages go through `cipher`.
    case established(reply: [UInt8], cipher: Cipher)
}

/// Encrypts and decrypts the messages of one session, in the order in which they travel. Both ends use the same type.
public protocol SessionCipher: Sendable {
    /// The plain bytes of a message that is about to be sent, made ready for the wire.
    mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8]
    /// The bytes of a message that arrived, made plain.
    mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8]
}

/// Why a handshake stopped. No case carries key material.
public enum HandshakeError: Error, Equatable, Sendable {
    /// The peer's bytes are not a message, or not the one that belongs here.
    case malformed
    /// The peer speaks another scheme, or another patch version of it.
    case versionMismatch
    /// A key or a user name has a length that the scheme does not allow. RainMaker boards count it as a wrong proof.
    case invalidParameters
    /// The peer answered with a status other than success.
    case rejected(status: Int32)
    /// The peer's public key is one that would make the shared secret known to everyone (X25519 low order, A or B ≡ 0, u = 0).
    case unsafePublicKey
    /// The peer did not prove that it knows the same proof of possession.
    case proofMismatch
    /// A step was asked for out of turn.
    case notEstablished
    /// The crypto library failed.
    case cryptoFailure
}

/// Why a message could not be encrypted or decrypted.
public enum CipherError: Error, Equatable, Sendable {
    /// The bytes were changed, replayed, or encrypted under another key or nonce.
    case authenticationFailed
    /// Shorter than a record can be.
    case tooShort
    /// Empty plaintext, which firmware cannot handle under Security 2.
    case emptyPlaintext
    /// All nonces are used up: a new handshake is due.
    case nonceExhausted
    /// The crypto library failed.
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

/// Runs crypto inside a handshake: the library's failure becomes the handshake's.
func duringHandshake<Result>(
    _ body: () throws(CryptoFailure) -> Result
) throws(HandshakeError) -> Result {
    do throws(CryptoFailure) { return try body() } catch { throw .cryptoFailure }
}
