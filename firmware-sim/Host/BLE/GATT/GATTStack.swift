// SPDX-License-Identifier: Apache-2.0

/// The Bluetooth host in a board's firmware: ESP-IDF has two, and protocomm behaves differently on each.
///
/// Sources: ESP-IDF `protocomm_nimble.c`, `protocomm_ble.c` and `simple_ble.c`.
enum GATTStack: String, Sendable, CaseIterable {
    case nimble, bluedroid

    /// The longest value of a characteristic, written or read, unless the build says otherwise (481 with Security 2
    /// compiled in, 257 in older Bluedroid firmware without it).
    var valueLimit: Int {
        switch self {
        case .nimble: 512
        case .bluedroid: 481
        }
    }

    /// The MTU that the device accepts: NimBLE's preferred one, Bluedroid's local one.
    var mtu: UInt16 {
        switch self {
        case .nimble: 256
        case .bluedroid: 500
        }
    }

    /// The error that the client gets when a handler failed.
    var handlerFailure: ATTError {
        switch self {
        case .nimble: .invalidPDU
        case .bluedroid: .bluedroidError
        }
    }

    /// Bluedroid's protocomm closes the link when a handler failed; NimBLE's keeps it.
    var closesOnFailure: Bool { self == .bluedroid }
}
