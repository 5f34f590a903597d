// SPDX-License-Identifier: Apache-2.0

/// The access point that the board is connected to, and the address it was given (`WifiConnectedState`).
public struct WiFiConnection: WireMessage {
    /// Dotted decimal, ASCII.
    public var ip4Address: [UInt8]
    /// How the network is protected.
    public var authentication: WiFiAuthentication
    /// The network's name, any bytes.
    public var ssid: [UInt8]
    /// 6 bytes, copied as a C string: what follows a 00 byte is not to be trusted.
    public var bssid: [UInt8]
    /// The radio channel.
    public var channel: Int32

    public init() { self.init(ip4Address: []) }

    public init(
        ip4Address: [UInt8] = [], authentication: WiFiAuthentication = .open, ssid: [UInt8] = [], bssid: [UInt8] = [],
        channel: Int32 = 0
    ) {
        self.ip4Address = ip4Address
        self.authentication = authentication
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: ip4Address = try reader.byteString()
        case 2: authentication = try reader.enumeration(WiFiAuthentication.self)
        case 3: ssid = try reader.byteString()
        case 4: bssid = try reader.byteString()
        case 5: channel = try reader.int32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(ip4Address, field: 1)
        writer.enumeration(authentication, field: 2)
        writer.byteString(ssid, field: 3)
        writer.byteString(bssid, field: 4)
        writer.int32(channel, field: 5)
    }
}

/// One of several attempts failed; the board tries again by itself (ESP-IDF 5.5, network_provisioning).
public struct WiFiAttemptFailed: WireMessage {
    /// How often the board tries again.
    public var attemptsRemaining: UInt32

    public init() { self.init(attemptsRemaining: 0) }

    public init(attemptsRemaining: UInt32 = 0) {
        self.attemptsRemaining = attemptsRemaining
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: attemptsRemaining = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(attemptsRemaining, field: 1)
    }
}
