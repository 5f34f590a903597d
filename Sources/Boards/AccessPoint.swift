// SPDX-License-Identifier: Apache-2.0

/// One entry of a board's scan.
public struct AccessPoint: Sendable, Equatable {
    /// Empty for a hidden network.
    public var ssid: SSID
    /// The access point's MAC address as the board reports it: at most 6 bytes, in the order in which they are written.
    public var bssid: [UInt8]
    /// The number of the radio channel, such as 1 to 13 in the 2.4 GHz band.
    public var channel: Int
    /// Signal strength in dBm.
    public var rssi: Int
    /// How the network is protected; ``NetworkProtection/isOpen`` says whether it is joined without a passphrase.
    public var protection: NetworkProtection

    public init(ssid: SSID, bssid: [UInt8], channel: Int, rssi: Int, protection: NetworkProtection) {
        self.ssid = ssid
        self.bssid = bssid
        self.channel = channel
        self.rssi = rssi
        self.protection = protection
    }
}

extension [AccessPoint] {
    /// Whether the board may hear more networks than it lists, strong ones too. Firmware keeps 16 unless it is built for more
    /// (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`), and the networks of the channel that it scans last push out others, whatever their strength.
    public var mayLackNetworks: Bool { count == Self.usualMaximum }

    private static var usualMaximum: Int { 16 }
}

/// How a network is protected: ESP-IDF's `wifi_auth_mode_t`, which firmware passes through unfiltered.
public struct NetworkProtection: Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// No protection: no passphrase, and nothing is encrypted (`WIFI_AUTH_OPEN`).
    public static let open = NetworkProtection(rawValue: 0)
    /// Whether it is joined without a passphrase: open, or encrypted by OWE.
    public var isOpen: Bool { rawValue == 0 || rawValue == 9 }

    /// Whether it asks for the name or the certificate of a user (IEEE 802.1X).
    public var isEnterprise: Bool { [5, 10, 14, 15, 16].contains(rawValue) }

    private static let names = [
        "open", "wep", "wpa_psk", "wpa2_psk", "wpa_wpa2_psk", "wpa2_enterprise", "wpa3_psk", "wpa2_wpa3_psk",
        "wapi_psk",
        "owe", "wpa3_enterprise_192", "reserved_11", "reserved_12", "dpp", "wpa3_enterprise", "wpa2_wpa3_enterprise",
        "wpa_enterprise",
    ]

    public var description: String {
        Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "unknown_\(rawValue)"
    }
}
