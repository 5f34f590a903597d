// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// One network that the board can hear.
public struct SimulatedAccessPoint: Sendable, Equatable {
    /// Up to 32 bytes, which need not be text.
    public var ssid: [UInt8]
    /// Six bytes.
    public var bssid: [UInt8]
    public var channel: UInt32
    /// Signal strength in dBm.
    public var rssi: Int32
    public var authentication: WiFiAuthentication
    /// Empty on an open network.
    public var passphrase: [UInt8]
    /// A hidden network answers to its name, but a scan shows none.
    public var isHidden: Bool

    public init(
        ssid: [UInt8], bssid: [UInt8], channel: UInt32 = 6, rssi: Int32 = -42,
        authentication: WiFiAuthentication = .wpa2PSK, passphrase: [UInt8] = [], isHidden: Bool = false
    ) {
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
        self.rssi = rssi
        self.authentication = authentication
        self.passphrase = passphrase
        self.isHidden = isHidden
    }

    /// In the order of their strength; those of the same strength stay as they were.
    static func strongestFirst(_ all: [SimulatedAccessPoint]) -> [SimulatedAccessPoint] {
        var sorted: [SimulatedAccessPoint] = []
        for one in all { sorted.insert(one, at: sorted.firstIndex { $0.rssi < one.rssi } ?? sorted.count) }
        return sorted
    }
}

/// A network's name and passphrase, as a client sent them.
public struct WiFiCredentials: Sendable, Equatable {
    public var ssid: [UInt8]
    public var passphrase: [UInt8]

    public init(ssid: [UInt8], passphrase: [UInt8]) {
        self.ssid = ssid
        self.passphrase = passphrase
    }
}
