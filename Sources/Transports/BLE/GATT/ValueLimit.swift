// SPDX-License-Identifier: Apache-2.0

/// How long a value a board takes.
///
/// Espressif's two stacks differ: NimBLE takes 512 bytes, Bluedroid 481 (257 where Security 2 is not compiled in), and the second
/// shows itself by the larger MTU that it agrees to (ESP-IDF, protocomm_nimble.c and simple_ble.c).
enum ValueLimit {
    /// The longest an attribute can be (Bluetooth Core Specification, volume 3, part F, 3.2.9).
    static let attribute = 512
    static let bluedroid = 481
    /// NimBLE's preferred MTU. BlueZ offers 517, and Bluedroid's own is 500.
    static let nimbleMTU = 256

    static func bytes(mtu: Int?) -> Int {
        guard let mtu, mtu > nimbleMTU else { return attribute }
        return bluedroid
    }
}
