/// One serial port, held exclusively and read all the time.
///
/// 115200 baud, eight data bits, no parity, one stop bit, every byte passed through untouched. The modem lines stay as Linux
/// sets them on opening, both asserted: boards read "one of DTR and RTS without the other" as *reset* or *stay in the boot
/// loader*, so this type never moves them, and asks the kernel not to drop them on closing either.
///
/// What arrives while nobody reads is kept, up to ``inputCapacity``; beyond that the oldest bytes go. One thread serves the
/// port with `poll(2)`: that needs nothing but libc, while Dispatch would bring its own library into static executables for
/// one file descriptor.
public final class SerialPort: Sendable {
    /// Bytes kept for a reader that is late: some seconds of a board's log at full speed.
    public static let inputCapacity = 1 << 16

    public let path: String
    private let loop: PortLoop

    private init(path: String, loop: PortLoop) {
        self.path = path
        self.loop = loop
    }

    deinit { loop.requestClose() }

    /// Opens a port by its path, following symbolic links.
    ///
    /// Throws `notFound`, `denied`, `busy` (another program holds it), `notATerminal` or `failed`.
    public static func open(_ path: String) throws(SerialPortError) -> SerialPort {
        let terminal = try Terminal.open(path)
        return SerialPort(path: path, loop: try PortLoop.start(terminal))
    }

    /// The next bytes, at least one. One reader at a time: a second one takes the first one's place, which is then `cancelled`.
    ///
    /// Throws `lost` once the port is gone and everything that had arrived was read, `closed`, or `cancelled`.
    public func read() async throws(SerialPortError) -> [UInt8] { try await loop.read() }

    /// Whatever has arrived, without waiting.
    public func readAvailable() -> [UInt8] { loop.readAvailable() }

    /// Hands all bytes to the kernel, waiting while it has no room. Cancelling leaves the rest unsent.
    public func write(_ bytes: [UInt8]) async throws(SerialPortError) { try await loop.write(bytes) }

    /// Gives the port back with the settings that it had, and returns when others can open it. Closing twice is harmless.
    public func close() async { await loop.close() }
}
