// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// Makes broken inputs out of good ones, the same for the same seed.
public struct Mutator: Sendable {
    private var random: ReproducibleRandom
    private let maximumLength: Int

    /// - Parameter maximumLength: longer results are cut.
    public init(seed: UInt64, maximumLength: Int = 8192) {
        random = ReproducibleRandom(seed: seed)
        self.maximumLength = maximumLength
    }

    /// One of the examples with one to four changes.
    public mutating func next(from examples: [[UInt8]]) -> [UInt8] {
        var bytes = examples[below(examples.count)]
        for _ in 0...below(4) { change(&bytes, examples) }
        return Array(bytes.prefix(maximumLength))
    }

    /// A number from 0 up to, and without, `limit`.
    public mutating func below(_ limit: Int) -> Int { limit <= 1 ? 0 : Int(random.next() % UInt64(limit)) }

    private mutating func change(_ bytes: inout [UInt8], _ examples: [[UInt8]]) {
        switch below(9) {
        case 0: flipBit(&bytes)
        case 1: if !bytes.isEmpty { bytes[below(bytes.count)] = Self.telling[below(Self.telling.count)] }
        case 2: bytes.removeLast(below(bytes.count + 1))
        case 3: bytes.insert(contentsOf: random.bytes(1 + below(16)), at: below(bytes.count + 1))
        case 4: bytes.removeSubrange(range(in: bytes))
        case 5: bytes.insert(contentsOf: bytes[range(in: bytes)], at: below(bytes.count + 1))
        case 6: splice(&bytes, examples)
        case 7: inflate(&bytes)
        default: repeatRange(&bytes)
        }
    }

    private mutating func flipBit(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes[below(bytes.count)] ^= 1 << UInt8(below(8))
    }

    /// The head of this input and the tail of another.
    private mutating func splice(_ bytes: inout [UInt8], _ examples: [[UInt8]]) {
        let other = examples[below(examples.count)]
        bytes = Array(bytes.prefix(below(bytes.count + 1))) + other.suffix(below(other.count + 1))
    }

    /// Replaces a byte that may be a length by a huge one: binary, as varints and big-endian, and as text.
    private mutating func inflate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let position = below(bytes.count)
        bytes.replaceSubrange(position...position, with: Self.huge[below(Self.huge.count)])
    }

    private mutating func repeatRange(_ bytes: inout [UInt8]) {
        let piece = Array(bytes[range(in: bytes)])
        let position = below(bytes.count + 1)
        for _ in 0..<below(64) where bytes.count < maximumLength { bytes.insert(contentsOf: piece, at: position) }
    }

    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        let start = below(bytes.count + 1)
        return start..<(start + below(min(32, bytes.count - start) + 1))
    }

    /// Bytes that mean something in one format or another.
    private static let telling: [UInt8] = [0x00, 0x01, 0x7F, 0x80, 0xFF] + Array("\r\n \t\"'{}[]:,;=%&\\/<-0a".utf8)

    private static let huge: [[UInt8]] = [
        [0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], [0x7F, 0xFF, 0xFF, 0xFF],
        [0xFF, 0xFF, 0xFF, 0xFF], Array("4294967296".utf8), Array("9223372036854775808".utf8), Array("-1".utf8),
        Array("1e999".utf8), Array("FFFFFFFFFFFFFFFFF".utf8),
    ]
}
