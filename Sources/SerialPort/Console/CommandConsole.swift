import Deadlines

/// What one typed line is expected to bring back.
public protocol ConsoleReply: Sendable {
    associatedtype Outcome: Sendable
    /// The line to type, without CR.
    var command: [UInt8] { get }
    /// Takes the next byte from the console and returns the outcome once it is decided.
    mutating func append(_ byte: UInt8) -> Outcome?
}

/// A board's command console on a serial port: types lines and waits for what they bring.
public actor CommandConsole {
    /// Lines end with CR alone: a LF after it would begin the next line (`protocomm_console.c` knows no LF).
    private static let carriageReturn: UInt8 = 0x0D

    public nonisolated let port: SerialPort
    private let clock: any Clock<Duration>
    /// Bytes that were read after the outcome of a line was decided.
    private var unread: [UInt8] = []
    private var isAtPrompt = false

    public init(port: SerialPort, clock: any Clock<Duration> = ContinuousClock()) {
        self.port = port
        self.clock = clock
    }

    /// Types the reply's line and returns its outcome. Has no deadline of its own: cancel the task.
    ///
    /// What the board said before is thrown away. After anything but a decided outcome, the next call first finds the prompt
    /// again, as the first one does.
    public func run<Reply: ConsoleReply>(_ reply: Reply) async throws(SerialPortError) -> Reply.Outcome {
        if !isAtPrompt { try await findPrompt() }
        discardInput()
        isAtPrompt = false
        try await port.write(reply.command + [Self.carriageReturn])
        var reply = reply
        let outcome = try await read { reply.append($0) }
        isAtPrompt = true
        return outcome
    }

    /// Goes on reading, without typing anything, until `body` returns something. Bytes after that are kept for the next call.
    public func read<Outcome: Sendable>(
        until body: (UInt8) -> Outcome?
    ) async throws(SerialPortError) -> Outcome {
        while true {
            let bytes = unread.isEmpty ? try await port.read() : unread
            unread = []
            for (index, byte) in bytes.enumerated() {
                guard let outcome = body(byte) else { continue }
                unread = Array(bytes[(index + 1)...])
                return outcome
            }
        }
    }

    /// Types an empty line until the prompt shows: at once if the board listens, or when it has booted. This also ends
    /// whatever half line stands in the board's buffer.
    public func findPrompt() async throws(SerialPortError) {
        discardInput()
        var transcript = ConsoleTranscript(command: [])
        var pause = Duration.milliseconds(250)
        var typed = 0
        var prompts = 0
        while true {
            try await port.write([Self.carriageReturn])
            typed += 1
            while let bytes = try await readOrTimeOut(after: prompts == 0 ? pause : Self.quiet) {
                for byte in bytes where transcript.append(byte) == .prompt { prompts += 1 }
                if prompts >= typed { break }
            }
            // What was typed while the board was busy may still lie in its buffer. protocomm's console takes an empty line and
            // a command that it finds there together for one line, so each empty line is waited for, or for silence.
            guard prompts == 0 else {
                isAtPrompt = true
                return
            }
            // What was typed before the board's UART driver came up is lost, so type again; rarely, as each brings a prompt.
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// How long a board that has shown a prompt takes at most for one more empty line.
    private static let quiet = Duration.milliseconds(100)

    /// Forgets what has arrived.
    public func discardInput() {
        unread = []
        _ = port.readAvailable()
    }

    public func close() async { await port.close() }

    private func readOrTimeOut(after pause: Duration) async throws(SerialPortError) -> [UInt8]? {
        let (port, clock) = (port, clock)
        let result = await withDeadline(pause, sleep: { try await clock.sleep(for: $0) }) {
            () async throws(SerialPortError) in try await port.read()
        }
        return try result?.get()
    }
}
