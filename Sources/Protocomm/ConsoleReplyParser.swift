// SPDX-License-Identifier: Apache-2.0
import RainIO

/// Finds the answer to one request in what a protocomm console prints.
///
/// The answer is a line of lowercase hex digits with an empty line before it, printed right before the prompt
/// (`common_cmd_handler` in ESP-IDF's `protocomm_console.c`); log lines may have torn it, see ``TornAnswer``. A prompt without
/// such a line is a refusal. Log lines that look like hex, and pieces of the echo of our own hex, have no empty line before them;
/// one counts only right before the prompt, if nothing better came, and never if it may be an echo.
package struct ConsoleReplyParser: ConsoleReply {
    package enum Outcome: Sendable, Equatable {
        case answer([UInt8])
        /// The board says that the request failed.
        case refused
        /// No answer, and no word of why: firmware that logs nothing refuses so, and so does an answer look that was lost on the way.
        case nothing
        /// Hex digits came where the answer stands, but an odd number of them, too many, or torn by lines that may hold some of them.
        case malformed
        /// The boot loader's words came instead: the board has been reset.
        case restarted
    }

    package let command: [UInt8]
    private var transcript: ConsoleTranscript
    private var answer = TornAnswer()
    private var candidate: [UInt8]?
    private var hasFailed = false

    package init(command: [UInt8]) {
        self.command = command
        transcript = ConsoleTranscript(command: command)
    }

    package static func isAtPrompt(after outcome: Outcome) -> Bool { outcome != .restarted }

    package var outcomeIfRestIsLost: Outcome? {
        guard transcript.isEchoComplete else { return transcript.hasEarlyPrompt ? .malformed : nil }
        guard case .digits(let digits) = answer.found else { return nil }
        return Hex.decode(digits).map { .answer($0) } ?? .malformed
    }

    /// What protocomm's own parts log at level E when a handler fails (`protocomm.c`, `security1.c`, `security2.c`).
    private static func isFailure(_ text: [UInt8]) -> Bool {
        text.first == UInt8(ascii: "E")
            && ["protocomm", "security0", "security1", "security2"].contains { text.contains(Array("\($0): ".utf8)) }
    }

    package mutating func append(_ byte: UInt8) -> Outcome? {
        switch transcript.append(byte) {
        case nil: return nil
        case .prompt:
            // The LF that the prompt begins with ends a line of its own.
            if transcript.emptyLines > 1 { answer.takeEmptyLine() }
            switch answer.found {
            case .nothing: return candidate.map { .answer($0) } ?? (hasFailed ? .refused : .nothing)
            case .digits(let digits): return Hex.decode(digits).map { .answer($0) } ?? .malformed
            case .unclear: return .malformed
            }
        case .line(let line):
            return take(line)
        }
    }

    private mutating func take(_ line: ConsoleTranscript.Line) -> Outcome? {
        if BootLoader.says(line.text) { return .restarted }
        candidate = nil
        guard !line.mayHoldEcho else { return nil }
        if Self.isFailure(line.text) { hasFailed = true }
        if line.followsEmptyLine { answer.takeEmptyLine() }
        let hasBegun = answer.hasBegun
        answer.take(line)
        if !hasBegun, !line.isTruncated, !command.hasSuffix(line.text) { candidate = Hex.decode(line.text) }
        return nil
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}

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

/// Bytes as hex digits, the way they travel on the console.
package enum Hex {
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return digits
    }

    /// Nil unless the text is a whole number of bytes, and lowercase digits only, as `%02x` prints them.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count.isMultiple(of: 2), text.allSatisfy(isLowercaseDigit) else { return nil }
        return stride(from: 0, to: text.count, by: 2).map { value(text[$0]) << 4 | value(text[$0 + 1]) }
    }

    static func isLowercaseDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8 {
        digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
    }
}
