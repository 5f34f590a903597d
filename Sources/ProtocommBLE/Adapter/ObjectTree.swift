import DBus

/// What is known of a service's objects: kept as `ObjectManager` and `Properties` signals tell it.
///
/// Bounded, because the radio around decides how many objects there are.
struct ObjectTree: Sendable {
    typealias Properties = [String: DBusValue]

    /// More than any adapter keeps; what is beyond is not looked at.
    static let maximumObjects = 100_000

    private(set) var objects: [String: [String: Properties]] = [:]

    /// Takes the answer to `GetManagedObjects`, `a{oa{sa{sv}}}`, in place of what was known.
    mutating func load(_ managed: DBusValue) {
        objects = [:]
        for entry in managed.entries ?? [] {
            guard let path = entry.key.text else { continue }
            add(path, entry.value)
        }
    }

    /// Takes a signal; true where it changed anything.
    @discardableResult
    mutating func apply(_ signal: DBusMessage) -> Bool {
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return false }
            add(path, signal.arguments[1])
            return true
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return false }
            for interface in signal.arguments[1].texts ?? [] { objects[path]?[interface] = nil }
            if objects[path]?.isEmpty == true { objects[path] = nil }
            return true
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
            guard signal.arguments.count == 3, let path = signal.path, let interface = signal.arguments[0].text else {
                return false
            }
            merge(signal.arguments[1], into: interface, of: path)
            for name in signal.arguments[2].texts ?? [] { objects[path]?[interface]?[name] = nil }
            return true
        default: return false
        }
    }

    /// Takes properties that were read, `a{sv}`.
    mutating func merge(_ properties: DBusValue, into interface: String, of path: String) {
        // A change to an object that was never added belongs to one that has gone meanwhile.
        guard objects[path]?[interface] != nil else { return }
        for entry in properties.entries ?? [] {
            guard let name = entry.key.text else { continue }
            objects[path]?[interface]?[name] = entry.value.unwrapped
        }
    }

    mutating func removeAll() { objects = [:] }

    private mutating func add(_ path: String, _ interfaces: DBusValue) {
        guard objects.count < Self.maximumObjects || objects[path] != nil else { return }
        for entry in interfaces.entries ?? [] {
            guard let interface = entry.key.text else { continue }
            objects[path, default: [:]][interface] = [:]
            merge(entry.value, into: interface, of: path)
        }
    }

    // MARK: looking things up

    subscript(path: String, interface: String) -> Properties? { objects[path]?[interface] }

    /// The paths with that interface, in their order.
    func paths(with interface: String, below prefix: String = "") -> [String] {
        objects.filter { $0.value[interface] != nil && $0.key.hasPrefix(prefix) }.keys.sorted()
    }
}

/// Names of BlueZ's interfaces (BlueZ, doc/).
enum BlueZName {
    static let service = "org.bluez"
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
