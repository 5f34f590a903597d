// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore

/// A serial port that the system knows.
public struct SerialPortDescription: Sendable, Equatable {
    /// The path, such as `/dev/ttyACM0`.
    public var path: String
    /// The ids of its USB device; nil if it is not a USB port.
    public var usb: USBIdentity?

    public init(path: String, usb: USBIdentity? = nil) {
        self.path = path
        self.usb = usb
    }

    /// Whether ESP32 boards carry this kind of adapter.
    public var isLikelyBoard: Bool { usb.map { USBIdentity.knownAdapters.contains($0.adapter) } ?? false }
}

extension SerialPort {
    /// The connected USB serial ports: likely boards first, then by name.
    public static func available(in files: SystemFiles = SystemFiles()) -> [SerialPortDescription] {
        SmallFile.names(in: files.devices)
            .filter(isUSB)
            .map { SerialPortDescription(path: "\(files.devices)/\($0)", usb: usbIdentity(of: $0, in: files)) }
            .sorted { left, right in
                if left.isLikelyBoard != right.isLikelyBoard { return left.isLikelyBoard }
                return (left.path.utf8.count, left.path) < (right.path.utf8.count, right.path)
            }
    }

    /// The ports of likely boards that the kernel has, but whose device files are missing, as in a container without access to them. The
    /// paths are those of the missing files.
    package static func withoutFile(in files: SystemFiles = SystemFiles()) -> [SerialPortDescription] {
        let present = Set(SmallFile.names(in: files.devices))
        return SmallFile.names(in: files.terminals)
            .filter { isUSB($0) && !present.contains($0) }
            .map { SerialPortDescription(path: "\(files.devices)/\($0)", usb: usbIdentity(of: $0, in: files)) }
            .filter(\.isLikelyBoard)
            .sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
    }

    /// Whether a port of this name is a USB device's. WCH's own driver makes the last one.
    private static func isUSB(_ name: String) -> Bool {
        ["ttyACM", "ttyUSB", "ttyCH343USB"].contains { name.hasPrefix($0) }
    }

    /// Returns the port at a path, which may be a link such as those below `/dev/serial/by-id`; nil if it does not exist.
    public static func description(
        of path: String, in files: SystemFiles = SystemFiles()
    ) -> SerialPortDescription? {
        guard let name = name(of: path, in: files) else { return nil }
        return SerialPortDescription(path: path, usb: usbIdentity(of: name, in: files))
    }

    /// Returns the name in sysfs of the port at a path; nil if it does not exist.
    static func name(of path: String, in files: SystemFiles) -> String? {
        guard let resolved = SmallFile.resolved(path) else { return nil }
        let names = [path, resolved].compactMap { $0.split(separator: "/").last.map(String.init) }
        return names.first { SmallFile.resolved("\(files.terminals)/\($0)") != nil } ?? names.last
    }

    /// Returns the present port of a board whose port disappeared. The kernel may have given it another name.
    public static func successor(
        of port: SerialPortDescription, in files: SystemFiles = SystemFiles()
    ) -> SerialPortDescription? {
        guard let usb = port.usb else { return description(of: port.path, in: files) }
        return available(in: files).first { $0.usb?.isSameDevice(as: usb) == true }
    }

    /// The ids are in a folder above the port's own: the interface's parent for ttyACM, one more for ttyUSB.
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

/// The identity of a USB device by its descriptors, and the socket it is plugged into.
public struct USBIdentity: Sendable, Equatable {
    /// The pair of ids that identifies a model of USB-to-serial adapter.
    public struct Adapter: Hashable, Sendable {
        /// The vendor id that the USB Implementers Forum assigned (`idVendor`), such as 0x303A for Espressif.
        public var vendor: UInt16
        /// The product id that the vendor gave to the model (`idProduct`), such as 0xEA60 for a CP2102.
        public var product: UInt16

        public init(vendor: UInt16, product: UInt16) {
            self.vendor = vendor
            self.product = product
        }

        /// Whether it is the USB-Serial-JTAG in Espressif's chips: a board without a separate adapter.
        public var isChipsOwn: Bool { self == Adapter(vendor: 0x303A, product: 0x1001) }
    }

    /// The model, by its vendor and product id.
    public var adapter: Adapter
    /// The serial number. On a board with native USB this is its MAC address.
    public var serialNumber: String?
    /// The model's name (`iProduct`), by which people recognise it.
    public var productName: String?
    /// The kernel's name of the socket: the bus and the ports of the hubs, such as `1-2.3`.
    public var location: String?
    /// The number of the device's interface, from 0. Adapters with several ports have one interface for each.
    public var interface: Int?

    public init(
        adapter: Adapter, serialNumber: String? = nil, productName: String? = nil, location: String? = nil,
        interface: Int? = nil
    ) {
        self.adapter = adapter
        self.serialNumber = serialNumber
        self.productName = productName
        self.location = location
        self.interface = interface
    }

    /// The chip's MAC address, which is the serial number of its own USB.
    public var macAddress: String? { adapter.isChipsOwn ? serialNumber : nil }

    /// Whether it is the same board, for which the kernel may have made another port. The same board has the same serial number. If such
    /// adapters have no serial numbers of their own, it is the same model in the same socket.
    public func isSameDevice(as other: USBIdentity) -> Bool {
        guard interface == other.interface, adapter.vendor == other.adapter.vendor else { return false }
        if let mine = ownSerialNumber, let theirs = other.ownSerialNumber {
            // The same chip may come back with another product id, as in its boot loader.
            return mine == theirs && (adapter == other.adapter || adapter.vendor == 0x303A)
        }
        return adapter == other.adapter && location != nil && location == other.location
    }

    /// Cheap adapters all have the same number, such as `0001`, which identifies nothing.
    private var ownSerialNumber: String? {
        serialNumber.flatMap { number in
            number.utf8.count >= 6 && Set(number.utf8).count > 2 ? number : nil
        }
    }

    /// Espressif's built-in USB-Serial-JTAG and its USB bridge; Silicon Labs CP2102(N), CP2105, CP2108; WCH CH340, CH341, CH340K, CH343,
    /// CH9102 and CH342; FTDI FT232R, FT2232, FT4232, FT232H and FT-X.
    static let knownAdapters: Set<Adapter> = Set(
        [
            (0x303A, [0x1001, 0x1002]), (0x10C4, [0xEA60, 0xEA70, 0xEA71]),
            (0x1A86, [0x7522, 0x7523, 0x5523, 0x55D2, 0x55D3, 0x55D4]),
            (0x0403, [0x6001, 0x6010, 0x6011, 0x6014, 0x6015]),
        ].flatMap { vendor, products in products.map { Adapter(vendor: vendor, product: $0) } })
}

/// A program that has a port open.
public struct PortHolder: Sendable, Hashable {
    /// Its process id.
    public var processID: Int32
    /// The kernel's name of the process: the first 15 bytes of its program's name.
    public var name: String

    public init(processID: Int32, name: String) {
        self.processID = processID
        self.name = name
    }

    /// Whether it is the service that tests whether a new port is a modem. The test takes half a minute.
    public var isModemManager: Bool { name == "ModemManager" }
}

extension SerialPort {
    /// Returns the other programs that have a port open, as far as this user may see. Only root sees the files of other users' programs.
    public static func holders(of path: String, in files: SystemFiles = SystemFiles()) -> [PortHolder] {
        guard let port = status(path) else { return [] }
        var holders: [PortHolder] = []
        for entry in SmallFile.names(in: files.processes) {
            guard let id = Int32(entry), id != getpid() else { continue }
            let folder = "\(files.processes)/\(entry)"
            let isHolder = SmallFile.names(in: "\(folder)/fd").contains { descriptor in
                guard let opened = status("\(folder)/fd/\(descriptor)") else { return false }
                if opened.st_ino == port.st_ino, opened.st_dev == port.st_dev { return true }
                // In a container the same device has another file.
                return port.st_rdev != 0 && opened.st_rdev == port.st_rdev && opened.st_mode & S_IFMT == S_IFCHR
            }
            if isHolder { holders.append(PortHolder(processID: id, name: SmallFile.line("\(folder)/comm") ?? "?")) }
        }
        return holders.sorted { $0.processID < $1.processID }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}

extension SerialPort {
    /// Whether ModemManager runs and may take the port for a modem. It types into each new port that udev's rules call a candidate, unless
    /// a rule forbids it (ModemManager's documentation, "Common udev tags").
    public static func isProbedForModem(_ path: String, in files: SystemFiles = SystemFiles()) -> Bool {
        guard let name = name(of: path, in: files),
            let number = SmallFile.line("\(files.terminals)/\(name)/dev"),
            let rules = SmallFile.text("\(files.udevDatabase)/c\(number)")
        else { return false }
        let properties = Set(rules.split(separator: "\n"))
        let isIgnored = ["ID_MM_DEVICE_IGNORE=1", "ID_MM_PORT_IGNORE=1", "ID_MM_TTY_BLACKLIST=1"]
            .contains { properties.contains("E:\($0)") }
        guard properties.contains("E:ID_MM_CANDIDATE=1"), !isIgnored else { return false }
        return SmallFile.names(in: files.processes).contains { entry in
            Int32(entry) != nil && SmallFile.line("\(files.processes)/\(entry)/comm") == "ModemManager"
        }
    }
}

/// The system's data about serial ports: `/dev`, sysfs, `/proc` and udev's database.
public struct SystemFiles: Sendable, Hashable {
    /// The beginning of all paths: empty, or a folder without a slash at its end, such as the host's root seen from a container.
    public var root: String

    public init(root: String = "") { self.root = root }

    /// Returns where a device file is. `/dev/ttyUSB0` means the port below the root, unless only this machine itself has it.
    package func device(_ path: String) -> String {
        guard !root.isEmpty, path.hasPrefix("/dev/"), !path.hasPrefix(devices + "/") else { return path }
        let below = root + path
        return access(below, F_OK) != 0 && access(path, F_OK) == 0 ? path : below
    }

    /// What is wrong with a root that was set: a sentence; nil if the folder with the device files can be read.
    package var fault: String? {
        guard !root.isEmpty, access(devices, R_OK | X_OK) != 0 else { return nil }
        let cause = systemErrorText(errno)
        return
            "The folder \(devices.onOneLine), where serial ports are searched for, cannot be read: \(cause). The root folder of the system "
            + "is set to \(root.onOneLine)."
    }

    /// The device files.
    var devices: String { "\(root)/dev" }
    /// The folder with a folder for each terminal, which leads to its USB device.
    var terminals: String { "\(root)/sys/class/tty" }
    /// The folder with a folder for each process.
    var processes: String { "\(root)/proc" }
    /// The folder with a file for each device, with the results of udev's rules.
    var udevDatabase: String { "\(root)/run/udev/data" }
}

/// Files and folders of sysfs, `/proc` and udev. They are small; longer content is cut off.
enum SmallFile {
    static let limit = 16384

    /// Returns the beginning of a file; nil if it cannot be read.
    static func text(_ path: String) -> String? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// The first line of a file, if it has one.
    static func line(_ path: String) -> String? {
        text(path)?.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the names in a folder, unordered; empty if it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// Returns the target of a path with all symbolic links resolved; nil if it does not exist.
    static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
