// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of whichever scheme the board's capabilities ask for.
public enum ClientSecurity<Suite: CryptoSuite>: SecurityScheme {
    /// For boards without security: everything travels in clear.
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
