// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainDBus

/// The radio's interfaces, and the methods of each with the types of their arguments.
enum BlueZInterface: String, Sendable, CaseIterable {
    case objectManager = "org.freedesktop.DBus.ObjectManager"
    case properties = "org.freedesktop.DBus.Properties"
    case introspectable = "org.freedesktop.DBus.Introspectable"
    case agentManager = "org.bluez.AgentManager1"
    case adapter = "org.bluez.Adapter1"
    case device = "org.bluez.Device1"
    case service = "org.bluez.GattService1"
    case characteristic = "org.bluez.GattCharacteristic1"
    case descriptor = "org.bluez.GattDescriptor1"

    struct Method: Sendable {
        var name: String
        var takes: [String]
        fileprivate var gives: [String]

        fileprivate init(_ name: String, _ takes: [String] = [], _ gives: [String] = []) {
            self.name = name
            self.takes = takes
            self.gives = gives
        }
    }

    var methods: [Method] {
        switch self {
        case .objectManager: [Method("GetManagedObjects", [], ["a{oa{sa{sv}}}"])]
        case .properties:
            [
                Method("Get", ["s", "s"], ["v"]), Method("GetAll", ["s"], ["a{sv}"]), Method("Set", ["s", "s", "v"]),
            ]
        case .introspectable: [Method("Introspect", [], ["s"])]
        case .agentManager:
            [
                Method("RegisterAgent", ["o", "s"]), Method("UnregisterAgent", ["o"]),
                Method("RequestDefaultAgent", ["o"]),
            ]
        case .adapter:
            [
                Method("StartDiscovery"), Method("StopDiscovery"), Method("SetDiscoveryFilter", ["a{sv}"]),
                Method("GetDiscoveryFilters", [], ["as"]), Method("RemoveDevice", ["o"]),
            ]
        case .device: [Method("Connect"), Method("Disconnect"), Method("Pair"), Method("CancelPairing")]
        case .service: []
        case .characteristic:
            [
                Method("ReadValue", ["a{sv}"], ["ay"]), Method("WriteValue", ["ay", "a{sv}"]), Method("StartNotify"),
                Method("StopNotify"), Method("AcquireWrite", ["a{sv}"], ["h", "q"]),
                Method("AcquireNotify", ["a{sv}"], ["h", "q"]),
            ]
        case .descriptor: [Method("ReadValue", ["a{sv}"], ["ay"]), Method("WriteValue", ["ay", "a{sv}"])]
        }
    }

    /// The properties that a client may set, and their types.
    var writable: [String: String] {
        switch self {
        case .adapter:
            [
                "Powered": "b", "Alias": "s", "Discoverable": "b", "Pairable": "b", "DiscoverableTimeout": "u",
                "PairableTimeout": "u",
            ]
        case .device: ["Alias": "s", "Trusted": "b", "Blocked": "b"]
        default: [:]
        }
    }
}

/// bluetoothd's objects and their paths. Clients parse the paths, so the format is part of the interface.
enum BlueZPath: Hashable, Sendable {
    case root
    /// `/org`, which only has children.
    case organisation
    case bluez
    case adapter
    case device(Int)
    case service(Int)
    case characteristic(Int, Int)
    case descriptor(Int, Int)

    static let bluezText = "/org/bluez"

    static func adapterText(_ number: Int) -> String { "\(bluezText)/hci\(number)" }

    /// - Parameter adapter: its path.
    static func deviceText(_ address: String, below adapter: String) -> String {
        adapter + "/dev_" + address.split(separator: ":").joined(separator: "_")
    }

    /// `service000c`: four lower-case hex digits, from which clients read the handle.
    static func attribute(_ kind: String, _ handle: UInt16) -> String {
        kind + Hex.text([UInt8(handle >> 8), UInt8(handle & 0xFF)])
    }
}

extension SimulatedBlueZ {
    /// Returns the XML with which busctl and people browse the tree.
    func introspection(of object: BlueZPath) -> String {
        var lines = [
            "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"",
            "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">", "<node>",
        ]
        for interface in interfaces(of: object) {
            lines.append("<interface name=\"\(interface.rawValue)\">")
            lines += interface.methods.flatMap(Self.xml)
            lines += Self.signals(of: interface)
            if let (own, properties) = self.interface(of: object), own == interface {
                for (name, value) in properties {
                    let access = interface.writable[name] == nil ? "read" : "readwrite"
                    lines.append("<property name=\"\(name)\" type=\"\(value.signature)\" access=\"\(access)\"/>")
                }
            }
            lines.append("</interface>")
        }
        lines += children(of: object).map { "<node name=\"\($0)\"/>" }
        return (lines + ["</node>"]).joined(separator: "\n")
    }

    private static func xml(_ method: BlueZInterface.Method) -> [String] {
        ["<method name=\"\(method.name)\">"] + method.takes.map { "<arg type=\"\($0)\" direction=\"in\"/>" }
            + method.gives.map { "<arg type=\"\($0)\" direction=\"out\"/>" } + ["</method>"]
    }

    private static func signals(of interface: BlueZInterface) -> [String] {
        let signals: [(String, [String])]
        switch interface {
        case .objectManager: signals = [("InterfacesAdded", ["o", "a{sa{sv}}"]), ("InterfacesRemoved", ["o", "as"])]
        case .properties: signals = [("PropertiesChanged", ["s", "a{sv}", "as"])]
        default: signals = []
        }
        return signals.flatMap { name, types in
            ["<signal name=\"\(name)\">"] + types.map { "<arg type=\"\($0)\"/>" } + ["</signal>"]
        }
    }

    private func children(of object: BlueZPath) -> [String] {
        switch object {
        case .root: return ["org"]
        case .organisation: return ["bluez"]
        case .bluez: return (isPresent ? [last(adapter.path)] : []) + others
        case .adapter: return sorted.filter { devices[$0].isKnown }.map { last(devices[$0].path) }
        case .device(let index): return devices[index].exported.isEmpty ? [] : [last(devices[index].servicePath)]
        case .service(let index): return devices[index].exported.map { last(devices[index].characteristicPath($0)) }
        case .characteristic(let index, let characteristic):
            return [last(devices[index].descriptorPath(characteristic))]
        case .descriptor: return []
        }
    }

    private func last(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
}

/// An error as bluetoothd sends it on the bus. Clients match the name, and some match the text.
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

    private static func failed(_ text: String) -> BlueZError { bluez("Failed", text) }
    /// The errors of a connection that was aborted, that is already in progress, or whose device does not answer.
    static let connectionAborted = failed("le-connection-abort-by-local")
    /// The controller has no room for another connection (`EMLINK`, src/error.c).
    static let connectionLimit = failed("le-connection-concurrent-connection-limit")
    static let broken = failed("Input/output error")
    static let noDiscovery = failed("No discovery started")
    static let notConnected = failed("Not connected")
    /// An operation that was in progress when its link broke.
    static let operationFailed = failed("Operation failed")
    static let notReady = bluez("NotReady", "Resource Not Ready")
    /// Another such operation is in progress (`btd_error_busy`).
    static let busy = bluez("InProgress", "Operation already in progress")
    /// Another operation on the same attribute is in progress (`btd_error_in_progress`).
    static let inProgress = bluez("InProgress", "In Progress")
    static let doesNotExist = bluez("DoesNotExist", "Does Not Exist")
    static let alreadyExists = bluez("AlreadyExists", "Already Exists")
    static let invalidArguments = bluez("InvalidArguments", "Invalid arguments in method call")
    static let notSupported = bluez("NotSupported", "Operation is not supported")
    private static let notPaired = bluez("NotPermitted", "Not paired")
    private static let notAuthorized = bluez("NotAuthorized", "Operation Not Authorized")
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

    /// Makes BlueZ's error for an error that the peripheral sent.
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
            self = .failed("Operation failed with ATT error: 0x" + Hex.text([error.code]))
        }
    }
}
