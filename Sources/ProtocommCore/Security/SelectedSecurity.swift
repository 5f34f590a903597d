// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of the scheme that the board's capabilities require.
public enum ClientSecurity<Suite: CryptoSuite>: SecurityScheme {
    /// For boards without security: all messages are in clear.
    case security0(Security0Client)
    /// For Security 1: X25519 with a proof of possession, AES-256-CTR.
    case security1(Security1Client<Suite>)
    /// For Security 2: SRP-6a with a user name and a password, AES-256-GCM.
    case security2(Security2Client<Suite>)

    public var title: String {
        switch self {
        case .security0(let scheme): scheme.title
        case .security1(let scheme): scheme.title
        case .security2(let scheme): scheme.title
        }
    }

    public mutating func start() throws(HandshakeError) -> HandshakeStep {
        switch self {
        case .security0(var scheme):
            defer { self = .security0(scheme) }
            return try scheme.start()
        case .security1(var scheme):
            defer { self = .security1(scheme) }
            return try scheme.start()
        case .security2(var scheme):
            defer { self = .security2(scheme) }
            return try scheme.start()
        }
    }

    public mutating func receive(_ response: [UInt8]) throws(HandshakeError) -> HandshakeStep {
        switch self {
        case .security0(var scheme):
            defer { self = .security0(scheme) }
            return try scheme.receive(response)
        case .security1(var scheme):
            defer { self = .security1(scheme) }
            return try scheme.receive(response)
        case .security2(var scheme):
            defer { self = .security2(scheme) }
            return try scheme.receive(response)
        }
    }

    public consuming func finish() throws(HandshakeError) -> SelectedCipher<Suite> {
        switch consume self {
        case .security0(let scheme): .security0(try scheme.finish())
        case .security1(let scheme): .security1(try scheme.finish())
        case .security2(let scheme): .security2(try scheme.finish())
        }
    }
}

/// The board's end of the scheme that it was built with.
public enum DeviceSecurity<Suite: CryptoSuite, Random: RandomSource>: DeviceSecurityScheme {
    /// A board without security: all messages are in clear.
    case security0(Security0Device)
    /// A board with Security 1: X25519 with a proof of possession, AES-256-CTR.
    case security1(Security1Device<Suite, Random>)
    /// A board with Security 2: SRP-6a with a user name and a password, of which it keeps a ``Security2Verifier``; AES-256-GCM.
    case security2(Security2Device<Suite, Random>)

    public mutating func respond(
        to request: [UInt8]
    ) throws(HandshakeError) -> DeviceHandshakeStep<SelectedCipher<Suite>> {
        switch self {
        case .security0(var scheme):
            defer { self = .security0(scheme) }
            switch try scheme.respond(to: request) {
            case .reply(let reply): return .reply(reply)
            case .established(let reply, let cipher): return .established(reply: reply, cipher: .security0(cipher))
            }
        case .security1(var scheme):
            defer { self = .security1(scheme) }
            switch try scheme.respond(to: request) {
            case .reply(let reply): return .reply(reply)
            case .established(let reply, let cipher): return .established(reply: reply, cipher: .security1(cipher))
            }
        case .security2(var scheme):
            defer { self = .security2(scheme) }
            switch try scheme.respond(to: request) {
            case .reply(let reply): return .reply(reply)
            case .established(let reply, let cipher): return .established(reply: reply, cipher: .security2(cipher))
            }
        }
    }
}

/// The cipher of the scheme that was selected at run time, without an existential.
public enum SelectedCipher<Suite: CryptoSuite>: SessionCipher {
    /// Leaves messages in clear.
    case security0(PlainCipher)
    /// AES-256-CTR: messages are confidential, but not authenticated.
    case security1(Security1Cipher<Suite>)
    /// AES-256-GCM: messages are confidential and authenticated.
    case security2(Security2Cipher<Suite>)

    public mutating func encrypt(_ plaintext: [UInt8]) throws(CipherError) -> [UInt8] {
        switch self {
        case .security0(var cipher):
            defer { self = .security0(cipher) }
            return try cipher.encrypt(plaintext)
        case .security1(var cipher):
            defer { self = .security1(cipher) }
            return try cipher.encrypt(plaintext)
        case .security2(var cipher):
            defer { self = .security2(cipher) }
            return try cipher.encrypt(plaintext)
        }
    }

    public mutating func decrypt(_ ciphertext: [UInt8]) throws(CipherError) -> [UInt8] {
        switch self {
        case .security0(var cipher):
            defer { self = .security0(cipher) }
            return try cipher.decrypt(ciphertext)
        case .security1(var cipher):
            defer { self = .security1(cipher) }
            return try cipher.decrypt(ciphertext)
        case .security2(var cipher):
            defer { self = .security2(cipher) }
            return try cipher.decrypt(ciphertext)
        }
    }
}
