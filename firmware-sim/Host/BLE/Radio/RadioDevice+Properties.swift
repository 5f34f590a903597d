// SPDX-License-Identifier: Apache-2.0
import RainDBus

typealias Properties = [(String, DBusValue)]

extension RadioDevice {
    /// Generic Access and Generic Attribute, which every peripheral has.
    static let genericServices = ["00001800-0000-1000-8000-00805f9b34fb", "00001801-0000-1000-8000-00805f9b34fb"]

    /// Absent properties are left out, not empty: that is how clients tell.
    func properties(_ faults: RadioFaults) -> Properties {
        var properties: Properties = [("Address", .string(address)), ("AddressType", .string("public"))]
        if !faults.hidesName { properties.append(("Name", .string(name))) }
        properties += [
            ("Alias", .string(alias(faults))), ("Paired", .bool(isPaired)), ("Bonded", .bool(hasStaleBond)),
            ("Trusted", .bool(isTrusted)), ("Blocked", .bool(isBlocked)), ("LegacyPairing", .bool(false)),
        ]
        if let rssi { properties.append(("RSSI", .int16(rssi))) }
        return properties + [
            ("Connected", .bool(isConnected)), ("UUIDs", uuids(faults)),
            ("Adapter", .objectPath(BlueZPath.adapterText)), ("ServicesResolved", .bool(isResolved)),
        ]
    }

    /// Clients take the name from here; the address with dashes means that there is none.
    func alias(_ faults: RadioFaults) -> String { alias ?? (faults.hidesName ? dashedAddress : name) }

    func uuids(_ faults: RadioFaults) -> DBusValue {
        // The advertisement has one; what was resolved stays.
        let generic = faults.listsGenericServices && !exported.isEmpty ? Self.genericServices : []
        return .strings(generic + [application.serviceUUID])
    }

    var serviceProperties: Properties {
        [
            ("UUID", .string(application.serviceUUID)), ("Device", .objectPath(path)), ("Primary", .bool(true)),
            ("Includes", .array([], of: "o")),
        ]
    }

    func characteristicProperties(_ index: Int, mtu: UInt16) -> Properties {
        var properties: Properties = [
            ("UUID", .string(application.characteristics[index].uuid)), ("Service", .objectPath(servicePath)),
            ("Flags", .strings(GATTApplication.flags)),
        ]
        if let value = lastValues[index] { properties.append(("Value", .bytes(value))) }
        if isConnected { properties.append(("MTU", .uint16(mtu))) }
        return properties
    }

    func descriptorProperties(_ index: Int) -> Properties {
        var properties: Properties = [
            ("UUID", .string(GATTApplication.userDescriptionUUID)),
            ("Characteristic", .objectPath(characteristicPath(index))),
        ]
        if lastDescriptions.contains(index) {
            properties.append(("Value", .bytes(application.characteristics[index].userDescription)))
        }
        return properties
    }
}
