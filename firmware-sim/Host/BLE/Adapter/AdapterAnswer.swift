// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What a board on a real adapter answers to a call of the Bluetooth service, apart from what its endpoints do.
struct AdapterAnswer: Error {
    /// The names that BlueZ turns into errors of the Attribute Protocol (`gatt-database.c`). For any other it sends 0x0E,
    /// "unlikely".
    var name: String
    var message: String

    static let unknownObject = AdapterAnswer(
        name: "org.freedesktop.DBus.Error.UnknownObject", message: "No such object")
    static let unknownMethod = AdapterAnswer(
        name: "org.freedesktop.DBus.Error.UnknownMethod", message: "No such method")
    static let invalidArguments = AdapterAnswer(
        name: "org.freedesktop.DBus.Error.InvalidArgs", message: "The arguments are of another type")

    init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// An application's own codes, 0x80 to 0x9F, go over the air as they are, written as a number in the text. Of the protocol's, those
    /// that have a name do. NimBLE's 0x04 cannot be sent: a client of BlueZ gets 0x80 in its place.
    init(_ error: ATTError) {
        let name: String
        var message = "ATT error"
        switch error {
        case .requestNotSupported: name = "NotSupported"
        case .invalidOffset: name = "InvalidOffset"
        case .invalidValueLength: name = "InvalidValueLength"
        case .insufficientAuthorization: name = "NotAuthorized"
        case .readNotPermitted, .writeNotPermitted: name = "NotPermitted"
        case .unlikely: name = "Unlikely"
        default:
            name = "Failed"
            message = String((0x80...0x9F).contains(error.code) ? error.code : 0x80)
        }
        self.init(name: "org.bluez.Error." + name, message: message)
    }
}

/// The options that BlueZ hands to `ReadValue` and `WriteValue`.
struct ValueOptions: Equatable {
    /// The device at the other end of the link, an object path.
    var device: String?
    var offset = 0
    /// What the two sides of the link agreed on.
    var mtu: Int?
    /// A first part of a long write asks for leave; the whole value comes with a call of its own.
    var asksForLeave = false

    init(_ options: DBusValue?) {
        device = options?["device"]?.text
        offset = options?["offset"]?.integer ?? 0
        mtu = options?["mtu"]?.integer
        asksForLeave = options?["prepare-authorize"]?.boolean ?? false
    }
}
