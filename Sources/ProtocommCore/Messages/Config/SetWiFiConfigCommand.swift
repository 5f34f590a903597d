// SPDX-License-Identifier: Apache-2.0

/// The network that the board is to join. It is kept in memory until it is applied.
public struct SetWiFiConfigCommand: WireMessage {
    /// Up to 32 bytes of any value: an SSID is not text.
    public var ssid: [UInt8]
    /// Up to 63 bytes; empty for an open network.
    public var passphrase: [UInt8]
    /// Empty or 6 bytes. Firmware accepts it and does not use it.
    public var bssid: [UInt8]
    /// Firmware accepts it and does not use it.
    public var channel: Int32

    public init() { self.init(ssid: []) }

    public init(ssid: [UInt8] = [], passphrase: [UInt8] = [], bssid: [UInt8] = [], channel: Int32 = 0) {
        self.ssid = ssid
        self.passphrase = passphrase
        self.bssid = bssid
        self.channel = channel
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: ssid = try reader.byteString()
        case 2: passphrase = try reader.byteString()
        case 3: bssid = try reader.byteString()
        case 4: channel = try reader.int32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(ssid, field: 1)
        writer.byteString(passphrase, field: 2)
        writer.byteString(bssid, field: 3)
        writer.int32(channel, field: 4)
    }
}
