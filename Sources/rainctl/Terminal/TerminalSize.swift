// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much the terminal shows at once.
struct TerminalSize: Sendable, Equatable {
    var columns: Int
    var rows: Int

    /// Of standard error; the usual 80 by 24 where it is no terminal or does not say.
    static var current: TerminalSize {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return TerminalSize(columns: 80, rows: 24) }
        return TerminalSize(
            columns: size.ws_col > 20 ? Int(size.ws_col) : 80, rows: size.ws_row > 4 ? Int(size.ws_row) : 24)
    }

    /// How wide standard output is; nil where it is no terminal or does not say.
    static var columnsOfOutput: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}

extension String {
    /// As much of a line as fits, with `…` where something was cut off: a line that wraps is not erased whole, and moves a list off the screen.
    func cut(toColumns limit: Int) -> String {
        var (columns, lastFitting) = (0, startIndex)
        for index in indices {
            columns += self[index].columns
            if columns > limit { return self[..<lastFitting] + "…" }
            if columns < limit { lastFitting = self.index(after: index) }
        }
        return self
    }
}

extension Character {
    /// How many columns a terminal gives it: two for the wide ones of East Asia and for emoji (Unicode Standard Annex 11, W and F).
    fileprivate var columns: Int {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}
