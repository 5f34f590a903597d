// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The standard library's random choices, the same for the same seed.
public struct SeededGenerator: RandomNumberGenerator {
    private var random: ReproducibleRandom

    public init(seed: UInt64) { random = ReproducibleRandom(seed: seed) }

    public mutating func next() -> UInt64 { random.next() }
}
