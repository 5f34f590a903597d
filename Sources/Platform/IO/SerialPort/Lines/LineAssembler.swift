// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines, whichever way they end: CR, LF, or both. Empty lines are left out.
///
/// A line longer than ``limit`` is given up to the limit and the rest of it is dropped: boot ROMs at another baud rate, and
/// firmware that prints binary, can send anything.
public struct LineAssembler: Sendable, Equatable {
    /// The bytes that are kept of one line at most, without its end.
    public let limit: Int
    /// What came since the last line end, such as a prompt.
    public private(set) var pending: [UInt8] = []
    /// Whether ``pending`` has lost bytes to the limit.
    public private(set) var isOverflowing = false

    public init(limit: Int = 4096) {
        precondition(limit > 0, "a line has at least one byte")
        self.limit = limit
    }

    /// Takes more bytes and returns the lines that they complete, without their ends.
    public mutating func append(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            if let line = append(byte) { lines.append(line) }
        }
        return lines
    }

    /// Takes one byte and returns the line that it completes, if it does.
    public mutating func append(_ byte: UInt8) -> [UInt8]? {
        guard byte != 0x0A, byte != 0x0D else {
            defer { clear() }
            return pending.isEmpty ? nil : pending
        }
        if pending.count < limit { pending.append(byte) } else { isOverflowing = true }
        return nil
    }

    /// Forgets the unfinished line.
    public mutating func clear() {
        pending = []
        isOverflowing = false
    }
}
