// SPDX-License-Identifier: Apache-2.0

/// An error as bluetoothd puts it on the bus: clients match on the name, and some on the text.
///
/// Names and texts are those of BlueZ 5.66 (`src/error.c`, `src/gatt-client.c`, `gdbus/object.c`).
struct BlueZError: Error, Hashable, Sendable {
    var name: String
    var text: String

    private init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }

    private static func bluez(_ name: String, _ text: String) -> BlueZError {
        BlueZError("org.bluez.Error." + name, text)
    }

    private static func bus(_ name: String, _ text: String) -> BlueZError {
        BlueZError("org.freedesktop.DBus.Error." + name, text)
    }

    static func failed(_ text: String) -> BlueZError { bluez("Failed", text) }
    /// What comes of a connection that was aborted, that is under way already, or that finds nobody.
    static let connectionAborted = failed("le-connection-abort-by-local")
    static let noDiscovery = failed("No discovery started")
    static let notConnected = failed("Not connected")
    /// An operation that was under way when its link broke.
    static let operationFailed = failed("Operation failed")
    static let notReady = bluez("NotReady", "Resource Not Ready")
    /// Something of the kind is under way (`btd_error_busy`).
    static let busy = bluez("InProgress", "Operation already in progress")
    /// The same attribute is being read or written (`btd_error_in_progress`).
    static let inProgress = bluez("InProgress", "In Progress")
    static let doesNotExist = bluez("DoesNotExist", "Does Not Exist")
    static let alreadyExists = bluez("AlreadyExists", "Already Exists")
    static let invalidArguments = bluez("InvalidArguments", "Invalid arguments in method call")
    static let notSupported = bluez("NotSupported", "Operation is not supported")
    static let notPaired = bluez("NotPermitted", "Not paired")
    static let notAuthorized = bluez("NotAuthorized", "Operation Not Authorized")
    static let authenticationFailed = bluez("AuthenticationFailed", "Authentication Failed")
    static let blocked = bluez("Blocked", "Blocked through rfkill")

    static func unknownObject(_ path: String) -> BlueZError {
        bus("UnknownObject", "No object at \(path)")
    }

    static func unknownMethod(_ call: RadioCall) -> BlueZError {
        bus(
            "UnknownMethod",
            "Method \"\(call.member)\" with signature \"\(call.signature)\" on interface "
                + "\"\(call.interface ?? "(null)")\" doesn't exist\n")
    }

    static func noSuchInterface(_ interface: String) -> BlueZError {
        bus("InvalidArgs", "No such interface '\(interface)'")
    }

    static func noSuchProperty(_ property: String) -> BlueZError {
        bus("InvalidArgs", "No such property '\(property)'")
    }

    static func readOnly(_ property: String) -> BlueZError {
        bus("PropertyReadOnly", "Property '\(property)' is not writable")
    }

    /// What BlueZ makes of an error that the peripheral sent.
    init(_ error: ATTError) {
        switch error {
        case .readNotPermitted: self = .bluez("NotPermitted", "Read not permitted")
        case .writeNotPermitted: self = .bluez("NotPermitted", "Write not permitted")
        case .insufficientAuthentication, .insufficientEncryption, .insufficientKeySize: self = .notPaired
        case .invalidOffset: self = .bluez("InvalidArguments", "Invalid offset")
        case .invalidValueLength: self = .bluez("InvalidArguments", "Invalid Length")
        case .insufficientAuthorization: self = .notAuthorized
        case .requestNotSupported: self = .notSupported
        default:
            self = .failed("Operation failed with ATT error: 0x" + hexDigits([error.code]))
        }
    }
}
