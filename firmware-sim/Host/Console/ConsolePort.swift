// SPDX-License-Identifier: Apache-2.0
import RainCore
import ArgumentParser
import Glibc
import RainIO

/// The place where a client finds the board's console.
enum ConsolePort {
    /// A symbolic link of that path, always the same.
    case link(String)
    case usb(USBDevice)

    /// Returns the link's present path.
    func plug() throws -> String {
        switch self {
        case .link(let path): path
        case .usb(let device): try device.plug()
        }
    }

    func unplug() {
        if case .usb(let device) = self { device.unplug() }
    }

    /// Whether the port disappears while the chip restarts.
    var leavesBusOnReset: Bool {
        if case .usb(let device) = self { device.isChipsOwn } else { false }
    }

    /// Removes the device at the end.
    func remove() {
        if case .usb(let device) = self { device.remove() }
    }
}

extension FirmwareSim {
    func consolePort(of board: Board) throws -> ConsolePort {
        guard let kind = listening.usb, let root = listening.systemRoot else { return .link(listening.console ?? "") }
        let digits = Array(board.identity.macAddress)
        let pairs = stride(from: 0, to: digits.count, by: 2).map { String(digits[$0..<min($0 + 2, digits.count)]) }
        return .usb(try USBDevice(kind, root: root, serialNumber: pairs.joined(separator: ":")))
    }
}

/// The board's end of a pty, with a symbolic link to the other end, where a client finds its serial port.
final class PseudoTerminal {
    let descriptor: Int32
    private let path: String
    private let link: String

    init(link: String) throws {
        self.link = link
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var locked: Int32 = 0
        var number: Int32 = 0
        // TIOCSPTLCK and TIOCGPTN, which the module map of Glibc does not have.
        guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &locked) == 0,
            ioctl(descriptor, 0x8004_5430, &number) == 0
        else { throw StartError("no pseudo terminal: \(systemErrorText(errno))") }
        path = "/dev/pts/\(number)"
        // The kernel neither echoes nor translates: the board does both.
        var settings = termios()
        tcgetattr(descriptor, &settings)
        cfmakeraw(&settings)
        tcsetattr(descriptor, TCSANOW, &settings)
        // It is opened and closed once. From then on "hung up" means that no client has it open.
        close(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC))
        try makeLink()
    }

    var isOpen: Bool {
        var state = [PollEntry(descriptor, for: [])]
        if case .failed = pollDescriptors(&state, until: .after(.zero)) { return false }
        return !state[0].found.contains(.hungUp)
    }

    /// Removes the link, unless it points to another port by now.
    func unplug() {
        if Self.target(of: link) == path { unlink(link) }
        close(descriptor)
    }

    /// A link that an earlier run could not remove is replaced. Any other file of that name is kept.
    private func makeLink() throws {
        if let target = Self.target(of: link) {
            guard target.hasPrefix("/dev/pts/") else {
                close(descriptor)
                throw StartError(
                    "\(link) is a link to \(target), which is not the console of a simulated board: remove it, or give --console another name"
                )
            }
            unlink(link)
        }
        guard symlink(path, link) == 0 else {
            let reason = systemErrorText(errno)
            close(descriptor)
            throw StartError("the link \(link) to \(path) cannot be created: \(reason)")
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

/// The kind of USB device of a board's port.
enum USBOption: String, ExpressibleByArgument, CaseIterable {
    /// The chip's own USB.
    case native
    /// A CP2102N between the computer and the chip's UART.
    case bridge
}

/// A board on USB as Linux shows it: the device in sysfs, and a name below `/dev`. Both are in a folder that represents the system's root.
final class USBDevice {
    private let root: String
    private let kind: USBOption
    var isChipsOwn: Bool { kind == .native }
    /// The device's folder in sysfs, such as `…/usb1/1-1`: the number is that of the socket.
    private let folder: String
    private let socket: String
    private var number: Int?
    private var lastNumber: Int?

    /// - Parameters:
    ///   - root: is created if it is missing; several boards may be in it.
    ///   - serialNumber: the chip's own USB has its MAC address.
    init(_ kind: USBOption, root: String, serialNumber: String) throws {
        self.root = root
        self.kind = kind
        for name in ["dev", "proc", "run/udev/data", "sys/class/tty", "sys/devices/usb1"] {
            try Self.makeFolders("\(root)/\(name)")
        }
        guard let free = (1...99).first(where: { mkdir("\(root)/sys/devices/usb1/1-\($0)", 0o755) == 0 }) else {
            throw StartError("no board can be added to \(root): \(systemErrorText(errno))")
        }
        socket = "1-\(free)"
        folder = "\(root)/sys/devices/usb1/\(socket)"
        let isNative = kind == .native
        let texts = [
            ("idVendor", isNative ? "303a" : "10c4"), ("idProduct", isNative ? "1001" : "ea60"),
            ("serial", serialNumber),
            ("product", isNative ? "USB JTAG/serial debug unit" : "CP2102N USB to UART Bridge Controller"),
        ]
        for (name, text) in texts { try Self.write(text + "\n", to: "\(folder)/\(name)") }
    }

    /// Returns the port's present path. A recently used name is not used again, because the kernel keeps it for programs that still have it
    /// open.
    func plug() throws -> String {
        let prefix = kind == .native ? "ttyACM" : "ttyUSB"
        for number in 0..<100 where number != lastNumber {
            let name = "\(prefix)\(number)"
            guard mkdir("\(root)/sys/class/tty/\(name)", 0o755) == 0 else { continue }
            let interface = "\(folder)/\(socket):1.0" + (kind == .native ? "" : "/\(name)")
            try Self.makeFolders(interface)
            guard symlink(interface, "\(root)/sys/class/tty/\(name)/device") == 0 else { break }
            self.number = number
            return "\(root)/dev/\(name)"
        }
        throw StartError("no port can be added to \(root): \(systemErrorText(errno))")
    }

    func unplug() {
        guard let number else { return }
        let name = (kind == .native ? "ttyACM" : "ttyUSB") + "\(number)"
        unlink("\(root)/sys/class/tty/\(name)/device")
        rmdir("\(root)/sys/class/tty/\(name)")
        rmdir("\(folder)/\(socket):1.0/\(name)")
        rmdir("\(folder)/\(socket):1.0")
        (self.number, lastNumber) = (nil, number)
    }

    /// Frees the socket for another board.
    func remove() {
        unplug()
        for name in ["idVendor", "idProduct", "serial", "product"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    private static func makeFolders(_ path: String) throws {
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            guard mkdir(made, 0o755) == 0 || errno == EEXIST else {
                throw StartError("\(made) cannot be made: \(systemErrorText(errno))")
            }
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StartError("\(path) cannot be written: \(systemErrorText(errno))") }
        defer { close(descriptor) }
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
