// SPDX-License-Identifier: Apache-2.0

/// Secret bytes of a handshake or a session. They are overwritten when the last reference is released.
public struct KeyMaterial: Sendable {
    private let storage: Storage

    /// Creates bytes that `fill` writes. Bytes that it does not write are zero.
    public init<Failure: Error>(
        count: Int, fill: (UnsafeMutableBufferPointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        storage = Storage(count: count)
        try fill(storage.buffer)
    }

    /// Copies `bytes`. The array itself does not change.
    public init(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { buffer in
            for index in bytes.indices { buffer[index] = bytes[index] }
        }
    }

    /// The number of bytes.
    public var count: Int { storage.buffer.count }

    /// Passes the bytes to `body`. Do not keep the pointer.
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(storage.buffer))
    }

    /// The bytes as an array, for values that are public (a public key, a verifier that is stored).
    public var bytes: [UInt8] { Array(storage.buffer) }

    /// It is `@unchecked` because the buffer does not change after `init` of the outer type.
    private final class Storage: @unchecked Sendable {
        let buffer: UnsafeMutableBufferPointer<UInt8>

        init(count: Int) {
            buffer = .allocate(capacity: count)
            buffer.initialize(repeating: 0)
        }

        deinit {
            overwriteWithZeros(buffer)
            buffer.deallocate()
        }
    }
}

extension KeyMaterial {
    package func prefix(_ count: Int) -> KeyMaterial { slice(0, min(count, self.count)) }

    /// Returns the bytes without leading zeros: the shortest form of a number.
    package func withoutLeadingZeros() -> KeyMaterial {
        withBytes { bytes in
            var start = 0
            while start < bytes.count, bytes[start] == 0 { start += 1 }
            return slice(start, bytes.count)
        }
    }

    /// Returns the bytes with leading zeros up to `count`.
    package func padded(to count: Int) -> KeyMaterial {
        let missing = max(0, count - self.count)
        return withBytes { bytes in
            KeyMaterial(count: bytes.count + missing) { buffer in
                for index in bytes.indices { buffer[missing + index] = bytes[index] }
            }
        }
    }

    /// Whether every byte is zero. The time depends only on the length.
    package var isZero: Bool {
        withBytes { bytes in
            var union: UInt8 = 0
            for byte in bytes { union |= byte }
            return union == 0
        }
    }

    package func exclusiveOr(_ other: KeyMaterial) -> KeyMaterial {
        withBytes { mine in
            other.withBytes { theirs in
                KeyMaterial(count: mine.count) { buffer in
                    for index in mine.indices { buffer[index] = mine[index] ^ theirs[index] }
                }
            }
        }
    }

    package static func joining(_ parts: [KeyMaterial]) -> KeyMaterial {
        var count = 0
        for part in parts { count += part.count }
        return KeyMaterial(count: count) { buffer in
            var position = 0
            for part in parts {
                part.withBytes { bytes in
                    for byte in bytes {
                        buffer[position] = byte
                        position += 1
                    }
                }
            }
        }
    }

    private func slice(_ start: Int, _ end: Int) -> KeyMaterial {
        withBytes { bytes in
            KeyMaterial(count: end - start) { buffer in
                for index in start..<end { buffer[index - start] = bytes[index] }
            }
        }
    }
}

private func overwriteWithZeros(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    buffer.update(repeating: 0)
    mayRead(buffer)
}

/// Keeps the compiler from removing the stores before `deallocate` as dead. It is never inlined or optimized, so the compiler must assume
/// that it reads the bytes. The overwriting itself is outside, because here, byte by byte, it took a quarter of a handshake.
@inline(never)
@_optimize(none)
private func mayRead(_ buffer: UnsafeMutableBufferPointer<UInt8>) {}

extension KeyMaterial {
    package init(count: Int, drawingFrom random: inout some RandomSource) {
        self.init(count: count) { random.fill($0) }
    }
}
