// SPDX-License-Identifier: Apache-2.0

/// One argument of a console line, written so that the board reads the same bytes back.
///
/// The board's rules (`esp_console_split_argv` of ESP-IDF): spaces separate; double quotes keep spaces; a backslash takes a
/// backslash, a double quote or a space literally. Tabs and everything else are ordinary bytes.
struct ConsoleWord: Sendable, Equatable {
    /// As it is typed.
    let typed: [UInt8]

    /// Nil for what no line can carry: the bytes that end a line (CR, and LF on newer firmware), edit it (backspace), or end
    /// the board's strings (NUL).
    init?(_ bytes: [UInt8]) {
        guard !bytes.contains(where: { $0 == 0x00 || $0 == 0x08 || $0 == 0x0A || $0 == 0x0D }) else { return nil }
        let quote = UInt8(ascii: "\"")
        let backslash = UInt8(ascii: "\\")
        guard bytes.isEmpty || bytes.contains(where: { $0 == UInt8(ascii: " ") || $0 == quote || $0 == backslash })
        else {
            typed = bytes
            return
        }
        var typed = [quote]
        for byte in bytes {
            if byte == quote || byte == backslash { typed.append(backslash) }
            typed.append(byte)
        }
        self.typed = typed + [quote]
    }

    init?(_ text: String) { self.init(Array(text.utf8)) }
}

/// A whole line for the console.
enum ConsoleLine {
    /// The board's buffer holds 256 bytes with the terminating zero; older firmware counts the CR among the other 255
    /// (`scli_task` in `rmaker_console.c`).
    static let maximumLength = 254

    /// The words with spaces between them; nil if the board would cut the line.
    static func make(_ words: [ConsoleWord]) -> [UInt8]? {
        let line = Array(words.map(\.typed).joined(separator: [UInt8(ascii: " ")]))
        return line.count <= maximumLength ? line : nil
    }
}
