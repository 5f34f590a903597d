// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO

/// Finds the answer to one request in the output of a protocomm console.
///
/// The answer is a line of lowercase hex digits after an empty line, right before the prompt (`common_cmd_handler` in ESP-IDF's
/// `protocomm_console.c`). Log lines may have torn it, see ``PartialAnswer``. A prompt without such a line is a refusal.
///
/// Log lines that look like hex have no empty line before them, and neither have pieces of our echoed request. Such a line counts only
/// right before the prompt, if there is no better one, and never if it may be an echo.
package struct ConsoleReplyParser: ConsoleReply {
    package enum Outcome: Sendable, Equatable {
        case answer([UInt8])
        /// The board reported that the request failed.
        case refused
        /// No answer and no error. Either the firmware refused with its log switched off, or the answer was lost.
        case nothing
        /// The digits in the answer's place are unusable: an odd number, too many, or torn by lines that may contain some of them.
        case malformed
        /// The boot loader's output appeared instead: the board was reset.
        case restarted
    }

    package let command: [UInt8]
    private var transcript: ConsoleTranscript
    private var answer = PartialAnswer()
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
        return ConsoleHex.decoded(digits).map { .answer($0) } ?? .malformed
    }

    /// Whether bytes of the echo got lost.
    package var isEchoCut: Bool { transcript.isEchoCut }
    /// Whether the bytes so far, without a prompt, show that others got lost: of the echo, or after the beginning of an answer.
    package var lacksBytes: Bool {
        isEchoCut || transcript.isEchoComplete && (answer.found != .nothing || candidate != nil)
    }

    /// Whether this is a line that protocomm itself logs at level E when a handler fails (`protocomm.c`, `security1.c`, `security2.c`).
    private static func isFailure(_ text: [UInt8]) -> Bool {
        text.first == UInt8(ascii: "E")
            && ["protocomm", "security0", "security1", "security2"].contains { text.contains(Array("\($0): ".utf8)) }
    }

    package mutating func append(_ byte: UInt8) -> Outcome? {
        switch transcript.append(byte) {
        case nil: return nil
        case .prompt:
            // The LF at the beginning of the prompt ends a separate line.
            if transcript.emptyLines > 1 { answer.takeEmptyLine() }
            switch answer.found {
            case .nothing: return candidate.map { .answer($0) } ?? (hasFailed ? .refused : .nothing)
            case .digits(let digits): return ConsoleHex.decoded(digits).map { .answer($0) } ?? .malformed
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
        if !hasBegun, !line.isTruncated, !command.hasSuffix(line.text) { candidate = ConsoleHex.decoded(line.text) }
        return nil
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}

/// Reassembles an answer that log lines have torn.
///
/// Firmware prints each byte by itself (`%02x`), so another task's log can come between any two bytes: some digits, the log line and its
/// end, then the other digits. The answer begins after an empty line. It ends with a line of digits only, or with another empty line if it
/// was torn after its last byte.
///
/// An ambiguous answer is ``Found/unclear`` and is never returned as an answer: Security 1 would not notice missing bytes.
struct PartialAnswer {
    enum Found: Equatable {
        case nothing
        case digits([UInt8])
        /// There is an answer, but it is unknown which digits belong to it.
        case unclear
    }

    private enum State {
        case before
        /// The digits so far; more may follow.
        case pieces([UInt8])
        case whole([UInt8], Ending)
        case unclear
    }

    private enum Ending {
        /// No line came in between.
        case untorn
        /// The last piece is a line.
        case line
        case emptyLine
    }

    private var state = State.before
    /// Whether a piece came although no answer had begun.
    private var hasStrayPiece = false

    /// Whether the answer has begun. A later line that looks like an answer by itself does not count then.
    var hasBegun: Bool { if case .before = state { hasStrayPiece } else { true } }

    /// The result if nothing more comes.
    var found: Found {
        switch state {
        case .before, .pieces([]): hasStrayPiece ? .unclear : .nothing
        case .whole(let digits, _): .digits(digits)
        // The end is missing.
        case .pieces, .unclear: .unclear
        }
    }

    mutating func takeEmptyLine() {
        switch state {
        case .before: state = .pieces([])
        case .pieces(let digits) where !digits.isEmpty: state = .whole(digits, .emptyLine)
        // The answer ends only here, so the last line was not part of it.
        case .whole(_, .line): state = .unclear
        default: return
        }
    }

    mutating func take(_ line: ConsoleTranscript.Line) {
        let digits = Array(line.text.prefix(while: ConsoleHex.isDigit))
        let rest = line.text.dropFirst(digits.count)
        if rest.isEmpty {
            takeLine(of: digits, line)
        } else if Self.isLogLine(rest) {
            takePiece(digits, line)
        } else if digits.count > 1, case .pieces = state {
            // Another task's text that begins with hex digits, or digits of the answer followed by text.
            state = .unclear
        }
    }

    private mutating func takeLine(of digits: [UInt8], _ line: ConsoleTranscript.Line) {
        switch state {
        case .before: return
        case .pieces(let before):
            state = line.isTruncated ? .unclear : .whole(before + digits, before.isEmpty ? .untorn : .line)
        // A line that looked like hex came before the answer.
        case .whole(_, .untorn) where line.followsEmptyLine:
            state = line.isTruncated ? .unclear : .whole(digits, .untorn)
        // A line that looks like hex came after the answer.
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

    /// Whether this is the rest of a log line: `I (1234) tag: text`.
    private static func isLogLine(_ text: ArraySlice<UInt8>) -> Bool {
        text.first.map { "EWIDV".utf8.contains($0) } == true && text.dropFirst().starts(with: " (".utf8)
    }
}

/// The console's hexadecimal digits: whole bytes in lower case, as `%02x` prints them.
private enum ConsoleHex {
    /// Returns nil for other text, and for an empty one.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
        text.isEmpty || !text.allSatisfy(isDigit) ? nil : Hex.decoded(text)
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        Hex.value(of: byte) != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}
