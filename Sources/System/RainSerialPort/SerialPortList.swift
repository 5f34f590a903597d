// SPDX-License-Identifier: Apache-2.0
import Glibc

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

/// What a USB device says of itself in its descriptors.
public struct USBIdentity: Sendable, Equatable {
    /// The pair of ids that tells one model of USB-to-serial adapter from another.
    public struct Adapter: Hashable, Sendable {
        /// The vendor id that the USB Implementers Forum assigned (`idVendor`), such as 0x303A for Espressif.
        public var vendor: UInt16
        /// The product id that the vendor gave to the model (`idProduct`), such as 0xEA60 for a CP2102.
        public var product: UInt16

        public init(vendor: UInt16, product: UInt16) {
            self.vendor = vendor
            self.product = product
        }

        /// Whether it is the USB-Serial-JTAG that is built into Espressif's chips: a board without an adapter of its own.
        public var isChipsOwn: Bool { self == Adapter(vendor: 0x303A, product: 0x1001) }
    }

    /// The model, by its vendor and product id.
    public var adapter: Adapter
    /// On a board with native USB this is its MAC address.
    public var serialNumber: String?
    /// The model's name in words (`iProduct`), for people to recognise it by.
    public var productName: String?

    public init(adapter: Adapter, serialNumber: String? = nil, productName: String? = nil) {
        self.adapter = adapter
        self.serialNumber = serialNumber
        self.productName = productName
    }

    /// Espressif's built-in USB-Serial-JTAG; Silicon Labs CP2102(N); WCH CH340, CH343, CH9102; FTDI FT232R.
    static let knownAdapters: Set<Adapter> = [
        Adapter(vendor: 0x303A, product: 0x1001), Adapter(vendor: 0x10C4, product: 0xEA60),
        Adapter(vendor: 0x1A86, product: 0x7523), Adapter(vendor: 0x1A86, product: 0x55D3),
        Adapter(vendor: 0x1A86, product: 0x55D4), Adapter(vendor: 0x0403, product: 0x6001),
    ]
}

extension SerialPort {
    /// The USB serial ports that are plugged in, those that look like a board first, then by name.
    ///
    /// - Parameters:
    ///   - devices: the folder of the device files.
    ///   - classes: sysfs's `class/tty`, which leads to each port's USB device.
    public static func available(
        devices: String = "/dev", classes: String = "/sys/class/tty"
    ) -> [SerialPortDescription] {
        names(in: devices)
            .filter { $0.hasPrefix("ttyACM") || $0.hasPrefix("ttyUSB") }
            .map {
                SerialPortDescription(path: devices + "/" + $0, usb: usbIdentity(of: classes + "/" + $0 + "/device"))
            }
            .sorted { left, right in
                if left.isLikelyBoard != right.isLikelyBoard { return left.isLikelyBoard }
                return (left.path.utf8.count, left.path) < (right.path.utf8.count, right.path)
            }
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// The ids stand in a folder above the port's own: the interface's parent for ttyACM, one more for ttyUSB.
    private static func usbIdentity(of link: String) -> USBIdentity? {
        guard let resolved = realpath(link, nil) else { return nil }
        defer { free(resolved) }
        var folder = String(cString: resolved)
        for _ in 0..<4 {
            if let vendor = text(folder + "/idVendor").flatMap({ UInt16($0, radix: 16) }),
                let product = text(folder + "/idProduct").flatMap({ UInt16($0, radix: 16) })
            {
                return USBIdentity(
                    adapter: .init(vendor: vendor, product: product), serialNumber: text(folder + "/serial"),
                    productName: text(folder + "/product"))
            }
            guard let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else { return nil }
            folder = String(folder[..<slash])
        }
        return nil
    }

    /// The first line of a small file.
    private static func text(_ path: String) -> String? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
