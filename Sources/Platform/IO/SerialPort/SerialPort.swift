// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One serial port, held exclusively and read all the time.
///
/// 115200 baud, eight data bits, no parity, one stop bit, every byte passed through untouched. The modem lines stay as Linux
/// sets them on opening, both asserted: boards read "one of DTR and RTS without the other" as *reset* or *stay in the boot
/// loader*, so this type moves them only when asked to (``move(_:sleep:)``), and asks the kernel not to drop them on closing either.
///
/// What arrives while nobody reads is kept, up to ``inputCapacity``; beyond that the oldest bytes go.
public final class SerialPort: Sendable {
    /// Bytes kept for a reader that is late: some seconds of a board's log at full speed.
    public static let inputCapacity = ByteStream.inputCapacity

    /// The path that the port was opened by, such as `/dev/ttyUSB0`.
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
    /// - Parameter heard: is handed everything that is read, by whoever reads it, before the reader: a place to keep the board's log.
    public static func open(
        _ path: String, heard: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) throws(SerialPortError) -> SerialPort {
        try SerialPort(try Terminal.open(path), heard: heard)
    }

    /// The next bytes, at least one. One reader at a time: a second one takes the first one's place, which is then `cancelled`.
    ///
    /// Throws `lost` once the port is gone and everything that had arrived was read, `closed`, or `cancelled`.
    public func read() async throws(SerialPortError) -> [UInt8] {
        do throws(ByteStreamError) {
            let bytes = try await stream.read()
            take(bytes)
            return bytes
        } catch {
            throw noted(SerialPortError(error))
        }
    }

    /// Whether a read or a write has found that the port went away: its cable was pulled, or the board has left the bus to come back.
    public var isGone: Bool { hasGone.load(ordering: .relaxed) }

    private func noted(_ error: SerialPortError) -> SerialPortError {
        if error.code == .lost { hasGone.store(true, ordering: .relaxed) }
        return error
    }

    /// Whatever has arrived, without waiting.
    public func readAvailable() -> [UInt8] {
        let bytes = stream.readAvailable()
        if !bytes.isEmpty { take(bytes) }
        return bytes
    }

    private func take(_ bytes: [UInt8]) {
        loopback.withLock { $0.heard(bytes) }
        heard(bytes)
    }

    /// Whether all that was read so far is what was written, so that nothing but a connection of both lines can be there.
    public var isLoopback: Bool { loopback.withLock { $0.isLoopback } }

    /// Sets both lines in one call of the kernel's: one after the other would be a reset, or the BOOT button.
    func setLines(dataTerminalReady: Bool, requestToSend: Bool) throws(SerialPortError) {
        try lines.set(dataTerminalReady: dataTerminalReady, requestToSend: requestToSend)
    }

    /// Hands all bytes to the kernel, waiting while it has no room. Cancelling leaves the rest unsent.
    public func write(_ bytes: [UInt8]) async throws(SerialPortError) {
        loopback.withLock { $0.sent(bytes) }
        do throws(ByteStreamError) { try await stream.write(bytes) } catch { throw noted(SerialPortError(error)) }
    }

    /// Gives the port back with the settings that it had, and returns when others can open it. Closing twice is harmless.
    public func close() async { await stream.close() }
}

extension SerialPortError {
    /// What became of the stream on a terminal, in terms of its cable.
    init(_ error: ByteStreamError) {
        switch error.code {
        case .ended:
            self.init(
                .lost, path: error.peer,
                message: "The port is gone. Check the cable, and that the board has power.")
        case .lost:
            let reason = error.systemError.map(errorText) ?? error.message
            self.init(.lost, path: error.peer, message: "The port does not take any more bytes: \(reason).")
        case .closed: self.init(.closed, path: error.peer, message: "The port was closed.")
        case .cancelled: self.init(.cancelled, path: error.peer, message: error.message)
        default: self.init(.failed, path: error.peer, message: error.message)
        }
    }
}
