// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import Synchronization

/// A terminal's file descriptor in raw mode, opened exclusively, and the settings to restore. One byte stream owns it.
struct Terminal: Sendable {
    let path: String
    let descriptor: Int32
    private let original: Settings

    /// `@unchecked`: a plain C structure that never changes.
    private struct Settings: @unchecked Sendable { var termios: termios }

    static func open(_ path: String) throws(SerialPortError) -> Terminal {
        // Without O_NONBLOCK, opening would wait for a carrier signal, which a board never sends.
        let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw openingError(errno, path) }
        do throws(SerialPortError) {
            return try Terminal(path: path, descriptor: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private init(path: String, descriptor: Int32) throws(SerialPortError) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            throw SerialPortError(.notATerminal, path: path, message: "\(path) is not a serial port.")
        }
        // Two locks, because `screen`, `minicom` and esptool respect one or the other. flock works among programs that ask for it. With
        // TIOCEXCL the kernel itself refuses other programs (but not root). It lasts until the terminal's last descriptor is closed. The
        // other end of a pty may hold such a descriptor, so a killed process would leave the pty busy for all programs.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw .busy(path)
        }
        if !Self.isPseudoTerminal(descriptor) { _ = ioctl(descriptor, UInt(TIOCEXCL), 0) }
        self.path = path
        self.descriptor = descriptor
        original = Settings(termios: settings)

        cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        settings.c_cflag &= ~tcflag_t(HUPCL) & ~tcflag_t(CSTOPB) & ~tcflag_t(CRTSCTS)
        cfsetispeed(&settings, speed_t(B115200))
        cfsetospeed(&settings, speed_t(B115200))
        guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else {
            throw SerialPortError(
                .failed, path: path, message: "The port does not support 115200 baud, 8N1: \(systemErrorText(errno)).")
        }
    }

    /// Linux gives the majors 136 to 143 to the near ends of ptys (`Documentation/admin-guide/devices.txt`).
    static func isPseudoTerminal(_ descriptor: Int32) -> Bool {
        var status = stat()
        // The major is twelve bits of a device's number, from the eighth on (glibc). Higher bits of the major are 0 here.
        return fstat(descriptor, &status) == 0 && (136...143).contains(status.st_rdev >> 8 & 0xFFF)
    }

    /// Restores the settings and closes. Moving DTR and RTS would reset many boards, so HUPCL stays cleared and CLOCAL set.
    func close(discardingOutput: Bool) {
        // Closing waits up to 30 s for unsent bytes (the kernel's `closing_wait`), and nothing can shorten that.
        if discardingOutput { tcflush(descriptor, TCOFLUSH) }
        var settings = original.termios
        settings.c_cflag &= ~tcflag_t(HUPCL)
        settings.c_cflag |= tcflag_t(CLOCAL)
        _ = tcsetattr(descriptor, TCSANOW, &settings)
        _ = ioctl(descriptor, UInt(TIOCNXCL), 0)
        _ = flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }

    /// Waits until the device has accepted all bytes that the kernel holds for it. Returns false if it accepts none, as with an ESP32-C3 on
    /// its own USB whose firmware does not read.
    func empties() -> Bool {
        Self.empties(
            held: {
                var count: Int32 = 0
                return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
            },
            pause: { milliseconds in
                var nothing: [PollEntry] = []
                _ = pollDescriptors(&nothing, until: .after(milliseconds: Int64(milliseconds)))
            })
    }

    /// - Parameters:
    ///   - held: how many bytes the kernel still holds.
    ///   - pause: waits the given number of milliseconds. In total at most 255, in which 115,200 baud carry ten of the longest lines.
    static func empties(held: () -> Int32, pause: (Int32) -> Void) -> Bool {
        var milliseconds: Int32 = 1
        while held() > 0 {
            guard milliseconds <= 128 else { return false }
            pause(milliseconds)
            milliseconds *= 2
        }
        return true
    }

    private static func openingError(_ code: Int32, _ path: String) -> SerialPortError {
        switch code {
        case ENOENT, ENXIO, ENODEV, ENOTDIR:
            SerialPortError(
                .notFound, path: path,
                message: "The port \(ShownText.withoutUserInfo(path)) does not exist. Is the board plugged in?")
        case EACCES, EPERM:
            SerialPortError(
                .denied, path: path,
                message: PortRights(of: path)?.advice
                    ?? "This user may not open the port, and cannot see the port's group: a folder on its path is not accessible."
            )
        case EBUSY: .busy(path)
        case EISDIR: SerialPortError(.notATerminal, path: path, message: "\(path) is a folder, not a serial port.")
        default:
            SerialPortError(.failed, path: path, message: "The port could not be opened: \(systemErrorText(code)).")
        }
    }
}

/// The lines of a terminal while it is open. Afterwards its descriptor's number may belong to another file.
final class OpenTerminal: Sendable {
    private let path: String
    private let descriptor: Mutex<Int32?>

    init(_ terminal: Terminal) {
        path = terminal.path
        descriptor = Mutex(terminal.descriptor)
    }

    func forget() { descriptor.withLock { $0 = nil } }

    func set(dataTerminalReady: Bool, requestToSend: Bool) throws(SerialPortError) {
        let failure = descriptor.withLock { descriptor -> SerialPortError? in
            guard let descriptor else {
                return SerialPortError(.closed, path: path, message: "The port was closed.")
            }
            var bits = (dataTerminalReady ? TIOCM_DTR : 0) | (requestToSend ? TIOCM_RTS : 0)
            guard ioctl(descriptor, UInt(TIOCMSET), &bits) != 0 else { return nil }
            let code = errno
            if Terminal.isPseudoTerminal(descriptor),
                SimulatedLines.set(path, dataTerminalReady: dataTerminalReady, requestToSend: requestToSend)
            {
                return nil
            }
            return SerialPortError(
                .failed, path: path, message: "The port cannot set its lines DTR and RTS: \(systemErrorText(code)).")
        }
        if let failure { throw failure }
    }
}

/// The lines of a simulated board. A pseudo-terminal has none, so the simulator reads them from a FIFO beside its port: `.NAME.lines`.
enum SimulatedLines {
    /// Writes both lines as one digit: 0 for none, 1 for DTR, 2 for RTS, 3 for both. Returns false if the port has no such FIFO of this
    /// user, or if nobody reads it.
    static func set(_ port: String, dataTerminalReady: Bool, requestToSend: Bool) -> Bool {
        let name = port.split(separator: "/").last ?? ""
        let descriptor = open(
            "\(port.dropLast(name.count)).\(name).lines", O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO, status.st_uid == geteuid() else {
            return false
        }
        var digit = UInt8(ascii: "0") + (dataTerminalReady ? 1 : 0) + (requestToSend ? 2 : 0)
        return write(descriptor, &digit, 1) == 1
    }
}
