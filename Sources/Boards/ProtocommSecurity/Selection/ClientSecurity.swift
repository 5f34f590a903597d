// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The client's end of whichever scheme the board's capabilities ask for.
public enum ClientSecurity<Suite: CryptoSuite>: SecurityScheme {
    case security0(Security0Client)
    case security1(Security1Client<Suite>)
    case security2(Security2Client<Suite>)

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
