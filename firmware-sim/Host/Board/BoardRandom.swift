// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The board's random number generator: the system's, or with `--seed` the same each time.
enum BoardRandom: RandomSource {
    case system(OpenSSLRandom)
    case seeded(ReproducibleRandom)

    init(seed: UInt64?) {
        self = seed.map { .seeded(ReproducibleRandom(seed: $0)) } ?? .system(OpenSSLRandom())
    }

    mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        switch self {
        case .system(var source):
            source.fill(buffer)
            self = .system(source)
        case .seeded(var source):
            source.fill(buffer)
            self = .seeded(source)
        }
    }

    /// Another generator that does not share this one's sequence.
    mutating func fork() -> BoardRandom {
        guard case .seeded(var source) = self else { return .system(OpenSSLRandom()) }
        let seed = source.next()
        self = .seeded(source)
        return .seeded(ReproducibleRandom(seed: seed))
    }

    /// A salt for the verifier of Security 2, 16 bytes of which the first is not zero: Espressif's clients take it for a number and lose a
    /// zero in front, so that 1 board in 256 could never be provisioned by them.
    mutating func salt() -> [UInt8] {
        while true {
            let salt: [UInt8] = bytes(16)
            if salt[0] != 0 { return salt }
        }
    }

    mutating func number() -> UInt32 { bytes(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
