// SPDX-License-Identifier: Apache-2.0

/// A source of random bytes. Keys are made from it, so it must be unpredictable wherever that matters.
///
/// It cannot fail. A source without entropy traps instead of returning bytes that can be guessed.
public protocol RandomSource: Sendable {
    /// Fills the whole buffer with random bytes.
    mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>)
}

extension RandomSource {
    /// Returns this number of random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBufferPointer { fill($0) }
        return bytes
    }
}

/// Returns the same bytes for the same seed (SplitMix64), for simulators and tests that must be repeatable. Never use it for keys.
public struct ReproducibleRandom: RandomSource {
    private var state: UInt64

    /// Creates a source whose bytes are determined by the seed.
    public init(seed: UInt64) { state = seed }

    /// Fills the buffer with the next bytes of the sequence.
    public mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: next() >> 32) }
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
