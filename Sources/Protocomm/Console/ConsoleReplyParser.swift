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
