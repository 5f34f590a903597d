// SPDX-License-Identifier: Apache-2.0

/// Parses a board's output after one line was typed: the echo of that line, then the reply, then the prompt. Log lines of other tasks may
/// be anywhere in between, even in the middle of the echo.
///
/// Both consoles of this kind (ESP-IDF's `protocomm_console.c`, RainMaker's `rmaker_console.c`) echo each byte as it arrives, the CR as CR
/// LF. Then they run the line and write `\n>> `. Log lines come from other tasks, and the echo does not take the lock of the C library's
/// output. So whole log lines may cut the echo, and pieces of the echo may be in the middle of a log line. But its last piece is always at
/// the end of a line. Prompts before the end of the echo belong to an earlier line.
public struct ConsoleTranscript: Sendable {
    /// One line of the board's output.
    public struct Line: Sendable, Equatable {
        /// The line without its end and without terminal escapes.
        public var text: [UInt8]
        /// Whether an empty line comes right before it.
        public var followsEmptyLine: Bool
        /// Whether it came before the echo was complete, so that it may hold a piece of the echo.
        public var mayHoldEcho: Bool
        /// Whether it was longer than a line may be, and lost its end.
        public var isTruncated: Bool
    }

    /// What a byte from the console completes.
    public enum Event: Sendable, Equatable {
        /// A line of the board's output. Empty lines, and lines with nothing but echo, are left out.
        case line(Line)
        /// The console is ready for the next line.
        case prompt
    }

    /// The prompt of both consoles, which follows an LF.
    public static let prompt = Array(">> ".utf8)
    /// A piece of the echo of this length is not a coincidence in a log line.
    private static let significantLength = 4

    private let command: [UInt8]
    private var assembler = LineAssembler()
    private var lineFeeds = 0
    private var echoed = 0
    /// Whether the echo of the typed line is complete. Earlier prompts are not reported.
    public private(set) var isEchoComplete: Bool
    /// Whether a prompt came before the echo was complete: it belongs to an earlier line, or the echo was lost.
    public private(set) var hasEarlyPrompt = false
    /// How many empty lines end right here. A prompt begins with LF, and so ends one.
    public var emptyLines: Int { max(0, lineFeeds - 1) }
    /// Whether a piece of the typed line was echoed, but not its end. A board echoes each byte that reaches it, so bytes got lost.
    package var isEchoCut: Bool {
        guard !isEchoComplete else { return false }
        return echoed >= Self.significantLength || endOfPiece(in: removingTerminalEscapes(assembler.pending)) > 0
    }

    /// - Parameter command: the typed line, without CR. If it is empty, every prompt counts.
    public init(command: [UInt8]) {
        self.command = command
        isEchoComplete = command.isEmpty
    }

    /// Takes the next byte and returns what it completes.
    public mutating func append(_ byte: UInt8) -> Event? {
        // Further bytes of an overlong line are dropped.
        let truncated = assembler.isOverflowing
        if let line = assembler.append(byte) {
            let followsEmptyLine = lineFeeds >= 2
            lineFeeds = byte == 0x0A ? 1 : 0
            return finished(line, followsEmptyLine: followsEmptyLine, isTruncated: truncated)
        }
        if byte == 0x0A { lineFeeds += 1 }
        guard assembler.pending.count == Self.prompt.count, byte == Self.prompt.last, assembler.pending == Self.prompt
        else { return nil }
        guard isEchoComplete else {
            hasEarlyPrompt = true
            return nil
        }
        return .prompt
    }

    private mutating func finished(_ raw: [UInt8], followsEmptyLine: Bool, isTruncated: Bool) -> Event? {
        var text = removingTerminalEscapes(raw)
        if text.starts(with: Self.prompt) { text.removeFirst(Self.prompt.count) }
        let mayHoldEcho = !isEchoComplete
        if mayHoldEcho { takeEcho(text) }
        let isEcho = isEchoComplete && mayHoldEcho && command.suffix(text.count).elementsEqual(text)
        guard !text.isEmpty, !isEcho else { return nil }
        return .line(
            Line(text: text, followsEmptyLine: followsEmptyLine, mayHoldEcho: mayHoldEcho, isTruncated: isTruncated))
    }

    /// Looks for more of the echo in a whole line.
    private mutating func takeEcho(_ text: [UInt8]) {
        echoed = max(echoed + Self.matching(text[...], command[echoed...]), endOfPiece(in: text))
        // Only the CR may be missing: the line that interrupted the echo ended here.
        let end = command.suffix(min(command.count - echoed, Self.significantLength))
        isEchoComplete = text.suffix(end.count).elementsEqual(end)
    }

    /// Returns where in the command its longest piece ends that is anywhere in the line; 0 if no piece is long enough.
    private func endOfPiece(in text: [UInt8]) -> Int {
        var (longest, end) = (Self.significantLength - 1, 0)
        for begin in command[echoed...].indices {
            // Later pieces are too short to be the longest.
            guard command.count - begin > longest else { break }
            for start in text.indices where text[start] == command[begin] {
                let length = Self.matching(text[start...], command[begin...])
                if length > longest { (longest, end) = (length, begin + length) }
            }
        }
        return end
    }

    private static func matching(_ text: ArraySlice<UInt8>, _ command: ArraySlice<UInt8>) -> Int {
        let limit = min(text.count, command.count)
        var count = 0
        while count < limit, text[text.startIndex + count] == command[command.startIndex + count] { count += 1 }
        return count
    }
}
