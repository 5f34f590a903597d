// SPDX-License-Identifier: Apache-2.0

/// What a board says when it restarts.
package enum BootLoader {
    /// The ROM's first words on an ESP32-C3, and on the older chips.
    private static let words = [Array("ESP-ROM:".utf8), Array("rst:0x".utf8)]

    /// Whether a line, without terminal escapes, is one that only a board says that has just been reset.
    package static func says(_ line: [UInt8]) -> Bool { words.contains { line.starts(with: $0) } }
}

/// Notices a restart among all that a board says.
struct RestartWatch: Sendable {
    private var assembler = LineAssembler(limit: 256)

    /// Takes the next byte and tells whether it ends a line of the boot loader.
    mutating func append(_ byte: UInt8) -> Bool { assembler.append(byte).map(BootLoader.says) ?? false }
}
