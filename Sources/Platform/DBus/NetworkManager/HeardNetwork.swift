// SPDX-License-Identifier: Apache-2.0

/// A Wi-Fi network that is heard, through its strongest access point or one of them.
public struct HeardNetwork: Sendable, Hashable {
    /// What joining asks for.
    public enum Security: UInt8, Sendable {
        /// Nothing.
        case open
        /// WPA or WPA2 with a password, or both generations.
        case password
        /// WPA3 alone.
        case sae
        /// Anything else: WEP, a user name and password.
        case other
    }

    /// The access point's object.
    public var path: String
    /// The network's name: up to 32 bytes, in most cases UTF-8.
    public var ssid: [UInt8]
    /// The strength of the signal in percent, as NetworkManager says it.
    public var strength: Int
    /// What joining asks for.
    public var security: Security

    /// The name, with replacement characters where it is no UTF-8.
    public var name: String { String(decoding: ssid, as: UTF8.self) }

    /// The strength in dBm. NetworkManager makes its percent of what the kernel says between -100 and -40 dBm
    /// (`nm_wifi_utils_level_to_quality`); this is the way back.
    public var signal: Int { -100 + strength * 60 / 100 }

    public init(path: String, ssid: [UInt8], strength: Int, security: Security) {
        self.path = path
        self.ssid = ssid
        self.strength = strength
        self.security = security
    }

    /// Reads the properties of an access point; nil for a hidden network, and for what is longer than names can be.
    init?(path: String, _ properties: DBusValue) {
        guard let ssid = properties["Ssid"]?.byteArray, (1...32).contains(ssid.count) else { return nil }
        let bits = (properties["WpaFlags"]?.integer ?? 0) | (properties["RsnFlags"]?.integer ?? 0)
        let security: Security =
            if bits & Self.psk != 0 {
                .password
            } else if bits & Self.sae != 0 {
                .sae
            } else if bits & Self.enterprise != 0 || (properties["Flags"]?.integer ?? 0) & Self.privacy != 0 {
                .other
            } else {
                .open
            }
        self.init(
            path: path, ssid: ssid, strength: min(100, properties["Strength"]?.integer ?? 0), security: security)
    }

    // NM80211ApSecurityFlags and NM80211ApFlags. Opportunistic encryption (0x800) asks for nothing: open.
    private static let psk = 0x100, sae = 0x400, enterprise = 0x200 | 0x2000, privacy = 0x1
}
