// SPDX-License-Identifier: Apache-2.0

/// The objects that bluetoothd shows, and their paths. Clients take paths apart, so the format is part of the interface.
enum BlueZPath: Hashable, Sendable {
    case root
    /// `/org`, which has nothing but children.
    case organisation
    case bluez
    case adapter
    case device(Int)
    case service(Int)
    case characteristic(Int, Int)
    case descriptor(Int, Int)

    static let bluezText = "/org/bluez"
    static let adapterText = "/org/bluez/hci0"

    static func deviceText(_ address: String) -> String {
        adapterText + "/dev_" + address.split(separator: ":").joined(separator: "_")
    }

    /// `service000c`: four lower-case hex digits, from which clients read the handle.
    static func attribute(_ kind: String, _ handle: UInt16) -> String {
        kind + hexDigits([UInt8(handle >> 8), UInt8(handle & 0xFF)])
    }
}
