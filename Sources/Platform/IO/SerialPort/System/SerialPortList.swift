// SPDX-License-Identifier: Apache-2.0

/// A serial port that the system knows of.
public struct SerialPortDescription: Sendable, Equatable {
    /// Such as `/dev/ttyACM0`.
    public var path: String
    /// The ids of its USB device, or nil where it has none.
    public var usb: USBIdentity?

    public init(path: String, usb: USBIdentity? = nil) {
        self.path = path
        self.usb = usb
    }

    /// Whether the adapter is one that ESP32 boards carry.
    public var isLikelyBoard: Bool { usb.map { USBIdentity.knownAdapters.contains($0.adapter) } ?? false }
}

extension SerialPort {
    /// The USB serial ports that are plugged in, those that look like a board first, then by name.
    public static func available(in files: SystemFiles = SystemFiles()) -> [SerialPortDescription] {
        SmallFile.names(in: files.devices)
            // The last is what WCH's own driver makes.
            .filter { name in ["ttyACM", "ttyUSB", "ttyCH343USB"].contains { name.hasPrefix($0) } }
            .map { SerialPortDescription(path: "\(files.devices)/\($0)", usb: usbIdentity(of: $0, in: files)) }
            .sorted { left, right in
                if left.isLikelyBoard != right.isLikelyBoard { return left.isLikelyBoard }
                return (left.path.utf8.count, left.path) < (right.path.utf8.count, right.path)
            }
    }

    /// The port behind a path, which may be a link such as those below `/dev/serial/by-id`; nil where nothing is there.
    public static func description(
        of path: String, in files: SystemFiles = SystemFiles()
    ) -> SerialPortDescription? {
        guard let name = name(of: path, in: files) else { return nil }
        return SerialPortDescription(path: path, usb: usbIdentity(of: name, in: files))
    }

    /// What sysfs calls the port behind a path; nil where nothing is there.
    static func name(of path: String, in files: SystemFiles) -> String? {
        guard let resolved = SmallFile.resolved(path) else { return nil }
        let names = [path, resolved].compactMap { $0.split(separator: "/").last.map(String.init) }
        return names.first { SmallFile.resolved("\(files.terminals)/\($0)") != nil } ?? names.last
    }

    /// The port that a board has now whose port went away: the kernel may have given it another name.
    public static func successor(
        of port: SerialPortDescription, in files: SystemFiles = SystemFiles()
    ) -> SerialPortDescription? {
        guard let usb = port.usb else { return description(of: port.path, in: files) }
        return available(in: files).first { $0.usb?.isSameDevice(as: usb) == true }
    }

    /// The ids stand in a folder above the port's own: the interface's parent for ttyACM, one more for ttyUSB.
    private static func usbIdentity(of name: String, in files: SystemFiles) -> USBIdentity? {
        guard var folder = SmallFile.resolved("\(files.terminals)/\(name)/device") else { return nil }
        var interface: Int?
        for _ in 0..<4 {
            let last = folder.split(separator: "/").last.map(String.init) ?? ""
            if let vendor = SmallFile.line(folder + "/idVendor").flatMap({ UInt16($0, radix: 16) }),
                let product = SmallFile.line(folder + "/idProduct").flatMap({ UInt16($0, radix: 16) })
            {
                return USBIdentity(
                    adapter: .init(vendor: vendor, product: product), serialNumber: SmallFile.line(folder + "/serial"),
                    productName: SmallFile.line(folder + "/product"), location: last, interface: interface)
            }
            // `1-2:1.0` is the interface 0 of the device `1-2`.
            if last.contains(":") { interface = last.split(separator: ".").last.flatMap { Int($0) } }
            guard let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else { return nil }
            folder = String(folder[..<slash])
        }
        return nil
    }
}
