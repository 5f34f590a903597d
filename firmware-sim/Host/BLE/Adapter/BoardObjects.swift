// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The objects that the Bluetooth service reads from the board: the service, its characteristics with their descriptions, and the
/// advertisement. The service reads them by `GetManagedObjects` and `GetAll`.
struct BoardObjects {
    static let application = "/rainkit/board"
    static let advertisement = "/rainkit/advertisement"
    private static let service = application + "/service0"

    let server: GATTApplication
    /// The name that scanners see.
    let name: String
    /// The values require an encrypted link, as on a board with "force link encryption".
    var isEncrypted = false

    private static func path(ofCharacteristic index: Int) -> String { "\(service)/char\(index)" }

    /// An object of the board.
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
                // Part of the scan response, as on the board.
                ("LocalName", .string(name)),
                // General discoverable. The service adds "no BR/EDR" if the adapter has none.
                ("Discoverable", .bool(true)),
                // In milliseconds, as in the firmware. With the kernel's default, finding the board takes eight times as long.
                ("MinInterval", .uint32(160)), ("MaxInterval", .uint32(160)),
            ]
        }
    }

    /// Returns the reply to `GetManagedObjects` at a path: all objects below it, parents first.
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

/// The agent of a board on a real adapter with required encryption. It accepts every device that pairs with the board, like a board without
/// keys or a display (Just Works). It ignores other pairings of the machine.
enum BoardAgent {
    private static let path = "/rainkit/agent"
    private static let interface = "org.bluez.Agent1"

    /// The calls to the Bluetooth service once the board advertises. If the service refuses them, the board has no encryption.
    static var registration: [DBusCall] {
        [
            DBusCall(
                AdapterCall.service, "/org/bluez", "org.bluez.AgentManager1", "RegisterAgent",
                [.objectPath(path), .string("NoInputNoOutput")]),
            DBusCall(
                AdapterCall.service, "/org/bluez", "org.bluez.AgentManager1", "RequestDefaultAgent",
                [.objectPath(path)]),
        ]
    }

    static func isAsked(_ call: DBusMessage) -> Bool { call.path == path && call.interface == interface }

    /// - Parameter adapter: the object path of the board's adapter.
    static func agrees(to call: DBusMessage, at adapter: String?) -> Bool {
        switch call.member {
        case "Release", "Cancel": return true
        case "RequestConfirmation", "RequestAuthorization", "AuthorizeService":
            guard let adapter, let device = call.arguments.first?.text else { return false }
            return device.hasPrefix(adapter + "/dev_")
        default: return false
        }
    }
}
