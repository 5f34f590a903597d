// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What a signal of the Bluetooth service means for a board.
enum AdapterSignal {
    static func events(of signal: DBusMessage) -> [AdapterFront.Event] {
        switch signal.member {
        case "InterfacesAdded":
            guard let path = signal.arguments.first?.text, let interfaces = signal.arguments.last else { return [] }
            return interfaces["org.bluez.LEAdvertisingManager1"] == nil ? [] : [.appeared(path: path)]
        case "InterfacesRemoved":
            guard let path = signal.arguments.first?.text, let interfaces = signal.arguments.last?.texts,
                !Set(interfaces).isDisjoint(with: ["org.bluez.Adapter1", "org.bluez.Device1"])
            else { return [] }
            return [.vanished(path: path)]
        case "PropertiesChanged":
            guard let path = signal.path, signal.arguments.first?.text == "org.bluez.Device1",
                let isConnected = signal.arguments.dropFirst().first?["Connected"]?.boolean
            else { return [] }
            return [.connected(device: path, isConnected)]
        default: return []
        }
    }
}
