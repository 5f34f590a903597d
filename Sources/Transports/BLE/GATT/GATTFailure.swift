// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What BlueZ's answer to a read or write means (BlueZ 5.66, `create_gatt_dbus_error` in src/gatt-client.c).
enum GATTFailure: Equatable {
    case busy
    case wantsPairing
    case tooLong
    /// A handler of the firmware failed.
    case refused
    /// The board, or BlueZ, does not let that attribute be used so.
    case notAllowed
    /// An error that says nothing of the request (ATT error 0x0e, "unlikely", and BlueZ's own), over a link that stays: the board may have
    /// acted on it.
    case unclear
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
            self = .notAllowed
        case BlueZErrorName.notConnected, DBusErrorName.unknownObject: self = .linkLost
        // BlueZ gave up waiting for its own answer, or ended.
        case DBusErrorName.noReply: self = .timeout
        // What a BlueZ had that is gone is gone with it.
        case let name where DBusErrorName.isAbsence(name): self = .linkLost
        case BlueZErrorName.failed where text == "Not connected": self = .linkLost
        case BlueZErrorName.failed where Self.isHandlers(text): self = .refused
        default: self = .ambiguous
        }
    }

    /// What a failed handler of the firmware is over the air: 0x04 from NimBLE, 0x85 from Bluedroid, an application's 0x80 to 0x9f from others
    /// (ESP-IDF, protocomm_nimble.c and simple_ble.c).
    private static func isHandlers(_ text: String) -> Bool {
        let words = "Operation failed with ATT error: 0x"
        guard text.hasPrefix(words), let code = UInt8(text.dropFirst(words.count).prefix(2), radix: 16) else {
            return false
        }
        return code == 0x04 || (0x80...0x9F).contains(code)
    }

    func error(_ cause: DBusError) -> BluetoothError {
        switch self {
        case .cancelled: .cancelled
        case .timeout: BluetoothError(.timeout, message: "The board did not answer in time.")
        case .tooLong: BluetoothError(.tooLong, message: "The board does not take a value of this length.")
        case .refused: BluetoothError(.refused, message: "The board refused: \(cause.message).")
        case .notAllowed:
            BluetoothError(
                .notAllowed, message: "The board does not let this be read or written (\(cause.message)).")
        case .unclear, .ambiguous:
            BluetoothError(
                .linkLost,
                message: "The board answered with an error that says nothing of the request (\(cause.message)).")
        case .wantsPairing:
            BluetoothError(.pairingFailed, message: "The board wants an encrypted link, even after pairing.")
        case .linkLost, .busy:
            BluetoothError(.linkLost, message: "The Bluetooth connection to the board broke.")
        }
    }
}
