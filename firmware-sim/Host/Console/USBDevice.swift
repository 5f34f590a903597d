// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

/// Which USB device a board's port is.
enum USBOption: String, ExpressibleByArgument, CaseIterable {
    /// The chip's own.
    case native
    /// A CP2102N between the computer and the chip's UART.
    case bridge
}

/// A board on USB, as Linux shows one: the device in sysfs, and a name below `/dev`; both in a folder that stands for the system's root.
final class USBDevice {
    private let root: String
    private let kind: USBOption
    /// The device's folder in sysfs, such as `…/usb1/1-1`: the number is that of the socket.
    private let folder: String
    private let socket: String
    private var number: Int?
    private var lastNumber: Int?

    /// - Parameters:
    ///   - root: is made if it is not there; several boards may be in it.
    ///   - serialNumber: the chip's own USB has its MAC address.
    init(_ kind: USBOption, root: String, serialNumber: String) throws {
        self.root = root
        self.kind = kind
        for name in ["dev", "proc", "run/udev/data", "sys/class/tty", "sys/devices/usb1"] {
            try Self.makeFolders("\(root)/\(name)")
        }
        guard let free = (1...99).first(where: { mkdir("\(root)/sys/devices/usb1/1-\($0)", 0o755) == 0 }) else {
            throw StartError("no board can be added to \(root): \(lastSystemError())")
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

    /// Where the port is now; a name that was in use a moment ago is not taken again, as the kernel leaves it to who still has it open.
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
        throw StartError("no port can be added to \(root): \(lastSystemError())")
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

    /// Leaves the socket for another board.
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
                throw StartError("\(made) cannot be made: \(lastSystemError())")
            }
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw StartError("\(path) cannot be written: \(lastSystemError())") }
        defer { close(descriptor) }
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
