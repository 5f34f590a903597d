// SPDX-License-Identifier: Apache-2.0

/// The interfaces that the radio serves, and the methods of each with the types of their arguments.
enum BlueZInterface: String, Sendable, CaseIterable {
    case objectManager = "org.freedesktop.DBus.ObjectManager"
    case properties = "org.freedesktop.DBus.Properties"
    case introspectable = "org.freedesktop.DBus.Introspectable"
    case agentManager = "org.bluez.AgentManager1"
    case adapter = "org.bluez.Adapter1"
    case device = "org.bluez.Device1"
    case service = "org.bluez.GattService1"
    case characteristic = "org.bluez.GattCharacteristic1"
    case descriptor = "org.bluez.GattDescriptor1"

    struct Method: Sendable {
        var name: String
        var takes: [String]
        var gives: [String]

        init(_ name: String, _ takes: [String] = [], _ gives: [String] = []) {
            self.name = name
            self.takes = takes
            self.gives = gives
        }
    }

    var methods: [Method] {
        switch self {
        case .objectManager: [Method("GetManagedObjects", [], ["a{oa{sa{sv}}}"])]
        case .properties:
            [
                Method("Get", ["s", "s"], ["v"]), Method("GetAll", ["s"], ["a{sv}"]), Method("Set", ["s", "s", "v"]),
            ]
        case .introspectable: [Method("Introspect", [], ["s"])]
        case .agentManager:
            [
                Method("RegisterAgent", ["o", "s"]), Method("UnregisterAgent", ["o"]),
                Method("RequestDefaultAgent", ["o"]),
            ]
        case .adapter:
            [
                Method("StartDiscovery"), Method("StopDiscovery"), Method("SetDiscoveryFilter", ["a{sv}"]),
                Method("GetDiscoveryFilters", [], ["as"]), Method("RemoveDevice", ["o"]),
            ]
        case .device: [Method("Connect"), Method("Disconnect"), Method("Pair"), Method("CancelPairing")]
        case .service: []
        case .characteristic:
            [
                Method("ReadValue", ["a{sv}"], ["ay"]), Method("WriteValue", ["ay", "a{sv}"]), Method("StartNotify"),
                Method("StopNotify"), Method("AcquireWrite", ["a{sv}"], ["h", "q"]),
                Method("AcquireNotify", ["a{sv}"], ["h", "q"]),
            ]
        case .descriptor: [Method("ReadValue", ["a{sv}"], ["ay"]), Method("WriteValue", ["ay", "a{sv}"])]
        }
    }

    /// The properties that a client may set, and their types.
    var writable: [String: String] {
        switch self {
        case .adapter:
            [
                "Powered": "b", "Alias": "s", "Discoverable": "b", "Pairable": "b", "DiscoverableTimeout": "u",
                "PairableTimeout": "u",
            ]
        case .device: ["Alias": "s", "Trusted": "b", "Blocked": "b"]
        default: [:]
        }
    }
}
