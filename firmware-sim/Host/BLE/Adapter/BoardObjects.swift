// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The objects that the Bluetooth service reads from us: the service, its characteristics with their descriptions, and the
/// advertisement. The service asks for them by `GetManagedObjects` and `GetAll`.
struct BoardObjects {
    static let application = "/rainkit/board"
    static let advertisement = "/rainkit/advertisement"
    static let service = application + "/service0"

    let server: GATTApplication
    /// What scanners see.
    let name: String
    /// The values need an encrypted link, as on a board with "force link encryption".
    var isEncrypted = false

    static func path(ofCharacteristic index: Int) -> String { "\(service)/char\(index)" }

    /// One of our objects.
    enum Object: Equatable {
        case service
        case characteristic(Int)
        case description(Int)
        case advertisement
    }

    func object(at path: String) -> Object? {
        if path == Self.service { return .service }
        if path == Self.advertisement { return .advertisement }
        for index in server.characteristics.indices {
            let characteristic = Self.path(ofCharacteristic: index)
            if path == characteristic { return .characteristic(index) }
            if path == characteristic + "/desc0" { return .description(index) }
        }
        return nil
    }

    func interface(of object: Object) -> String {
        switch object {
        case .service: "org.bluez.GattService1"
        case .characteristic: "org.bluez.GattCharacteristic1"
        case .description: "org.bluez.GattDescriptor1"
        case .advertisement: "org.bluez.LEAdvertisement1"
        }
    }

    func properties(of object: Object) -> [(String, DBusValue)] {
        switch object {
        case .service: return [("UUID", .string(server.serviceUUID)), ("Primary", .bool(true))]
        case .characteristic(let index):
            return [
                ("UUID", .string(server.characteristics[index].uuid)), ("Service", .objectPath(Self.service)),
                ("Flags", .strings(isEncrypted ? GATTApplication.encryptedFlags : GATTApplication.flags)),
            ]
        case .description(let index):
            return [
                ("UUID", .string(GATTApplication.userDescriptionUUID)),
                ("Characteristic", .objectPath(Self.path(ofCharacteristic: index))), ("Flags", .strings(["read"])),
            ]
        case .advertisement:
            return [
                ("Type", .string("peripheral")), ("ServiceUUIDs", .strings([server.serviceUUID])),
                // Goes into the scan response, as on the board.
                ("LocalName", .string(name)),
                // General discoverable; the service adds that there is no BR/EDR where the adapter has none.
                ("Discoverable", .bool(true)),
                // Milliseconds, the firmware's own; the kernel's default is eight times slower to be found.
                ("MinInterval", .uint32(160)), ("MaxInterval", .uint32(160)),
            ]
        }
    }

    /// The reply to `GetManagedObjects` at a path: everything below it, parents first.
    func managedObjects(below root: String) -> DBusValue {
        var paths = [Self.service]
        for index in server.characteristics.indices {
            let path = Self.path(ofCharacteristic: index)
            paths += [path, path + "/desc0"]
        }
        paths.append(Self.advertisement)
        let below = paths.filter { root == "/" || $0 == root || $0.hasPrefix(root + "/") }
        return .dictionary(
            below.map { path in
                let object = object(at: path)!
                return DBusEntry(
                    .objectPath(path),
                    .dictionary(
                        [DBusEntry(.string(interface(of: object)), .properties(properties(of: object)))],
                        key: "s", value: "a{sv}"))
            }, key: "o", value: "a{sa{sv}}")
    }
}
