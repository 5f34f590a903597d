// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One typed line, and the parser of the board's reply to it.
public protocol ConsoleReply: Sendable {
    /// The result of the line once it is known: for example an answer or a refusal.
    associatedtype Outcome: Sendable
    /// The line to type, without CR.
    var command: [UInt8] { get }
    /// Takes the next byte from the console. Returns the outcome once it is known.
    mutating func append(_ byte: UInt8) -> Outcome?
    /// Takes the next bytes, up to the one that decides the outcome.
    mutating func append(_ bytes: [UInt8]) -> ConsoleFinding<Outcome>?
    /// The outcome if no more bytes come for a moment: a prompt came without the echo, or an answer came without a prompt, because bytes
    /// got lost. Nil if more bytes must come.
    var outcomeIfRestIsLost: Outcome? { get }
    /// Whether the console is back at its prompt after that outcome. It is not if the board has restarted.
    static func isAtPrompt(after outcome: Outcome) -> Bool
}

/// An outcome found in some bytes, and how many of the bytes led to it.
public struct ConsoleFinding<Outcome: Sendable>: Sendable {
    /// The outcome.
    public var outcome: Outcome
    /// The number of bytes that led to the outcome. Later bytes belong to the next call.
    public var used: Int

    public init(_ outcome: Outcome, used: Int) {
        self.outcome = outcome
        self.used = used
    }
}

extension ConsoleReply {
    /// Each conforming type gets its own copy: a log may come at 3 MB/s, which is too fast for generic code byte by byte.
    @inlinable public mutating func append(_ bytes: [UInt8]) -> ConsoleFinding<Outcome>? {
        for (index, byte) in bytes.enumerated() {
            if let outcome = append(byte) { return ConsoleFinding(outcome, used: index + 1) }
        }
        return nil
    }

    public var outcomeIfRestIsLost: Outcome? { nil }
    public static func isAtPrompt(after outcome: Outcome) -> Bool { true }
}

/// A board's command console on a serial port: types lines and waits for the replies.
public actor CommandConsole {
    /// Lines end with CR alone. An LF after it would begin the next line (`protocomm_console.c` does not know LF).
    private static let carriageReturn: UInt8 = 0x0D

    /// The port of the console. Other readers of this port take the console's bytes.
    public nonisolated let port: SerialPort
    private let clock: any Clock<Duration>
    /// Bytes that were read after the outcome of a line was decided.
    private var unread: [UInt8] = []
    private var isAtPrompt = false
    private var restartWatch = RestartWatch()
    private var prompts = ConsoleTranscript(command: [])
    /// How often the board has restarted, according to all bytes that were read or discarded so far.
    public private(set) var restarts = 0

    public init(port: SerialPort, clock: any Clock<Duration> = ContinuousClock()) {
        self.port = port
        self.clock = clock
    }

    /// Types the reply's line and returns its outcome. It has no deadline: cancel the task to end it.
    ///
    /// Earlier output of the board is discarded. The first call finds the prompt before it types. So does the next call after a restart, or
    /// after a call without an outcome.
    public func run<Reply: ConsoleReply>(_ reply: Reply) async throws(SerialPortError) -> Reply.Outcome {
        try await run(reply, atEnd: { _ in })
    }

    /// Does the same. At the end of the wait for the reply, `atEnd` receives the reply with the bytes so far, also if the wait fails.
    package func run<Reply: ConsoleReply>(
        _ reply: Reply, atEnd: @Sendable (Reply) -> Void
    ) async throws(SerialPortError) -> Reply.Outcome {
        try await makeReady()
        isAtPrompt = false
        try await port.write(reply.command + [Self.carriageReturn])
        let held = HeldReply(reply)
        defer { atEnd(held.current) }
        let outcome = try await outcome(of: held)
        isAtPrompt = Reply.isAtPrompt(after: outcome)
        return outcome
    }

    /// A console echoes at once what is typed at its prompt, and prints its prompt right after an answer.
    private static let timeForRest = Duration.seconds(1)

    private func outcome<Reply: ConsoleReply>(
        of held: HeldReply<Reply>
    ) async throws(SerialPortError) -> Reply.Outcome {
        while true {
            let early = try await readPieces { bytes -> ConsoleFinding<Found<Reply.Outcome>>? in
                if let found = held.append(bytes) { return ConsoleFinding(.outcome(found.outcome), used: found.used) }
                return held.outcomeIfRestIsLost == nil ? nil : ConsoleFinding(.mayBeAll, used: bytes.count)
            }
            if case .outcome(let outcome) = early { return outcome }
            // It may be the prompt of an earlier line, or a line that only looks like the answer.
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

    /// A reply whose parsing continues after a read was given up.
    private final class HeldReply<Reply: ConsoleReply>: Sendable {
        private let reply: Mutex<Reply>
        init(_ reply: Reply) { self.reply = Mutex(reply) }
        func append(_ bytes: [UInt8]) -> ConsoleFinding<Reply.Outcome>? { reply.withLock { $0.append(bytes) } }
        var outcomeIfRestIsLost: Reply.Outcome? { reply.withLock { $0.outcomeIfRestIsLost } }
        var current: Reply { reply.withLock { $0 } }
    }

    private enum Found<Outcome: Sendable>: Sendable {
        case outcome(Outcome)
        case mayBeAll
    }

    /// Discards the board's earlier output and finds its prompt, unless the console is already there. On return, ``restarts`` is current.
    public func makeReady() async throws(SerialPortError) {
        discardInput()
        while !isAtPrompt {
            try await findPrompt()
            // A restart may follow the prompt.
            discardInput()
        }
    }

    /// Reads without typing anything until `body` returns something. Later bytes are kept for the next call.
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

    /// Reads without typing anything, a piece at a time, which is faster.
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
            // Bytes that had already arrived did not make this task wait. On a machine with one core, a board that prints faster than this
            // loop reads would keep other tasks, a deadline or Ctrl-C waiting for ever.
            await Task.yield()
            if Task.isCancelled {
                throw SerialPortError(.cancelled, path: port.path, message: "The operation was cancelled.")
            }
        }
    }

    /// Types an empty line until the prompt appears: at once if the board listens, or when it has booted. This also ends an unfinished line
    /// in the board's buffer.
    ///
    /// Log lines of the board do not matter: the pauses count from the last empty line, and from the last prompt.
    public func findPrompt() async throws(SerialPortError) {
        discardInput()
        prompts = ConsoleTranscript(command: [])
        var pause = Duration.milliseconds(250)
        var typed = 0
        var shown = 0
        while shown == 0 {
            try await port.write([Self.carriageReturn])
            typed += 1
            // Lines that were typed while the board was busy may still be in its buffer. protocomm's console reads an empty line and a
            // command in its buffer as one line. So this waits for the prompt of each empty line, or for the end of a pause.
            while shown < typed, try await nextPrompt(within: shown == 0 ? pause : Self.quiet) { shown += 1 }
            // Lines that were typed before the board's UART driver started are lost, so type again; rarely, as each line brings a prompt.
            pause = min(pause * 2, .seconds(1))
        }
        isAtPrompt = true
    }

    /// How long a board that has shown a prompt takes for one more empty line (maximum).
    private static let quiet = Duration.milliseconds(100)

    /// Discards the received bytes, but counts restarts in them.
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

    /// Closes the port. A pending call throws `closed`. Closing twice is harmless.
    public func close() async { await port.close() }
}

/// Recognises the output of a board that restarts.
package enum BootLoader {
    /// The first output of the ROM on an ESP32-C3, and on the older chips.
    private static let words = [Array("ESP-ROM:".utf8), Array("rst:0x".utf8)]

    /// Whether a board prints this line (without terminal escapes) only after a reset.
    package static func says(_ line: [UInt8]) -> Bool { words.contains { line.starts(with: $0) } }
}

/// Notices a restart in a board's output.
struct RestartWatch: Sendable {
    private var assembler = LineAssembler(limit: 256)

    /// Takes the next byte. Returns whether it ends a line of the boot loader.
    mutating func append(_ byte: UInt8) -> Bool { assembler.append(byte).map(BootLoader.says) ?? false }
}
