// SPDX-License-Identifier: Apache-2.0

/// `scli_task` of RainMaker's common console: byte by byte, CR or LF ends a line, backspace takes one back, and a line that
/// is too long is thrown away as a whole.
struct RainMakerConsoleInput: ConsoleInput {
    /// `SCLI_LINE_SIZE`, its NUL not included.
    static let lineLimit = 255

    private var line: [UInt8] = []
    private var isTooLong = false
    private var backlog: ArraySlice<UInt8> = []
    private var output: [UInt8] = []
    /// The command whose echo goes out first.
    private var command: [[UInt8]]?
    private var isRunning = false

    /// The first line is read without a prompt.
    let greeting: [UInt8] = []

    mutating func receive(_ chunk: [UInt8]) {
        guard backlog.count + chunk.count <= ConsoleText.backlogLimit else { return }
        backlog += chunk
    }

    mutating func next() -> ConsoleStep? {
        guard !isRunning else { return nil }
        while command == nil, let byte = backlog.popFirst() {
            if byte == ConsoleText.carriageReturn || byte == ConsoleText.lineFeed { endLine() } else { take(byte) }
        }
        if !output.isEmpty {
            defer { output = [] }
            return .write(output)
        }
        guard let words = command else { return nil }
        command = nil
        isRunning = true
        return .run(words)
    }

    mutating func finish() {
        isRunning = false
        output += ConsoleText.prompt
    }

    private mutating func take(_ byte: UInt8) {
        output.append(byte)
        if byte == 0x08 {
            if !line.isEmpty { line.removeLast() }
        } else if line.count < Self.lineLimit {
            line.append(byte)
        } else {
            isTooLong = true
        }
    }

    private mutating func endLine() {
        defer {
            line = []
            isTooLong = false
        }
        // The echo of the line's end, and one more "to go to the next line".
        output += ConsoleText.lineEnd + ConsoleText.lineEnd
        if isTooLong {
            output += Array("rmaker_console: Command longer than 255 characters. Line discarded.\r\n".utf8)
            output += ConsoleText.prompt
        } else if line.isEmpty {
            output += ConsoleText.prompt
        } else {
            command = CommandLine.words(line)
        }
    }
}
