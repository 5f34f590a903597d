// SPDX-License-Identifier: Apache-2.0

/// Starts a scan for Thread networks.
public struct ScanThreadStartCommand: WireMessage {
    /// Answer only when the scan is over.
    public var isBlocking: Bool
    /// The channels to listen on, as a mask of bits.
    public var channelMask: UInt32

    public init() { self.init(isBlocking: false) }

    public init(isBlocking: Bool = false, channelMask: UInt32 = 0) {
        self.isBlocking = isBlocking
        self.channelMask = channelMask
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: isBlocking = try reader.bool()
        case 2: channelMask = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.bool(isBlocking, field: 1)
        writer.uint32(channelMask, field: 2)
    }
}

/// A Thread network that the board can hear.
public struct ThreadScanResult: WireMessage {
    /// 16 bits.
    public var panID: UInt32
    /// The radio channel.
    public var channel: UInt32
    /// dBm.
    public var rssi: Int32
    /// The link quality indicator; higher is better.
    public var linkQuality: UInt32
    /// 8 bytes.
    public var extendedAddress: [UInt8]
    /// UTF-8.
    public var networkName: [UInt8]
    /// 8 bytes.
    public var extendedPANID: [UInt8]

    public init() { self.init(panID: 0) }

    public init(
        panID: UInt32 = 0, channel: UInt32 = 0, rssi: Int32 = 0, linkQuality: UInt32 = 0, extendedAddress: [UInt8] = [],
        networkName: [UInt8] = [], extendedPANID: [UInt8] = []
    ) {
        self.panID = panID
        self.channel = channel
        self.rssi = rssi
        self.linkQuality = linkQuality
        self.extendedAddress = extendedAddress
        self.networkName = networkName
        self.extendedPANID = extendedPANID
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: panID = try reader.uint32()
        case 2: channel = try reader.uint32()
        case 3: rssi = try reader.int32()
        case 4: linkQuality = try reader.uint32()
        case 5: extendedAddress = try reader.byteString()
        case 6: networkName = try reader.byteString()
        case 7: extendedPANID = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(panID, field: 1)
        writer.uint32(channel, field: 2)
        writer.int32(rssi, field: 3)
        writer.uint32(linkQuality, field: 4)
        writer.byteString(extendedAddress, field: 5)
        writer.byteString(networkName, field: 6)
        writer.byteString(extendedPANID, field: 7)
    }
}

/// A page of the Thread networks found.
public struct ScanThreadResultResponse: WireMessage {
    /// Firmware keeps 16 results by default; more than this in one page is taken for garbage.
    public static let maximumEntries = 64

    /// The page.
    public var entries: [ThreadScanResult]

    public init() { self.init([]) }
    public init(_ entries: [ThreadScanResult]) { self.entries = entries }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: try reader.append(to: &entries, limit: Self.maximumEntries)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.repeated(entries, field: 1) }
}
