// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// The far end of a pty pair, where the board sits. Its near end is a serial port to whoever opens ``path``.
public final class PseudoTerminal: Sendable {
    public let path: String
    private let master: Mutex<Int32>
    /// The near end, held after the far end is closed. See ``unplug()``.
    private let held = Mutex<Int32>(-1)

    public init() throws {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var locked: Int32 = 0
        var number: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which Glibc's module map does not carry: unlockpt and ptsname.
        guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &locked) == 0,
            ioctl(descriptor, 0x8004_5430, &number) == 0
        else { throw Failure(code: errno) }
        path = "/dev/pts/\(number)"
        master = Mutex(descriptor)
    }

    public struct Failure: Error { public var code: Int32 }

    deinit {
        unplug()
        held.withLock { _ = Glibc.close($0) }
    }

    public func send(_ bytes: [UInt8]) async {
        var rest = bytes[...]
        while !rest.isEmpty, !Task.isCancelled {
            let count = master.withLock { descriptor in
                rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            }
            if count > 0 { rest = rest.dropFirst(count) } else if count < 0, errno != EAGAIN { return }
            if count < 0 { await pause() }
        }
    }

    public func send(_ text: String) async { await send(Array(text.utf8)) }

    /// Waits for at least one byte; nothing means that the near end is closed, or that the task was cancelled.
    public func receive() async -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !Task.isCancelled {
            let count = master.withLock { read($0, &buffer, buffer.count) }
            if count > 0 { return Array(buffer[..<count]) }
            // EIO: nobody has the near end open at the moment.
            if count < 0, errno != EAGAIN, errno != EIO { return [] }
            await pause()
        }
        return []
    }

    /// What has come by now, without waiting for it.
    public var received: [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = master.withLock { read($0, &buffer, buffer.count) }
        return Array(buffer[..<max(count, 0)])
    }

    /// Blocking would take one of the few threads that all tests share.
    private func pause() async { try? await Task.sleep(for: .milliseconds(1)) }

    /// Sets the size that programs at the near end see.
    public func setSize(columns: Int, rows: Int) {
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        // TIOCSWINSZ
        _ = master.withLock { ioctl($0, 0x5414, &size) }
    }

    public var settings: termios {
        master.withLock {
            var settings = termios()
            tcgetattr($0, &settings)
            return settings
        }
    }

    /// What is sent before the near end was made raw does not come back: a board at the end of a cable has no such echo.
    public func switchOffEcho() {
        master.withLock {
            var settings = termios()
            tcgetattr($0, &settings)
            settings.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr($0, TCSANOW, &settings)
        }
    }

    /// Closes the far end, so that the near end ends for everyone.
    ///
    /// The kernel gives the next pty of the machine the lowest free number. A program that waits for ``path`` to come back would then
    /// open another test's port. So the near end stays open here, which keeps the number taken.
    public func unplug() {
        master.withLock { master in
            guard master >= 0 else { return }
            held.withLock { $0 = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK) }
            Glibc.close(master)
            master = -1
        }
    }
}
