// SPDX-License-Identifier: Apache-2.0

/// Reads what a board's command console says after one line was typed: the echo of that line, then what it prints, then its
/// prompt; with log lines of other tasks anywhere in between, even in the middle of the echo.
///
/// Both consoles of this kind (ESP-IDF's `protocomm_console.c`, RainMaker's `rmaker_console.c`) echo each byte as it arrives,
/// the CR as CR LF, run the line, and write `\n>> `. Log lines come from other tasks, and the echo goes out beside the lock of
/// the C library's output: it may be cut by whole lines, and may itself land in the middle of one. But its last piece always
/// stands at the end of a line. Prompts that show before the echo is complete belong to something earlier.
public struct ConsoleTranscript: Sendable {
    /// One line of what the board printed.
    public struct Line: Sendable, Equatable {
        /// Without its end and without terminal escapes.
        public var text: [UInt8]
        /// Whether an empty line stands right before it.
        public var followsEmptyLine: Bool
        /// Whether it came before the typed line was completely echoed, so that it may hold a piece of it.
        public var mayHoldEcho: Bool
        /// Whether it was longer than a line may be, and has lost its end.
        public var isTruncated: Bool
    }

    /// What a byte from the console has completed.
    public enum Event: Sendable, Equatable {
        /// A line that the board printed; empty lines, and lines that are nothing but echo, are left out.
        case line(Line)
        /// The console is ready for the next line.
        case prompt
    }

    /// What both consoles write, after an LF, when they are ready for the next line.
    public static let prompt = Array(">> ".utf8)
    /// A piece of the echo of this length is no coincidence in a log line.
    private static let significantLength = 4

    private let command: [UInt8]
    private var assembler = LineAssembler()
    private var lineFeeds = 0
    private var echoed = 0
    /// Whether all of the typed line has come back as an echo. Prompts before that are not reported.
    public private(set) var isEchoComplete: Bool
    /// Whether a prompt has shown before the echo was complete: an earlier line's, or the echo was lost on the way.
    public private(set) var hasEarlyPrompt = false
    /// How many empty lines end right here. A prompt begins with LF, and so ends one.
    public var emptyLines: Int { max(0, lineFeeds - 1) }

    /// - Parameter command: the line that was typed, without CR. Empty if none was: then every prompt counts.
    public init(command: [UInt8]) {
        self.command = command
        isEchoComplete = command.isEmpty
    }

    /// Takes the next byte and tells what it completes.
    public mutating func append(_ byte: UInt8) -> Event? {
        // What an overlong line still gets is dropped unseen.
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
        // Nothing may be left of it but the CR: the line that interrupted it ended here.
        let end = command.suffix(min(command.count - echoed, Self.significantLength))
        isEchoComplete = text.suffix(end.count).elementsEqual(end)
    }

    /// Where in the command the longest piece of it ends that stands anywhere in the line; 0 if none is long enough.
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
