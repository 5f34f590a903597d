// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A Wi-Fi network in range, with its strongest access point or one of them.
public struct HeardNetwork: Sendable, Hashable {
    /// The credentials that joining requires.
    public enum Security: UInt8, Sendable {
        /// None.
        case open
        /// WPA or WPA2 with a password, or both generations.
        case password
        /// WPA3 alone.
        case sae
        /// Anything else: WEP, a user name and password.
        case other
    }

    /// The path of the access point's object.
    public var path: String
    /// The network's name: up to 32 bytes, usually UTF-8.
    public var ssid: [UInt8]
    /// The signal strength in percent, from NetworkManager.
    public var strength: Int
    /// The credentials that joining requires.
    public var security: Security

    /// The name, with replacement characters if it is not UTF-8.
    public var name: String { String(decoding: ssid, as: UTF8.self) }

    /// The strength in dBm. NetworkManager computes its percent from the kernel's value between -100 and -40 dBm
    /// (`nm_wifi_utils_level_to_quality`); this is the inverse.
    public var signal: Int { -100 + strength * 60 / 100 }

    public init(path: String, ssid: [UInt8], strength: Int, security: Security) {
        self.path = path
        self.ssid = ssid
        self.strength = strength
        self.security = security
    }

    /// Reads the properties of an access point. Returns nil for a hidden network, and for a name that is too long.
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

    // NM80211ApSecurityFlags and NM80211ApFlags. Opportunistic encryption (0x800) requires no credentials: open.
    private static let psk = 0x100, sae = 0x400, enterprise = 0x200 | 0x2000, privacy = 0x1
}

/// A Wi-Fi adapter that NetworkManager manages.
public struct WiFiDevice: Sendable, Hashable {
    /// The path of its object.
    public var path: String
    /// The interface's name, such as `wlan0`.
    public var interface: String
    /// NMDeviceState: 20 is unavailable, 30 disconnected, 100 activated.
    var state: Int

    /// Whether it can look for networks now. It cannot when Wi-Fi is switched off.
    public var isReady: Bool { state >= 30 }

    init?(path: String, _ properties: DBusValue) {
        // NM_DEVICE_TYPE_WIFI; unmanaged devices have the state 10.
        guard properties["DeviceType"]?.integer == 2, let interface = properties["Interface"]?.text,
            let state = properties["State"]?.integer, state > 10
        else { return nil }
        self.path = path
        self.interface = interface
        self.state = state
    }
}

/// The present connection of a device.
public struct NetworkConnection: Sendable, Hashable {
    /// The stage of the connection.
    public enum State: Sendable, Hashable { case activating, activated, ending }

    /// The path of the active connection's object, which exists as long as the connection.
    public var path: String
    /// The profile's `uuid`, which is the same after a restart of NetworkManager.
    public var uuid: String
    /// The profile's name for people, usually the network's name.
    public var id: String
    /// The stage of the connection.
    public var state: State
    /// The path of the access point's object; nil if there is none.
    var accessPoint: String?

    init?(path: String, _ properties: DBusValue) {
        guard let uuid = properties["Uuid"]?.text else { return nil }
        self.path = path
        self.uuid = uuid
        id = properties["Id"]?.text ?? uuid
        // NMActiveConnectionState: 0 unknown, 1 activating, 2 activated, 3 deactivating, 4 deactivated.
        switch properties["State"]?.integer {
        case 2: state = .activated
        case 3, 4: state = .ending
        default: state = .activating
        }
        accessPoint = properties["SpecificObject"]?.text.flatMap { $0 == "/" ? nil : $0 }
    }
}

/// A profile for joining a Wi-Fi network for a while. NetworkManager keeps it in memory until the connection or the program ends.
public struct TemporaryProfile: Sendable {
    /// The profile's `uuid`, which the caller makes so that it is known before the network is joined.
    public var uuid: String
    /// The profile's name for people.
    public var id: String
    /// The network to join.
    public var network: HeardNetwork
    /// The network's password; nil for an open one.
    public var password: Secret?

    public init(uuid: String, id: String, network: HeardNetwork, password: Secret?) {
        self.uuid = uuid
        self.id = id
        self.network = network
        self.password = password
    }

    /// - Parameter owner: the only user of the profile; nil for all users.
    func settings(owner: String?) -> DBusValue {
        var connection: [(String, DBusValue)] = [
            ("id", .string(id)), ("uuid", .string(uuid)), ("type", .string("802-11-wireless")),
            ("autoconnect", .bool(false)),
        ]
        if let owner { connection.append(("permissions", .strings(["user:\(owner):"]))) }
        var sections: [(String, [(String, DBusValue)])] = [
            ("connection", connection),
            ("802-11-wireless", [("ssid", .bytes(network.ssid)), ("mode", .string("infrastructure"))]),
            // A board has no route to the internet, so this machine's other connections keep serving it.
            (
                "ipv4",
                [
                    ("method", .string("auto")), ("may-fail", .bool(false)), ("never-default", .bool(true)),
                    ("ignore-auto-dns", .bool(true)),
                ]
            ),
            ("ipv6", [("method", .string("ignore"))]),
        ]
        if let password {
            sections.append(
                (
                    "802-11-wireless-security",
                    [
                        ("key-mgmt", .string(network.security == .sae ? "sae" : "wpa-psk")),
                        ("psk", .string(password.revealString())),
                    ]
                ))
        }
        return .dictionary(
            sections.map { DBusEntry(.string($0.0), .properties($0.1)) }, key: "s", value: "a{sv}")
    }
}
