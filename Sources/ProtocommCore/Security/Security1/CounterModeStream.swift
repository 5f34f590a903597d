// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// The one AES-256-CTR key stream that both directions of a Security 1 session share, byte by byte.
struct CounterModeStream<Suite: CryptoSuite>: Sendable {
    private let key: KeyMaterial
    private let initialBlock: [UInt8]
    /// Bytes of key stream used so far.
    private var position: UInt64 = 0

    /// - Parameter initialBlock: the first counter block, 16 bytes.
    init(key: KeyMaterial, initialBlock: [UInt8]) {
        self.key = key
        self.initialBlock = initialBlock
    }

    /// Encrypts or decrypts, which is the same. The position moves on only if it worked.
    mutating func apply(to message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        let result = try Suite.aes256CounterMode(
            message, key: key, counterBlock: counterBlock(position / 16), skipping: Int(position % 16))
        position += UInt64(message.count)
        return result
    }

    /// The initial block plus `blocks`, as a 128-bit big-endian number that wraps around.
    private func counterBlock(_ blocks: UInt64) -> [UInt8] {
        var block = initialBlock
        var carry = blocks
        var index = block.count
        while carry > 0, index > 0 {
            index -= 1
            let sum = UInt64(block[index]) + (carry & 0xFF)
            block[index] = UInt8(truncatingIfNeeded: sum)
            carry = (carry >> 8) + (sum >> 8)
        }
        return block
    }
}
