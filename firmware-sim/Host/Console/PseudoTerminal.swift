// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO

/// The board's end of a pty, with a symbolic link to the other end, where a client finds its serial port.
final class PseudoTerminal {
    let descriptor: Int32
    let path: String
    private let link: String

    init(link: String) throws {
        self.link = link
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var locked: Int32 = 0
        var number: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which the module map of Glibc does not carry.
        guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &locked) == 0,
            ioctl(descriptor, 0x8004_5430, &number) == 0
        else { throw StartError("no pseudo terminal: \(lastSystemError())") }
        path = "/dev/pts/\(number)"
        // The kernel neither echoes nor translates: the board does both.
        var settings = termios()
        tcgetattr(descriptor, &settings)
        cfmakeraw(&settings)
        tcsetattr(descriptor, TCSANOW, &settings)
        // Opened and closed once, so that from now on "hung up" means that no client has it open.
        close(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC))
        try makeLink()
    }

    var isOpen: Bool {
        var state = [PollEntry(descriptor, for: [])]
        if case .failed = pollDescriptors(&state, until: .after(.zero)) { return false }
        return !state[0].found.contains(.hungUp)
    }

    /// Takes the link away, unless it is someone else's by now.
    func unplug() {
        if Self.target(of: link) == path { unlink(link) }
        close(descriptor)
    }

    /// A link that an earlier run could not remove is replaced; anything else of that name is left alone.
    private func makeLink() throws {
        if let target = Self.target(of: link) {
            guard target.hasPrefix("/dev/pts/") else {
                close(descriptor)
                throw StartError(
                    "\(link) is a link to \(target), which no console of a simulated board is: remove it, or give --console another name"
                )
            }
            unlink(link)
        }
        guard symlink(path, link) == 0 else {
            let reason = lastSystemError()
            close(descriptor)
            throw StartError("\(link) cannot be made a link to \(path): \(reason)")
        }
    }

    private static func target(of link: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = buffer.withUnsafeMutableBytes { bytes in
            readlink(link, bytes.bindMemory(to: CChar.self).baseAddress!, bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
