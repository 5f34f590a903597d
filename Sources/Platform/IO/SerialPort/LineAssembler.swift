// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes into lines that end with CR, LF, or both. Empty lines are left out.
///
/// A line longer than ``limit`` is cut there and its rest is dropped. Boot ROMs at another baud rate, and firmware that prints binary data,
/// can send anything.
public struct LineAssembler: Sendable, Equatable {
    /// The maximum number of bytes that are kept of one line, without its end.
    public let limit: Int
    /// The bytes since the last line end, such as a prompt.
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

    /// Takes one byte and returns the line that it completes, if any.
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

/// Returns the bytes without terminal escape sequences (ECMA-48). ESP-IDF's log puts colours around each line with them.
///
/// Takes a whole line: a sequence that the line's end cuts off is dropped too.
public func removingTerminalEscapes(_ line: [UInt8]) -> [UInt8] {
    let escape: UInt8 = 0x1B
    guard line.contains(escape) else { return line }
    var kept: [UInt8] = []
    kept.reserveCapacity(line.count)
    var index = 0
    while index < line.count {
        guard line[index] == escape else {
            kept.append(line[index])
            index += 1
            continue
        }
        index += 1
        guard index < line.count else { break }
        if line[index] == UInt8(ascii: "[") {
            // CSI: parameters and intermediates, then one final byte.
            index += 1
            while index < line.count, (0x20...0x3F).contains(line[index]) { index += 1 }
            if index < line.count, (0x40...0x7E).contains(line[index]) { index += 1 }
        } else if (0x30...0x7E).contains(line[index]) {
            // A two-byte sequence.
            index += 1
        }
    }
    return kept
}
