// SPDX-License-Identifier: Apache-2.0

/// Starts a scan for access points.
public struct ScanWiFiStartCommand: WireMessage {
    /// Answer only when the scan is over.
    public var isBlocking: Bool
    /// Only listen, send no probes.
    public var isPassive: Bool
    /// Scan this many channels at a time and serve the access point in between; 0 scans all at once.
    public var groupChannels: UInt32
    /// Time on each channel. Ignored where Bluetooth is compiled in.
    public var periodMilliseconds: UInt32

    public init() { self.init(isBlocking: false) }

    public init(
        isBlocking: Bool = false, isPassive: Bool = false, groupChannels: UInt32 = 0, periodMilliseconds: UInt32 = 0
    ) {
        self.isBlocking = isBlocking
        self.isPassive = isPassive
        self.groupChannels = groupChannels
        self.periodMilliseconds = periodMilliseconds
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: isBlocking = try reader.bool()
        case 2: isPassive = try reader.bool()
        case 3: groupChannels = try reader.uint32()
        case 4: periodMilliseconds = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.bool(isBlocking, field: 1)
        writer.bool(isPassive, field: 2)
        writer.uint32(groupChannels, field: 3)
        writer.uint32(periodMilliseconds, field: 4)
    }
}

/// An access point that the board can hear.
public struct WiFiScanResult: WireMessage {
    /// Any bytes; empty for a hidden network.
    public var ssid: [UInt8]
    /// The radio channel.
    public var channel: UInt32
    /// dBm.
    public var rssi: Int32
    /// 6 bytes.
    public var bssid: [UInt8]
    /// How the network is protected.
    public var authentication: WiFiAuthentication

    public init() { self.init(ssid: []) }

    public init(
        ssid: [UInt8] = [], channel: UInt32 = 0, rssi: Int32 = 0, bssid: [UInt8] = [],
        authentication: WiFiAuthentication = .open
    ) {
        self.ssid = ssid
        self.channel = channel
        self.rssi = rssi
        self.bssid = bssid
        self.authentication = authentication
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: ssid = try reader.byteString()
        case 2: channel = try reader.uint32()
        case 3: rssi = try reader.int32()
        case 4: bssid = try reader.byteString()
        case 5: authentication = try reader.enumeration(WiFiAuthentication.self)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(ssid, field: 1)
        writer.uint32(channel, field: 2)
        writer.int32(rssi, field: 3)
        writer.byteString(bssid, field: 4)
        writer.enumeration(authentication, field: 5)
    }
}

/// A page of the access points found, strongest first.
public struct ScanWiFiResultResponse: WireMessage {
    /// Firmware keeps 16 results by default; more than this in one page is taken for garbage.
    public static let maximumEntries = 64

    /// The page.
    public var entries: [WiFiScanResult]

    public init() { self.init([]) }
    public init(_ entries: [WiFiScanResult]) { self.entries = entries }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: try reader.append(to: &entries, limit: Self.maximumEntries)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.repeated(entries, field: 1) }
}
