// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// "Random" bytes that a test decides, handed out in order. Asking for more than there are is a test's mistake.
public struct ScriptedRandom: RandomSource {
    private var rest: ArraySlice<UInt8>

    public init(_ bytes: [UInt8]) { rest = bytes[...] }

    public mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        precondition(rest.count >= buffer.count, "the script has too few random bytes")
        for index in buffer.indices { buffer[index] = rest.removeFirst() }
    }
}
