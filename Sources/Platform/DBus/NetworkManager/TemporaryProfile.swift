// SPDX-License-Identifier: Apache-2.0
import RainCore

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
