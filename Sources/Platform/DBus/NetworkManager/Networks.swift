// SPDX-License-Identifier: Apache-2.0
import RainCore

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

/// A Wi-Fi adapter that NetworkManager manages.
public struct WiFiDevice: Sendable, Hashable {
    /// Its object.
    public var path: String
    /// The interface's name, such as `wlan0`.
    public var interface: String
    /// NMDeviceState: 20 is unavailable, 30 disconnected, 100 activated.
    var state: Int

    /// Whether it can look for networks now: it is not when Wi-Fi is switched off.
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

/// What a device is connected by now.
public struct NetworkConnection: Sendable, Hashable {
    /// How far it has come.
    public enum State: Sendable, Hashable { case activating, activated, ending }

    /// The active connection's object; it exists no longer than the connection.
    public var path: String
    /// The profile's own name, which outlives a restart of NetworkManager.
    public var uuid: String
    /// What people call the profile, most often the network's name.
    public var id: String
    /// How far it has come.
    public var state: State
    /// The access point's object; nil where there is none.
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

/// A Wi-Fi network that is joined for a while: NetworkManager keeps it in memory, until the connection or the program ends.
public struct TemporaryProfile: Sendable {
    /// The profile's own name, made by the caller so that it is known before the network is joined.
    public var uuid: String
    /// What people see it called.
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

    /// - Parameter owner: the user whom alone the profile belongs to; nil for all users.
    func settings(owner: String?) -> DBusValue {
        var connection: [(String, DBusValue)] = [
            ("id", .string(id)), ("uuid", .string(uuid)), ("type", .string("802-11-wireless")),
            ("autoconnect", .bool(false)),
        ]
        if let owner { connection.append(("permissions", .strings(["user:\(owner):"]))) }
        var sections: [(String, [(String, DBusValue)])] = [
            ("connection", connection),
            ("802-11-wireless", [("ssid", .bytes(network.ssid)), ("mode", .string("infrastructure"))]),
            // A board has no way to the internet: whatever else this machine is connected by goes on serving it.
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
