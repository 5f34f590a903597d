// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What BlueZ's answer to a read or write means (BlueZ 5.66, `create_gatt_dbus_error` in src/gatt-client.c).
enum GATTFailure: Equatable {
    case busy
    case wantsPairing
    case tooLong
    case refused
    case linkLost
    case timeout
    case cancelled
    /// A firmware's refusal, or what BlueZ says of an operation that the end of the link cut off: ATT error 0x0e ("unlikely") from
    /// 5.66, other words from other versions.
    case ambiguous

    init(_ error: DBusError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .timeout: self = .timeout
        case .disconnected: self = .linkLost
        case .remote: self.init(name: error.name ?? "", text: error.message)
        default: self = .ambiguous
        }
    }

    private init(name: String, text: String) {
        switch name {
        case BlueZErrorName.inProgress: self = .busy
        case BlueZErrorName.invalidArguments where text == "Invalid Length": self = .tooLong
        case BlueZErrorName.notPermitted where text == "Not paired": self = .wantsPairing
        case BlueZErrorName.notPermitted, BlueZErrorName.notSupported, BlueZErrorName.notAuthorized,
            BlueZErrorName.invalidArguments:
            self = .refused
        case BlueZErrorName.notConnected, DBusErrorName.unknownObject, DBusErrorName.serviceUnknown:
            self = .linkLost
        // BlueZ gave up waiting for its own answer.
        case DBusErrorName.noReply: self = .timeout
        case BlueZErrorName.failed where text == "Not connected": self = .linkLost
        case BlueZErrorName.failed where text.hasPrefix("Operation failed with ATT error: 0x0e"): self = .ambiguous
        case BlueZErrorName.failed where text.hasPrefix("Operation failed with ATT error"): self = .refused
        default: self = .ambiguous
        }
    }

    func error(_ cause: DBusError) -> BluetoothError {
        switch self {
        case .cancelled: .cancelled
        case .timeout: BluetoothError(.timeout, message: "The board did not answer in time.")
        case .tooLong: BluetoothError(.tooLong, message: "The board does not take a value of this length.")
        case .refused, .ambiguous: BluetoothError(.refused, message: "The board refused: \(cause.message).")
        case .wantsPairing:
            BluetoothError(.pairingFailed, message: "The board wants an encrypted link, even after pairing.")
        case .linkLost, .busy:
            BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.")
        }
    }
}
