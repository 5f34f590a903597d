// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The controller that the radio pretends to have.
struct RadioAdapter: Sendable {
    let address = "02:00:5E:00:53:01"
    var isPowered: Bool
    var isDiscovering = false
    var alias = "firmware-sim"
    var isDiscoverable = false
    var isPairable = true
    var discoverableTimeout: UInt32 = 180
    var pairableTimeout: UInt32 = 0

    var properties: Properties {
        [
            ("Address", .string(address)), ("AddressType", .string("public")), ("Name", .string("firmware-sim")),
            ("Alias", .string(alias)), ("Class", .uint32(0)), ("Powered", .bool(isPowered)),
            ("Discoverable", .bool(isDiscoverable)), ("DiscoverableTimeout", .uint32(discoverableTimeout)),
            ("Pairable", .bool(isPairable)), ("PairableTimeout", .uint32(pairableTimeout)),
            ("Discovering", .bool(isDiscovering)), ("UUIDs", .strings(RadioDevice.genericServices)),
            ("Modalias", .string("usb:v1D6Bp0246d0542")), ("Roles", .strings(["central"])),
        ]
    }
}
