// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A folder laid out as the root of a Linux system: `/dev`, sysfs, `/proc` and udev's database, as far as serial ports need them.
public struct SystemTree: Sendable {
    public let root: String

    public init(in folder: TemporaryFolder) throws {
        root = folder.file("system")
        for name in ["dev", "sys/class/tty", "proc", "run/udev/data"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true)
        }
    }

    /// Where a port of that name is, or is to be: a link to a pty, such as a simulated board makes.
    public func port(_ name: String) -> String { "\(root)/dev/\(name)" }

    /// Creates the entries of sysfs for a USB device with a port: the device in a socket such as `1-2`, and its first interface below it.
    /// For `ttyUSB`, the port is below that.
    public func addDevice(
        _ name: String, socket: String, vendor: String, product: String, serial: String? = nil, title: String? = nil,
        number: String = "166:0"
    ) throws {
        let device = "sys/devices/usb1/\(socket)"
        try write(vendor + "\n", to: "\(device)/idVendor")
        try write(product + "\n", to: "\(device)/idProduct")
        if let serial { try write(serial + "\n", to: "\(device)/serial") }
        if let title { try write(title + "\n", to: "\(device)/product") }
        var place = "\(device)/\(socket):1.0"
        if name.hasPrefix("ttyUSB") { place += "/\(name)" }
        try write("", to: "\(place)/uevent")
        try write(number + "\n", to: "sys/class/tty/\(name)/dev")
        try link("sys/class/tty/\(name)/device", to: "\(root)/\(place)")
    }

    /// What udev's rules say of a device.
    public func setProperties(_ properties: [String], of number: String) throws {
        try write(properties.map { "E:\($0)\n" }.joined(), to: "run/udev/data/c\(number)")
    }

    /// A process that has these files open.
    public func addProcess(_ id: Int, _ name: String, holding files: [String] = []) throws {
        try write(name + "\n", to: "proc/\(id)/comm")
        try FileManager.default.createDirectory(atPath: "\(root)/proc/\(id)/fd", withIntermediateDirectories: true)
        for (index, file) in files.enumerated() { try link("proc/\(id)/fd/\(index + 3)", to: file) }
    }

    public func write(_ text: String, to path: String) throws {
        let file = URL(fileURLWithPath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    public func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(root)/\(path)", withDestinationPath: target)
    }

    /// The options and the environment that make `rainctl` see it.
    public var environment: [String: String] { ["RAINKIT_SYSTEM_ROOT": root] }
}
