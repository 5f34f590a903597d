// SPDX-License-Identifier: Apache-2.0

/// Names of BlueZ's interfaces (BlueZ, doc/).
enum BlueZName {
    static let service = "org.bluez"
    /// Where adapters are.
    static let root = "/org/bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let descriptor = "org.bluez.GattDescriptor1"
    static let agentManager = "org.bluez.AgentManager1"
    static let agent = "org.bluez.Agent1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"
}

/// Names of BlueZ's errors (BlueZ, src/error.h and doc/).
enum BlueZErrorName {
    static let alreadyConnected = "org.bluez.Error.AlreadyConnected"
    static let alreadyExists = "org.bluez.Error.AlreadyExists"
    static let blocked = "org.bluez.Error.Blocked"
    static let doesNotExist = "org.bluez.Error.DoesNotExist"
    static let failed = "org.bluez.Error.Failed"
    static let inProgress = "org.bluez.Error.InProgress"
    static let invalidArguments = "org.bluez.Error.InvalidArguments"
    static let notAuthorized = "org.bluez.Error.NotAuthorized"
    static let notAvailable = "org.bluez.Error.NotAvailable"
    static let notConnected = "org.bluez.Error.NotConnected"
    static let notPermitted = "org.bluez.Error.NotPermitted"
    static let notReady = "org.bluez.Error.NotReady"
    static let notSupported = "org.bluez.Error.NotSupported"
    static let rejected = "org.bluez.Error.Rejected"
}
