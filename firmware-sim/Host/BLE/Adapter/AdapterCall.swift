// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What we ask of the Bluetooth service.
enum AdapterCall: Equatable, Hashable {
    case listObjects
    case powerOn
    /// Sets the name that the adapter reports.
    case rename(String)
    case registerApplication
    case registerAdvertisement
    case unregisterApplication
    case unregisterAdvertisement
    case disconnect(device: String)

    static let service = "org.bluez"

    func message(adapter: String) -> DBusCall {
        switch self {
        case .listObjects:
            DBusCall(Self.service, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        case .powerOn: set(adapter, "Powered", .bool(true))
        case .rename(let name): set(adapter, "Alias", .string(name))
        case .registerApplication:
            DBusCall(
                Self.service, adapter, "org.bluez.GattManager1", "RegisterApplication",
                [.objectPath(BoardObjects.application), .properties([])])
        case .registerAdvertisement:
            DBusCall(
                Self.service, adapter, "org.bluez.LEAdvertisingManager1", "RegisterAdvertisement",
                [.objectPath(BoardObjects.advertisement), .properties([])])
        case .unregisterApplication:
            DBusCall(
                Self.service, adapter, "org.bluez.GattManager1", "UnregisterApplication",
                [.objectPath(BoardObjects.application)])
        case .unregisterAdvertisement:
            DBusCall(
                Self.service, adapter, "org.bluez.LEAdvertisingManager1", "UnregisterAdvertisement",
                [.objectPath(BoardObjects.advertisement)])
        case .disconnect(let device): DBusCall(Self.service, device, "org.bluez.Device1", "Disconnect")
        }
    }

    private func set(_ adapter: String, _ name: String, _ value: DBusValue) -> DBusCall {
        DBusCall(
            Self.service, adapter, "org.freedesktop.DBus.Properties", "Set",
            [.string("org.bluez.Adapter1"), .string(name), .variant(value)])
    }
}
