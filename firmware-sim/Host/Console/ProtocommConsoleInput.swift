// SPDX-License-Identifier: Apache-2.0

/// `protocomm_console_task`: collects up to 256 bytes and runs them when what has arrived so far ends with CR.
///
/// It looks for the CR only after emptying the UART's buffer. So a CR that has anything behind it does not end the line.
struct ProtocommConsoleInput: ConsoleInput {
    /// `LINE_BUF_SIZE`.
    static let bufferSize = 256

    private var line: [UInt8] = []
    private var backlog: [[UInt8]] = []
    private var output: [UInt8] = []
    private var isRunning = false

    let greeting = ConsoleText.prompt

    mutating func receive(_ chunk: [UInt8]) {
        guard backlog.reduce(0, { $0 + $1.count }) + chunk.count <= ConsoleText.backlogLimit else { return }
        if !chunk.isEmpty { backlog.append(chunk) }
    }

    mutating func next() -> ConsoleStep? {
        guard !isRunning else { return nil }
        guard output.isEmpty else {
            defer { output = [] }
            return .write(output)
        }
        if isComplete {
            // The buffer has no room for a NUL when it is full; the command line is cut one earlier.
            let words = CommandLine.words(line.prefix(Self.bufferSize - 1))
            line = []
            isRunning = true
            return .run(words)
        }
        guard !backlog.isEmpty else { return nil }
        take(backlog.removeFirst())
        return next()
    }

    mutating func finish() {
        isRunning = false
        output += ConsoleText.prompt
    }

    private var isComplete: Bool { line.count >= Self.bufferSize || line.last == ConsoleText.carriageReturn }

    private mutating func take(_ chunk: [UInt8]) {
        for (index, byte) in chunk.enumerated() {
            guard line.count < Self.bufferSize else {
                // One byte more is read before the loop notices that the buffer is full, and is lost.
                let rest = Array(chunk[(index + 1)...])
                if !rest.isEmpty { backlog.insert(rest, at: 0) }
                return
            }
            line.append(byte)
            if byte == ConsoleText.carriageReturn { output += ConsoleText.lineEnd } else { output.append(byte) }
        }
    }
}
