import SerialPort

/// Finds the answer to one request in what a protocomm console prints.
///
/// The answer is a line of lowercase hex digits with an empty line before it, printed right before the prompt
/// (`common_cmd_handler` in ESP-IDF's `protocomm_console.c`). A prompt without such a line is a refusal. Log lines that look
/// like hex, and pieces of the echo of our own hex, have no empty line before them; one counts only right before the prompt, if
/// nothing better came, and never if it may be an echo.
struct ConsoleReplyParser: ConsoleReply {
    enum Outcome: Sendable, Equatable {
        case answer([UInt8])
        case refused
        /// Hex digits came where the answer stands, but an odd number of them, or too many.
        case malformed
        /// The boot loader's words came instead: the board has been reset.
        case restarted
    }

    let command: [UInt8]
    private var transcript: ConsoleTranscript
    private var answer: [UInt8]?
    private var candidate: [UInt8]?
    private var isMalformed = false

    init(command: [UInt8]) {
        self.command = command
        transcript = ConsoleTranscript(command: command)
    }

    mutating func append(_ byte: UInt8) -> Outcome? {
        switch transcript.append(byte) {
        case nil: return nil
        case .prompt:
            if let answer { return .answer(answer) }
            if isMalformed { return .malformed }
            return candidate.map { .answer($0) } ?? .refused
        case .line(let line):
            return take(line)
        }
    }

    private mutating func take(_ line: ConsoleTranscript.Line) -> Outcome? {
        if line.text.starts(with: Self.bootROM) || line.text.starts(with: Self.resetReason) { return .restarted }
        candidate = nil
        guard !line.mayHoldEcho, line.text.allSatisfy(Hex.isLowercaseDigit) else { return nil }
        if line.followsEmptyLine {
            answer = line.isTruncated ? nil : Hex.decode(line.text)
            isMalformed = answer == nil
        } else if !line.isTruncated, !command.hasSuffix(line.text), let bytes = Hex.decode(line.text) {
            candidate = bytes
        }
        return nil
    }

    /// The ROM's first words on an ESP32-C3, and on the older chips.
    private static let bootROM = Array("ESP-ROM:".utf8)
    private static let resetReason = Array("rst:0x".utf8)
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool { self.suffix(suffix.count).elementsEqual(suffix) }
}
