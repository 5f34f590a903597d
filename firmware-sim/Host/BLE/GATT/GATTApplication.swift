// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// The GATT service of a board: one characteristic for each endpoint, each with its name in a user description.
///
/// protocomm gives each endpoint a 16-bit id, the fixed ones those of the provisioning service and the application's the
/// following ones in the order in which they were made, and sets it into the service's UUID.
struct GATTApplication: Sendable, Equatable {
    struct Characteristic: Sendable, Equatable {
        var endpoint: Endpoint
        /// 128-bit, lower case.
        var uuid: String
        /// Of the declaration; the value has the next one.
        var handle: UInt16
        var descriptorHandle: UInt16

        /// What the user description says: the endpoint's name, without a NUL.
        var userDescription: [UInt8] { endpoint.name }
    }

    /// What ESP-IDF's examples and RainMaker advertise.
    static let rainMakerService = "021a9004-0382-4aea-bff4-6b3f1c5adfb4"
    /// Characteristic User Description (0x2901).
    static let userDescriptionUUID = "00002901-0000-1000-8000-00805f9b34fb"
    /// Read, and write with response. There is no write without response.
    static let flags = ["read", "write"]
    /// The same where the link has to be encrypted.
    static let encryptedFlags = ["read", "write", "encrypt-read", "encrypt-write"]

    var serviceUUID: String
    var serviceHandle: UInt16
    var characteristics: [Characteristic]

    /// - Parameters:
    ///   - endpoints: in the order in which the firmware makes them.
    ///   - serviceHandle: the first handle after those of the stack's own services.
    init(endpoints: [Endpoint], serviceUUID: String = rainMakerService, serviceHandle: UInt16 = 0x000C) {
        self.serviceUUID = serviceUUID
        self.serviceHandle = serviceHandle
        characteristics = []
        var handle = serviceHandle + 1
        for (endpoint, id) in zip(endpoints, Self.shortIDs(of: endpoints)) {
            characteristics.append(
                Characteristic(
                    endpoint: endpoint, uuid: Self.uuid(id, in: serviceUUID), handle: handle,
                    descriptorHandle: handle + 2))
            handle += 3
        }
    }

    /// Those that a firmware without any application of its own would have.
    var withoutApplication: GATTApplication {
        var other = self
        other.characteristics.removeAll { Self.fixedIDs[$0.endpoint] == nil }
        // Where all are the service's own, the other firmware is so old that it has no prov-ctrl.
        if other == self { other.characteristics.removeAll { $0.endpoint == .control } }
        return other
    }

    private static let fixedIDs: [Endpoint: UInt16] = [
        .control: 0xFF4F, .scan: 0xFF50, .session: 0xFF51, .config: 0xFF52, .version: 0xFF53,
    ]

    private static func shortIDs(of endpoints: [Endpoint]) -> [UInt16] {
        var next: UInt16 = 0xFF54
        return endpoints.map { endpoint in
            if let fixed = fixedIDs[endpoint] { return fixed }
            defer { next += 1 }
            return next
        }
    }

    /// The service's UUID with the 16-bit id at bytes 12 and 13 of its little-endian form: the second group of four digits.
    static func uuid(_ id: UInt16, in service: String) -> String {
        let digits = hexDigits([UInt8(id >> 8), UInt8(id & 0xFF)])
        return service.prefix(4) + digits + service.dropFirst(8)
    }
}
