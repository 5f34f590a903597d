// SPDX-License-Identifier: Apache-2.0

/// The bytes without terminal escape sequences (ECMA-48), which ESP-IDF's log puts around each line as colours.
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
