import DBus

/// What is known of a service's objects: kept as `ObjectManager` and `Properties` signals tell it.
///
/// Bounded, because the radio around decides how many objects there are.
struct ObjectTree: Sendable {
    typealias Properties = [String: DBusValue]

    /// More than any adapter keeps; what is beyond is not looked at.
    static let maximumObjects = 100_000

    /// What a signal was about.
    enum Change: Sendable, Equatable {
        case nothing
        /// The object at that path, or one of its properties.
        case object(String)
        case everything
    }

    private(set) var objects: [String: [String: Properties]] = [:]
    /// The paths right below each path: a radio with a thousand boards in reach is not searched for the seven characteristics of one.
    private var below: [String: Set<String>] = [:]

    /// Takes the answer to `GetManagedObjects`, `a{oa{sa{sv}}}`, in place of what was known.
    mutating func load(_ managed: DBusValue) {
        removeAll()
        for entry in managed.entries ?? [] {
            guard let path = entry.key.text else { continue }
            add(path, entry.value)
        }
    }

    @discardableResult
    mutating func apply(_ signal: DBusMessage) -> Change {
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return .nothing }
            add(path, signal.arguments[1])
            return .object(path)
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return .nothing }
            for interface in signal.arguments[1].texts ?? [] { objects[path]?[interface] = nil }
            if objects[path]?.isEmpty == true { remove(path) }
            return .object(path)
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
            guard signal.arguments.count == 3, let path = signal.path, let interface = signal.arguments[0].text else {
                return .nothing
            }
            merge(signal.arguments[1], into: interface, of: path)
            for name in signal.arguments[2].texts ?? [] { objects[path]?[interface]?[name] = nil }
            return .object(path)
        default: return .nothing
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

    mutating func removeAll() {
        objects = [:]
        below = [:]
    }

    private mutating func add(_ path: String, _ interfaces: DBusValue) {
        if objects[path] == nil {
            guard objects.count < Self.maximumObjects else { return }
            below[Self.parent(path), default: []].insert(path)
        }
        if objects[path] == nil { objects[path] = [:] }
        for entry in interfaces.entries ?? [] {
            guard let interface = entry.key.text else { continue }
            objects[path]?[interface] = [:]
            merge(entry.value, into: interface, of: path)
        }
    }

    private mutating func remove(_ path: String) {
        objects[path] = nil
        let parent = Self.parent(path)
        below[parent]?.remove(path)
        if below[parent]?.isEmpty == true { below[parent] = nil }
    }

    private static func parent(_ path: String) -> String {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > bytes.startIndex else { return "/" }
        return String(path[..<slash])
    }

    // MARK: looking things up

    subscript(path: String, interface: String) -> Properties? { objects[path]?[interface] }

    /// The paths right below that one with that interface, in their order.
    func paths(with interface: String, below path: String) -> [String] {
        (below[path] ?? []).filter { objects[$0]?[interface] != nil }.sorted()
    }
}

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
