// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Bytes that must not be seen: a password, a token, a proof of possession.
///
/// A `Secret` cannot be printed, dumped or interpolated; its bytes exist only inside ``reveal(_:)`` and are overwritten when
/// the last copy is dropped. They are kept out of swap where the limit on locked memory allows. Comparing takes the same time wherever the bytes differ.
public struct Secret: Sendable {
    private let storage: Storage

    /// Copies the bytes. Overwriting the original, where there is one, is the caller's task.
    public init(_ bytes: some Sequence<UInt8>) {
        storage = Storage(Array(bytes))
    }

    /// Copies the UTF-8 bytes of the text. The text itself is not overwritten: read secrets as bytes where that is possible.
    public init(_ text: String) {
        self.init(text.utf8)
    }

    /// The number of bytes. Lengths are not treated as secret.
    public var count: Int { storage.buffer.count }
    /// Whether there are no bytes, as in the passphrase of an open network.
    public var isEmpty: Bool { count == 0 }

    /// Lends the bytes to `body`. Do not let them, or anything that holds them in clear, outlive the call.
    public func reveal<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(storage.buffer))
    }

    /// The bytes as an array, for the place that must hand them on (a cipher, a request body).
    public func revealBytes() -> [UInt8] { Array(storage.buffer) }

    /// The bytes as UTF-8 text, for the place that must hand it on. Invalid sequences are repaired.
    public func revealString() -> String { String(decoding: storage.buffer, as: UTF8.self) }

    /// Owns the memory, so that it can be overwritten exactly once: `@unchecked` because the buffer never changes after `init`.
    private final class Storage: @unchecked Sendable {
        let buffer: UnsafeMutableBufferPointer<UInt8>

        init(_ bytes: [UInt8]) {
            buffer = .allocate(capacity: bytes.count)
            _ = buffer.initialize(from: bytes)
            // Beyond RLIMIT_MEMLOCK the kernel refuses, and the secret is as good as without. Never unlocked: the pages hold other secrets, too.
            if let base = buffer.baseAddress, !bytes.isEmpty { _ = mlock(base, bytes.count) }
        }

        deinit {
            overwriteWithZeros(buffer)
            buffer.deallocate()
        }
    }
}

extension Secret: Equatable {
    public static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<left.count { difference |= left.storage.buffer[index] ^ right.storage.buffer[index] }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<secret>" }
    public var debugDescription: String { "<secret>" }
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

private func overwriteWithZeros(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    buffer.update(repeating: 0)
    mayRead(buffer)
}

/// Never inlined and never optimized: for all the compiler knows it reads the bytes, so the stores before `deallocate` are not
/// removed as dead.
@inline(never)
@_optimize(none)
private func mayRead(_ buffer: UnsafeMutableBufferPointer<UInt8>) {}
