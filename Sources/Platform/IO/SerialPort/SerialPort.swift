// SPDX-License-Identifier: Apache-2.0
import RainCore
import Synchronization

/// One serial port, opened exclusively and read all the time.
///
/// 115200 baud, eight data bits, no parity, one stop bit, all bytes unchanged. Linux asserts both modem lines on opening, and they stay so.
/// If only one of DTR and RTS is asserted, a board resets or stays in its boot loader. So this type moves the lines only on request
/// (``move(_:sleep:)``), and asks the kernel not to drop them on closing.
///
/// Received bytes are kept until they are read, up to ``inputCapacity``; beyond that the oldest bytes are dropped.
public final class SerialPort: Sendable {
    /// Bytes that are kept for a late reader: some seconds of a board's log at full speed.
    public static let inputCapacity = ByteStream.inputCapacity

    /// The path with which the port was opened, such as `/dev/ttyUSB0`.
    public let path: String
    private let stream: ByteStream
    private let lines: OpenTerminal
    private let heard: @Sendable ([UInt8]) -> Void
    private let hasGone = Atomic(false)
    private let loopback = Mutex(LoopbackWatch())

    private init(_ terminal: Terminal, heard: @escaping @Sendable ([UInt8]) -> Void) throws(SerialPortError) {
        path = terminal.path
        self.heard = heard
        let lines = OpenTerminal(terminal)
        self.lines = lines
        do throws(ByteStreamError) {
            stream = try .terminal(terminal.descriptor, peer: terminal.path) { hasUnsent in
                lines.forget()
                terminal.close(discardingOutput: hasUnsent || !terminal.empties())
            }
        } catch {
            throw SerialPortError(error)
        }
    }

    /// Opens a port by its path, following symbolic links.
    ///
    /// Throws `notFound`, `denied`, `busy` (another program holds it), `notATerminal` or `failed`.
    ///
    /// - Parameter heard: gets all bytes that any reader reads, before the reader gets them, for example to keep the board's log.
    public static func open(
        _ path: String, heard: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) throws(SerialPortError) -> SerialPort {
        try SerialPort(try Terminal.open(path), heard: heard)
    }

    /// Returns the next bytes, at least one. There is one reader at a time: a second reader replaces the first, which throws `cancelled`.
    ///
    /// Throws `lost` once the port is gone and all received bytes were read, `closed`, or `cancelled`.
    public func read() async throws(SerialPortError) -> [UInt8] {
        do throws(ByteStreamError) {
            let bytes = try await stream.read()
            take(bytes)
            return bytes
        } catch {
            throw noted(SerialPortError(error))
        }
    }

    /// Whether a read or a write has found the port gone: its cable was pulled, or the board has left the bus and may come back.
    public var isGone: Bool { hasGone.load(ordering: .relaxed) }

    private func noted(_ error: SerialPortError) -> SerialPortError {
        if error.code == .lost { hasGone.store(true, ordering: .relaxed) }
        return error
    }

    /// Returns the received bytes without waiting.
    public func readAvailable() -> [UInt8] {
        let bytes = stream.readAvailable()
        if !bytes.isEmpty { take(bytes) }
        return bytes
    }

    private func take(_ bytes: [UInt8]) {
        loopback.withLock { $0.heard(bytes) }
        heard(bytes)
    }

    /// Whether all bytes read so far are the bytes written, so that the port's two lines must be connected.
    public var isLoopback: Bool { loopback.withLock { $0.isLoopback } }

    /// Sets both lines in one call of the kernel. One after the other would be a reset, or the BOOT button.
    func setLines(dataTerminalReady: Bool, requestToSend: Bool) throws(SerialPortError) {
        try lines.set(dataTerminalReady: dataTerminalReady, requestToSend: requestToSend)
    }

    /// Passes all bytes to the kernel and waits while the kernel has no space. If the task is cancelled, the rest is not sent.
    public func write(_ bytes: [UInt8]) async throws(SerialPortError) {
        loopback.withLock { $0.sent(bytes) }
        do throws(ByteStreamError) { try await stream.write(bytes) } catch { throw noted(SerialPortError(error)) }
    }

    /// Restores the port's settings, closes it, and returns when other programs can open it. Closing twice is harmless.
    public func close() async { await stream.close() }
}

extension SerialPortError {
    /// Makes a serial port's error of a stream's error.
    init(_ error: ByteStreamError) {
        switch error.code {
        case .ended:
            self.init(
                .lost, path: error.peer,
                message: "The port is gone. Check the cable, and that the board has power.")
        case .lost:
            let reason = error.systemError.map(systemErrorText) ?? error.message
            self.init(.lost, path: error.peer, message: "The port does not accept any more bytes: \(reason).")
        case .closed: self.init(.closed, path: error.peer, message: "The port was closed.")
        case .cancelled: self.init(.cancelled, path: error.peer, message: error.message)
        default: self.init(.failed, path: error.peer, message: error.message)
        }
    }
}

/// A sequence of settings of a port's lines DTR and RTS.
///
/// Boards connect them to the chip's boot pin and its reset. Both or neither asserted has no effect. RTS alone holds the chip in reset, DTR
/// alone is the BOOT button (esptool's documentation, "Boot Mode Selection"). The C3's own USB reads them likewise.
public struct ModemLines: Sendable, Equatable {
    /// A setting of both lines, and its duration.
    public struct Step: Sendable, Equatable {
        /// DTR; asserted alone, it is the BOOT button.
        public var dataTerminalReady: Bool
        /// RTS; asserted alone, it is the reset.
        public var requestToSend: Bool
        /// How long the lines stay in this setting before the next step.
        public var pause: Duration

        public init(dataTerminalReady: Bool, requestToSend: Bool, pause: Duration) {
            self.dataTerminalReady = dataTerminalReady
            self.requestToSend = requestToSend
            self.pause = pause
        }
    }

    /// The steps in their order.
    public var steps: [Step]

    public init(_ steps: [Step]) { self.steps = steps }

    /// Restarts the application, as esptool's `HardReset` does. DTR is released before RTS is pulsed; otherwise the chip would wait for
    /// firmware.
    public static let restart = ModemLines([
        Step(dataTerminalReady: false, requestToSend: true, pause: .milliseconds(100)),
        Step(dataTerminalReady: false, requestToSend: false, pause: .zero),
    ])

    /// The same for the chip's own USB (303a:1001), which disappears and comes back during the restart.
    public static let restartOverUSB = ModemLines([
        Step(dataTerminalReady: false, requestToSend: true, pause: .milliseconds(200)),
        Step(dataTerminalReady: false, requestToSend: false, pause: .milliseconds(200)),
    ])
}

extension SerialPort {
    /// Moves the lines. No other method moves them.
    ///
    /// Throws `failed` if the port has no such lines, as with a pty, and `closed`.
    ///
    /// - Parameter sleep: waits between the steps.
    public func move(
        _ lines: ModemLines, sleep: @Sendable (Duration) async throws -> Void
    ) async throws(SerialPortError) {
        for step in lines.steps {
            try setLines(dataTerminalReady: step.dataTerminalReady, requestToSend: step.requestToSend)
            guard step.pause > .zero else { continue }
            do {
                try await sleep(step.pause)
            } catch {
                // Otherwise a chip that is held in reset would stay in reset.
                try setLines(dataTerminalReady: false, requestToSend: false)
                throw SerialPortError(.cancelled, path: path, message: "The operation was cancelled.")
            }
        }
    }
}

/// Why a port could not be used.
public struct SerialPortError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it. Its description is the name used here, such as `notATerminal`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String { case notFound, denied, busy, notATerminal, lost, closed, cancelled, failed }
        private let value: Value
        public var description: String { value.rawValue }

        /// The path does not exist.
        public static let notFound = Code(value: .notFound)
        /// The file system does not let this user open it.
        public static let denied = Code(value: .denied)
        /// Another program holds the port.
        public static let busy = Code(value: .busy)
        /// The path is not a serial port.
        public static let notATerminal = Code(value: .notATerminal)
        /// The cable or the adapter is gone.
        public static let lost = Code(value: .lost)
        /// This side closed the port.
        public static let closed = Code(value: .closed)
        /// The task was cancelled, or another reader has replaced this one.
        public static let cancelled = Code(value: .cancelled)
        /// The system refused for another reason, which the message names.
        public static let failed = Code(value: .failed)
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// The port's path, such as `/dev/ttyUSB0`.
    public var path: String
    /// What happened and what to try.
    public var message: String

    public init(_ code: Code, path: String, message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    public var description: String { "\(code): \(message) (\(path))" }
}

extension SerialPortError {
    /// The opener finds the other program (``SerialPort/holders(of:in:)``): that takes some milliseconds.
    static func busy(_ path: String) -> SerialPortError {
        SerialPortError(
            .busy, path: path,
            message: "Another program is using this port. Close that program, such as a serial monitor, and try again.")
    }
}

/// Notices a port whose two lines are connected: all written bytes come back, and no others.
///
/// A console also echoes typed bytes, but answers a CR with CR LF and a prompt. Bytes are counted and not compared in order, because two
/// tasks may write to one port.
public struct LoopbackWatch: Sendable {
    /// This many bytes are not a coincidence.
    static let significantLength = 8

    /// How often each byte was written and has not come back.
    private var missing = [Int](repeating: 0, count: 256)
    private var returned = 0
    private var isOther = false

    public init() {}

    /// Takes bytes before they are written.
    public mutating func sent(_ bytes: [UInt8]) {
        guard !isOther else { return }
        for byte in bytes { missing[Int(byte)] += 1 }
    }

    /// Takes bytes that were read.
    public mutating func heard(_ bytes: [UInt8]) {
        guard !isOther else { return }
        for byte in bytes {
            missing[Int(byte)] -= 1
            returned += 1
            if missing[Int(byte)] < 0 { isOther = true }
        }
    }

    /// Whether enough of the written bytes came back, and no others.
    public var isLoopback: Bool { !isOther && returned >= Self.significantLength }
}
