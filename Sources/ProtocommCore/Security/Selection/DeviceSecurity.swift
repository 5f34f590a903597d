// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The board's end of whichever scheme it was built with.
public enum DeviceSecurity<Suite: CryptoSuite, Random: RandomSource>: DeviceSecurityScheme {
    /// A board without security: everything travels in clear.
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
