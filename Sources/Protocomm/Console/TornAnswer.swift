// SPDX-License-Identifier: Apache-2.0
import RainIO

/// Puts an answer together that log lines have torn.
///
/// Firmware prints each byte by itself, `%02x`, so that another task's log comes between any two of them: some digits, the log
/// line and its end, then the other digits. The answer begins after an empty line, and ends with a line that is all digits, or,
/// where it was torn after its last byte, with another empty line. What cannot be told apart is ``Found/unclear``, and never an
/// answer: Security 1 would not notice that bytes are missing.
struct TornAnswer {
    enum Found: Equatable {
        case nothing
        case digits([UInt8])
        /// There is one, but which of the digits belong to it is not known.
        case unclear
    }

    private enum State {
        case before
        /// So much of it, and more may follow.
        case pieces([UInt8])
        case whole([UInt8], Ending)
        case unclear
    }

    private enum Ending {
        /// Nothing came in between.
        case untorn
        /// Its last piece is a line.
        case line
        case emptyLine
    }

    private var state = State.before
    /// Whether a piece came where no answer had begun.
    private var hasStrayPiece = false

    /// Whether it has begun; a line that looks like an answer by itself is none then.
    var hasBegun: Bool { if case .before = state { hasStrayPiece } else { true } }

    /// What it is if there is no more.
    var found: Found {
        switch state {
        case .before, .pieces([]): hasStrayPiece ? .unclear : .nothing
        case .whole(let digits, _): .digits(digits)
        // Its end is missing.
        case .pieces, .unclear: .unclear
        }
    }

    mutating func takeEmptyLine() {
        switch state {
        case .before: state = .pieces([])
        case .pieces(let digits) where !digits.isEmpty: state = .whole(digits, .emptyLine)
        // So the end came only now, and the last line was none of its own.
        case .whole(_, .line): state = .unclear
        default: return
        }
    }

    mutating func take(_ line: ConsoleTranscript.Line) {
        let digits = Array(line.text.prefix(while: Hex.isLowercaseDigit))
        let rest = line.text.dropFirst(digits.count)
        if rest.isEmpty {
            takeLine(of: digits, line)
        } else if Self.isLogLine(rest) {
            takePiece(digits, line)
        } else if digits.count > 1, case .pieces = state {
            // Words of another task that begin with letters like digits, or digits of the answer and words.
            state = .unclear
        }
    }

    private mutating func takeLine(of digits: [UInt8], _ line: ConsoleTranscript.Line) {
        switch state {
        case .before: return
        case .pieces(let before):
            state = line.isTruncated ? .unclear : .whole(before + digits, before.isEmpty ? .untorn : .line)
        // One that looks like hex stood before the answer.
        case .whole(_, .untorn) where line.followsEmptyLine:
            state = line.isTruncated ? .unclear : .whole(digits, .untorn)
        // Or stands behind it.
        case .whole(_, .untorn): return
        case .whole, .unclear: state = .unclear
        }
    }

    private mutating func takePiece(_ digits: [UInt8], _ line: ConsoleTranscript.Line) {
        guard !digits.isEmpty else { return }
        switch state {
        case .before: hasStrayPiece = true
        case .pieces(let before): state = .pieces(before + digits)
        case .whole(_, .untorn) where line.followsEmptyLine: state = .pieces(digits)
        case .whole, .unclear: state = .unclear
        }
    }

    /// `I (1234) tag: text`
    private static func isLogLine(_ text: ArraySlice<UInt8>) -> Bool {
        text.first.map { "EWIDV".utf8.contains($0) } == true && text.dropFirst().starts(with: " (".utf8)
    }
}
