// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Where a bus listens.
public struct DBusAddress: Sendable, Hashable, CustomStringConvertible {
    /// As in the D-Bus specification: `unix:path=/run/dbus/system_bus_socket`, several separated by semicolons.
    public var description: String

    /// An address that was given.
    public static func at(_ address: String) -> DBusAddress { DBusAddress(description: address) }

    /// The system's bus, or the one that `DBUS_SYSTEM_BUS_ADDRESS` names.
    public static var system: DBusAddress {
        let named = getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) }
        if let named, !named.isEmpty { return .at(named) }
        // The first is today's place, the second that of machines without /run.
        return .at("unix:path=/run/dbus/system_bus_socket;unix:path=/var/run/dbus/system_bus_socket")
    }
}
