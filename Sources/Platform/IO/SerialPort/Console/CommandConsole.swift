// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What one typed line is expected to bring back.
public protocol ConsoleReply: Sendable {
    /// What the line has brought, once that is decided: an answer, for example, or a refusal.
    associatedtype Outcome: Sendable
    /// The line to type, without CR.
    var command: [UInt8] { get }
    /// Takes the next byte from the console and returns the outcome once it is decided.
    mutating func append(_ byte: UInt8) -> Outcome?
    /// Takes the next bytes, up to the one that decides the outcome.
    mutating func append(_ bytes: [UInt8]) -> ConsoleFinding<Outcome>?
    /// What the line has brought if nothing more comes for a moment: a prompt has shown and the echo never came, or an answer came and no prompt,
    /// as bytes got lost on the way. Nil where more must come.
    var outcomeIfRestIsLost: Outcome? { get }
    /// Whether the console is back at its prompt with that outcome. It is not where the board has restarted.
    static func isAtPrompt(after outcome: Outcome) -> Bool
}

/// What was found in some bytes, and how many of them were needed for it.
public struct ConsoleFinding<Outcome: Sendable>: Sendable {
    /// What they have brought.
    public var outcome: Outcome
    /// The bytes behind these are what comes next.
    public var used: Int

    public init(_ outcome: Outcome, used: Int) {
        self.outcome = outcome
        self.used = used
    }
}

extension ConsoleReply {
    /// Each conforming type gets a copy of its own: a log may come at 3 MB/s, which is too much for generic code byte by byte.
    @inlinable public mutating func append(_ bytes: [UInt8]) -> ConsoleFinding<Outcome>? {
        for (index, byte) in bytes.enumerated() {
            if let outcome = append(byte) { return ConsoleFinding(outcome, used: index + 1) }
        }
        return nil
    }

    public var outcomeIfRestIsLost: Outcome? { nil }
    public static func isAtPrompt(after outcome: Outcome) -> Bool { true }
}

/// A board's command console on a serial port: types lines and waits for what they bring.
public actor CommandConsole {
    /// Lines end with CR alone: a LF after it would begin the next line (`protocomm_console.c` knows no LF).
    private static let carriageReturn: UInt8 = 0x0D

    /// The port that the console types on. Whoever else reads from it takes the console's bytes.
    public nonisolated let port: SerialPort
    private let clock: any Clock<Duration>
    /// Bytes that were read after the outcome of a line was decided.
    private var unread: [UInt8] = []
    private var isAtPrompt = false
    private var restartWatch = RestartWatch()
    private var prompts = ConsoleTranscript(command: [])
    /// How often the board has said that it restarted, in whatever was read so far or thrown away.
    public private(set) var restarts = 0

    public init(port: SerialPort, clock: any Clock<Duration> = ContinuousClock()) {
        self.port = port
        self.clock = clock
    }

    /// Types the reply's line and returns its outcome. Has no deadline of its own: cancel the task.
    ///
    /// What the board said before is thrown away. After anything but a decided outcome, and after a restart, the next call first
    /// finds the prompt again, as the first one does.
    public func run<Reply: ConsoleReply>(_ reply: Reply) async throws(SerialPortError) -> Reply.Outcome {
        try await makeReady()
        isAtPrompt = false
        try await port.write(reply.command + [Self.carriageReturn])
        let outcome = try await outcome(of: reply)
        isAtPrompt = Reply.isAtPrompt(after: outcome)
        return outcome
    }

    /// A console echoes at once what is typed at its prompt, and shows its prompt right behind an answer.
    private static let timeForRest = Duration.seconds(1)

    private func outcome<Reply: ConsoleReply>(of reply: Reply) async throws(SerialPortError) -> Reply.Outcome {
        let held = HeldReply(reply)
        while true {
            let early = try await readPieces { bytes -> ConsoleFinding<Found<Reply.Outcome>>? in
                if let found = held.append(bytes) { return ConsoleFinding(.outcome(found.outcome), used: found.used) }
                return held.outcomeIfRestIsLost == nil ? nil : ConsoleFinding(.mayBeAll, used: bytes.count)
            }
            if case .outcome(let outcome) = early { return outcome }
            // It may be an earlier line's prompt, or a line that only looks like the answer.
            let clock = clock
            let late = await withDeadline(Self.timeForRest, sleep: { try await clock.sleep(for: $0) }) {
                () async throws(SerialPortError) in try await self.rest(of: held)
            }
            if let late { return try late.get() }
            if let outcome = held.outcomeIfRestIsLost { return outcome }
        }
    }

    private func rest<Reply: ConsoleReply>(of held: HeldReply<Reply>) async throws(SerialPortError) -> Reply.Outcome {
        try await readPieces { held.append($0) }
    }

    /// One that goes on where a reading of it was given up.
    private final class HeldReply<Reply: ConsoleReply>: Sendable {
        private let reply: Mutex<Reply>
        init(_ reply: Reply) { self.reply = Mutex(reply) }
        func append(_ bytes: [UInt8]) -> ConsoleFinding<Reply.Outcome>? { reply.withLock { $0.append(bytes) } }
        var outcomeIfRestIsLost: Reply.Outcome? { reply.withLock { $0.outcomeIfRestIsLost } }
    }

    private enum Found<Outcome: Sendable>: Sendable {
        case outcome(Outcome)
        case mayBeAll
    }

    /// Throws away what the board has said, and finds its prompt again unless it stands there. On return ``restarts`` counts up to now.
    public func makeReady() async throws(SerialPortError) {
        discardInput()
        while !isAtPrompt {
            try await findPrompt()
            // A restart may stand behind the prompt.
            discardInput()
        }
    }

    /// Goes on reading, without typing anything, until `body` returns something. Bytes after that are kept for the next call.
    public func read<Outcome: Sendable>(
        until body: (UInt8) -> Outcome?
    ) async throws(SerialPortError) -> Outcome {
        try await readPieces { bytes in
            for (index, byte) in bytes.enumerated() {
                if let outcome = body(byte) { return ConsoleFinding(outcome, used: index + 1) }
            }
            return nil
        }
    }

    /// The same by pieces as they come, which is faster.
    public func readPieces<Outcome: Sendable>(
        until body: ([UInt8]) -> ConsoleFinding<Outcome>?
    ) async throws(SerialPortError) -> Outcome {
        while true {
            let bytes = unread.isEmpty ? try await port.read() : unread
            unread = []
            let finding = body(bytes)
            for byte in bytes.prefix(finding?.used ?? bytes.count) { watch(byte) }
            if let finding {
                unread = Array(bytes.dropFirst(finding.used))
                return finding.outcome
            }
            // What had arrived already was no wait: a board that says more than is read here would let nobody else have a turn on a machine
            // of one core, and keep a deadline or Ctrl-C waiting for ever.
            await Task.yield()
            if Task.isCancelled {
                throw SerialPortError(.cancelled, path: port.path, message: "The operation was cancelled.")
            }
        }
    }

    /// Types an empty line until the prompt shows: at once if the board listens, or when it has booted. This also ends
    /// whatever half line stands in the board's buffer.
    ///
    /// What the board logs meanwhile changes nothing: the pauses count from the last empty line, and from the last prompt.
    public func findPrompt() async throws(SerialPortError) {
        discardInput()
        prompts = ConsoleTranscript(command: [])
        var pause = Duration.milliseconds(250)
        var typed = 0
        var shown = 0
        while shown == 0 {
            try await port.write([Self.carriageReturn])
            typed += 1
            // What was typed while the board was busy may still lie in its buffer. protocomm's console takes an empty line and
            // a command that it finds there together for one line, so each empty line is waited for, or for the end of a pause.
            while shown < typed, try await nextPrompt(within: shown == 0 ? pause : Self.quiet) { shown += 1 }
            // What was typed before the board's UART driver came up is lost, so type again; rarely, as each brings a prompt.
            pause = min(pause * 2, .seconds(1))
        }
        isAtPrompt = true
    }

    /// How long a board that has shown a prompt takes at most for one more empty line.
    private static let quiet = Duration.milliseconds(100)

    /// Forgets what has arrived, but for a restart.
    public func discardInput() {
        let bytes = unread + port.readAvailable()
        unread = []
        for byte in bytes { watch(byte) }
    }

    private func watch(_ byte: UInt8) {
        guard restartWatch.append(byte) else { return }
        restarts += 1
        isAtPrompt = false
    }

    private func nextPrompt(within pause: Duration) async throws(SerialPortError) -> Bool {
        let clock = clock
        let result = await withDeadline(pause, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(SerialPortError) in try await self.readToPrompt()
        }
        return try result?.get() != nil
    }

    private func readToPrompt() async throws(SerialPortError) {
        try await read { prompts.append($0) == .prompt ? () : nil }
    }

    /// Closes the port; a call that is waiting for it throws `closed`. Closing twice is harmless.
    public func close() async { await port.close() }
}

/// What a board says when it restarts.
package enum BootLoader {
    /// The ROM's first words on an ESP32-C3, and on the older chips.
    private static let words = [Array("ESP-ROM:".utf8), Array("rst:0x".utf8)]

    /// Whether a line, without terminal escapes, is one that only a board says that has just been reset.
    package static func says(_ line: [UInt8]) -> Bool { words.contains { line.starts(with: $0) } }
}

/// Notices a restart among all that a board says.
struct RestartWatch: Sendable {
    private var assembler = LineAssembler(limit: 256)

    /// Takes the next byte and tells whether it ends a line of the boot loader.
    mutating func append(_ byte: UInt8) -> Bool { assembler.append(byte).map(BootLoader.says) ?? false }
}
