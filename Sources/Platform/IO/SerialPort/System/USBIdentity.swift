// SPDX-License-Identifier: Apache-2.0

/// What a USB device says of itself in its descriptors, and where it is plugged in.
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
    /// The socket that it is plugged into, as the kernel names it: bus and the ports of the hubs, such as `1-2.3`.
    public var location: String?
    /// Which of the device's interfaces it is, from 0: adapters with several ports have one for each.
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

    /// The chip's MAC address, which its own USB has for a serial number.
    public var macAddress: String? { adapter.isChipsOwn ? serialNumber : nil }

    /// Whether it is the same board as that one, of which the kernel may have made another port since: the same serial number, or, where
    /// adapters of the kind have none of their own, the same model in the same socket.
    public func isSameDevice(as other: USBIdentity) -> Bool {
        guard interface == other.interface, adapter.vendor == other.adapter.vendor else { return false }
        if let mine = ownSerialNumber, let theirs = other.ownSerialNumber {
            // The same chip may come back with another product id, as in its boot loader.
            return mine == theirs && (adapter == other.adapter || adapter.vendor == 0x303A)
        }
        return adapter == other.adapter && location != nil && location == other.location
    }

    /// Cheap adapters have all the same, such as `0001`; that tells nothing.
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
