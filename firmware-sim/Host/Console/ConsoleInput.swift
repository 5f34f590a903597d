// SPDX-License-Identifier: Apache-2.0

/// The reading half of a console task, as a value: bytes from the wire in, echo and command lines out.
protocol ConsoleInput {
    /// What the board prints as soon as the task runs.
    var greeting: [UInt8] { get }
    /// What was in the UART's buffer at one moment. How bytes come together matters to the firmware.
    mutating func receive(_ chunk: [UInt8])
    /// What to do next; nil when more bytes are needed, or while a command runs.
    mutating func next() -> ConsoleStep?
    /// The command of the last step is done.
    mutating func finish()
}

enum ConsoleStep: Equatable {
    case write([UInt8])
    /// Run these words, then call ``ConsoleInput/finish()``.
    case run([[UInt8]])
}

enum ConsoleText {
    static let prompt = Array("\n>> ".utf8)
    static let lineEnd = Array("\r\n".utf8)
    /// The same by `printf`, whose LF the C library makes CR LF.
    static let printedLineEnd = Array("\r\r\n".utf8)
    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
    /// How many bytes may wait while a command runs: more than any line, and still bounded.
    static let backlogLimit = 4096
}
