// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainDBus

/// Which characteristic carries which endpoint of a board.
///
/// The names stand in the descriptors 0x2901 of the characteristics (ESP-IDF, protocomm_nimble.c): ids are given in order of
/// creation and say nothing. Only where no descriptor can be read is the id in the UUID taken for what it usually means.
struct EndpointMap: Sendable, Equatable {
    struct Characteristic: Sendable, Equatable {
        var path: String
        /// Lower case.
        var uuid: String
        /// The service's, lower case.
        var service: String
        /// The path of the descriptor with the endpoint's name.
        var description: String?
    }

    /// A board has a handful; a hundred is a mistake or an attack.
    static let maximumCharacteristics = 64

    private(set) var paths: [Endpoint: String] = [:]

    subscript(endpoint: Endpoint) -> String? { paths[endpoint] }

    /// The characteristics of a device, without those of standard services.
    static func characteristics(of device: String, in tree: ObjectTree) -> [Characteristic] {
        var found: [Characteristic] = []
        for service in tree.paths(with: BlueZName.gattService, below: device) {
            guard let serviceUUID = tree[service, BlueZName.gattService]?["UUID"]?.text, !isStandard(serviceUUID) else {
                continue
            }
            for path in tree.paths(with: BlueZName.characteristic, below: service) {
                guard found.count < maximumCharacteristics else { return found }
                guard let uuid = tree[path, BlueZName.characteristic]?["UUID"]?.text else { continue }
                let description = tree.paths(with: BlueZName.descriptor, below: path).first {
                    tree[$0, BlueZName.descriptor]?["UUID"]?.text?.asciiLowercased == userDescription
                }
                found.append(
                    Characteristic(
                        path: path, uuid: uuid.asciiLowercased, service: serviceUUID.asciiLowercased,
                        description: description))
            }
        }
        return found
    }

    /// Takes what the descriptor of a characteristic says; nil where there is none, or it cannot be read.
    mutating func add(_ characteristic: Characteristic, name: [UInt8]?) {
        if let name, (1...64).contains(name.count), name.allSatisfy({ (0x21...0x7E).contains($0) }) {
            paths[Endpoint(name: name)] = characteristic.path
        } else if name == nil, let endpoint = Self.usualEndpoint(characteristic), paths[endpoint] == nil {
            paths[endpoint] = characteristic.path
        }
    }

    /// Whether a provisioning board can be talked to with this.
    var isComplete: Bool { paths[.session] != nil && paths[.version] != nil && paths[.config] != nil }

    static let userDescription = "00002901-0000-1000-8000-00805f9b34fb"

    /// Of the Bluetooth SIG, such as 0x1800 and 0x1801.
    private static func isStandard(_ uuid: String) -> Bool {
        uuid.asciiLowercased.hasSuffix("-0000-1000-8000-00805f9b34fb") && uuid.hasPrefix("0000")
    }

    /// A characteristic's UUID is the service's with a 16-bit id in it (characters 5 to 8).
    private static func usualEndpoint(_ characteristic: Characteristic) -> Endpoint? {
        let (uuid, service) = (Array(characteristic.uuid.utf8), Array(characteristic.service.utf8))
        guard uuid.count == 36, service.count == 36, uuid[..<4] == service[..<4], uuid[8...] == service[8...] else {
            return nil
        }
        return switch String(decoding: uuid[4..<8], as: UTF8.self) {
        case "ff4f": .control
        case "ff50": .scan
        case "ff51": .session
        case "ff52": .config
        case "ff53": .version
        // The first of the application's own, which in RainMaker's firmware without challenge-response is this one.
        case "ff54": .userMapping
        default: nil
        }
    }
}
