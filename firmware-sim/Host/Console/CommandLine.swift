// SPDX-License-Identifier: Apache-2.0

/// Splits a line into words as `esp_console_split_argv` does: at spaces, with double quotes and backslashes.
enum CommandLine {
    /// `max_cmdline_args`, one of which is the NULL at the end.
    static let wordLimit = 7

    private enum State { case space, word, quoted, escaped, quotedEscaped }

    static func words(_ line: some Sequence<UInt8>) -> [[UInt8]] {
        let quote = UInt8(ascii: "\"")
        let escape = UInt8(ascii: "\\")
        let space = UInt8(ascii: " ")
        var words: [[UInt8]] = []
        var word: [UInt8] = []
        var state = State.space
        func finish() {
            words.append(word)
            word = []
            state = .space
        }
        for byte in line {
            guard words.count < wordLimit, byte != 0 else { break }
            switch state {
            case .space:
                if byte == quote {
                    state = .quoted
                } else if byte == escape {
                    state = .escaped
                } else if byte != space {
                    state = .word
                    word.append(byte)
                }
            case .word:
                if byte == space { finish() } else if byte == escape { state = .escaped } else { word.append(byte) }
            case .quoted:
                if byte == quote {
                    finish()
                } else if byte == escape {
                    state = .quotedEscaped
                } else {
                    word.append(byte)
                }
            case .escaped, .quotedEscaped:
                // Any other character after a backslash is swallowed together with it.
                if byte == escape || byte == quote || byte == space { word.append(byte) }
                state = state == .escaped ? .word : .quoted
            }
        }
        if state != .space, words.count < wordLimit { words.append(word) }
        return words
    }
}
