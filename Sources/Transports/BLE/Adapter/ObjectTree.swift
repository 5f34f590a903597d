// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainIO
import Synchronization

/// What is known of a service's objects: kept as `ObjectManager` and `Properties` signals tell it.
///
/// Bounded, because the devices in radio reach decide how many objects there are and how long their names: only the properties that are
/// used here are kept, and of those only so much.
struct ObjectTree: Sendable {
    typealias Properties = [String: DBusValue]

    /// More than any adapter keeps; what is beyond is not looked at.
    static let maximumObjects = 100_000
    /// Bytes of all texts. A board has some 100 of its own and 50 for each of its attributes.
    static let maximumText = 64 << 20
    /// Bytes of one value, such as a list of services.
    static let maximumValue = 8192

    /// The properties that are kept, by interface; objects with none of these interfaces are not.
    private static let kept: [String: Set<String>] = [
        BlueZName.adapter: ["Address", "Powered", "PowerState", "Roles"],
        BlueZName.device: [
            "Address", "Name", "Alias", "UUIDs", "RSSI", "Connected", "ServicesResolved", "Paired", "Bonded", "Trusted",
        ],
        BlueZName.gattService: ["UUID"],
        BlueZName.characteristic: ["UUID", "MTU"],
        BlueZName.descriptor: ["UUID"],
    ]

    /// What a signal was about.
    enum Change: Sendable, Equatable {
        case nothing
        /// The object at that path, or one of its properties.
        case object(String)
        case everything
    }

    private(set) var objects: [String: [String: Properties]] = [:]
    /// Bytes of all texts that are kept, paths among them.
    private(set) var text = 0
    /// Devices that appeared while this process was watching, and that no program has connected to yet: BlueZ drops those by itself.
    private var newcomers: Set<String> = []
    /// Devices that only this process's connections have BlueZ keep.
    private var ours: Set<String> = []
    /// Devices that BlueZ had no keys for when this process first connected to them.
    private var unbonded: Set<String> = []
    /// Whether the service is on the bus; nothing is known of its objects otherwise.
    var isServed = true
    /// Why the adapter does not scan for those who listen, where that is not for want of an adapter; nil for nothing.
    var scanTrouble: BluetoothError?
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
        case (BlueZName.objectManager, "InterfacesAdded"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return .nothing }
            let wasThere = objects[path]?[BlueZName.device] != nil
            add(path, signal.arguments[1])
            if let device = objects[path]?[BlueZName.device], !wasThere, device["Connected"]?.boolean != true {
                newcomers.insert(path)
            }
            return .object(path)
        case (BlueZName.objectManager, "InterfacesRemoved"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return .nothing }
            for interface in signal.arguments[1].texts ?? [] { drop(interface, of: path) }
            if objects[path]?.isEmpty == true { remove(path) }
            return .object(path)
        case (BlueZName.properties, "PropertiesChanged"):
            guard signal.arguments.count == 3, let path = signal.path, let interface = signal.arguments[0].text else {
                return .nothing
            }
            merge(signal.arguments[1], into: interface, of: path)
            for name in signal.arguments[2].texts ?? [] { put(nil, name, interface, path) }
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
            put(entry.value.unwrapped, name, interface, path)
        }
    }

    // MARK: what was here before

    /// This process is about to connect to a device, which BlueZ keeps for good from then on.
    mutating func adopt(_ path: String) {
        if newcomers.remove(path) != nil { ours.insert(path) }
        if !isBonded(path) { unbonded.insert(path) }
    }

    /// Whether BlueZ may forget a device without loss to another program: it appeared while this process was watching, this process
    /// connected to it first, and it is neither paired nor trusted; or its keys came with this process's own link.
    func isDispensable(_ path: String) -> Bool {
        guard let device = objects[path]?[BlueZName.device], device["Trusted"]?.boolean != true else { return false }
        return isBonded(path) ? unbonded.contains(path) : ours.contains(path)
    }

    /// Whether BlueZ has keys for a device.
    func isBonded(_ path: String) -> Bool {
        guard let device = objects[path]?[BlueZName.device] else { return false }
        return device["Paired"]?.boolean == true || device["Bonded"]?.boolean == true
    }

    mutating func removeAll() {
        newcomers = []
        ours = []
        unbonded = []
        objects = [:]
        below = [:]
        text = 0
    }

    private mutating func add(_ path: String, _ interfaces: DBusValue) {
        let entries = (interfaces.entries ?? []).filter { Self.kept[$0.key.text ?? ""] != nil }
        guard !entries.isEmpty else { return }
        if objects[path] == nil {
            let length = path.utf8.count
            guard objects.count < Self.maximumObjects, text + length <= Self.maximumText else { return }
            text += length
            objects[path] = [:]
            below[Self.parent(path), default: []].insert(path)
        }
        for entry in entries {
            guard let interface = entry.key.text else { continue }
            drop(interface, of: path)
            objects[path]?[interface] = [:]
            merge(entry.value, into: interface, of: path)
        }
    }

    private mutating func put(_ value: DBusValue?, _ name: String, _ interface: String, _ path: String) {
        guard Self.kept[interface]?.contains(name) == true, let properties = objects[path]?[interface] else { return }
        let length = value.map(Self.length) ?? 0
        text -= properties[name].map(Self.length) ?? 0
        // What is too long is as if it were not there, and never what it was before.
        let fits = length <= Self.maximumValue && text + length <= Self.maximumText
        if fits { text += length }
        objects[path]?[interface]?[name] = fits ? value : nil
        // By another program, or this one has adopted it before.
        if name == "Connected", value?.boolean == true { newcomers.remove(path) }
    }

    private mutating func drop(_ interface: String, of path: String) {
        guard let properties = objects[path]?[interface] else { return }
        for value in properties.values { text -= Self.length(value) }
        if interface == BlueZName.device {
            newcomers.remove(path)
            ours.remove(path)
            unbonded.remove(path)
        }
        objects[path]?[interface] = nil
    }

    private mutating func remove(_ path: String) {
        guard let interfaces = objects[path] else { return }
        for interface in interfaces.keys { drop(interface, of: path) }
        objects[path] = nil
        text -= path.utf8.count
        let parent = Self.parent(path)
        below[parent]?.remove(path)
        if below[parent]?.isEmpty == true { below[parent] = nil }
    }

    /// The bytes of its texts; a number has none, and so has always room. Any other kind is in none of the properties that are kept.
    private static func length(_ value: DBusValue) -> Int {
        switch value {
        case .byte, .bool, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: 0
        case .string(let text), .objectPath(let text), .signature(let text): text.utf8.count
        case .array(let elements, "s"):
            elements.reduce(0) { $0 + 16 + ($1.text?.utf8.count ?? 0) }
        default: maximumValue + 1
        }
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

/// The tree of BlueZ's objects as signals change it, and the tasks that wait for something in it.
///
/// No task is resumed, and nothing is cancelled, while the lock is held: a task that is being cancelled holds a lock of the runtime's while
/// its handler waits for this one, and resuming the task needs the runtime's.
final class ObjectWatch: Sendable {
    private struct Search {
        /// The objects that it is about; nil for any.
        var paths: [String]?
        /// Looks for what is wanted; returns what resumes the waiting task where it is found.
        var check: (ObjectTree, ObjectTree.Change) -> (() -> Void)?
        var giveUp: (BluetoothError) -> Void
    }

    private struct State: ~Copyable {
        var tree = ObjectTree()
        var waiters: [Int: Search] = [:]
        /// The searches that are about certain objects, by path; all others are shown every change.
        var byPath: [String: Set<Int>] = [:]
        var general: Set<Int> = []
        var nextID = 0
        var end: (error: BluetoothError, at: ContinuousClock.Instant)?

        mutating func add(_ id: Int, _ waiter: Search) {
            waiters[id] = waiter
            guard let paths = waiter.paths else { return _ = general.insert(id) }
            for path in paths { byPath[path, default: []].insert(id) }
        }

        @discardableResult
        mutating func remove(_ id: Int) -> Search? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            general.remove(id)
            for path in waiter.paths ?? [] {
                byPath[path]?.remove(id)
                if byPath[path]?.isEmpty == true { byPath[path] = nil }
            }
            return waiter
        }
    }

    private let state = Mutex(State())

    /// Changes the tree, and shows what changed to those that wait for it. Of a thousand boards that are heard each second, fifty
    /// waiters want one each.
    @discardableResult
    func change(_ body: (inout ObjectTree) -> ObjectTree.Change) -> ObjectTree.Change {
        var change = ObjectTree.Change.nothing
        let found = state.withLock { state -> [() -> Void] in
            guard state.end == nil else { return [] }
            change = body(&state.tree)
            let ids: [Int] =
                switch change {
                case .nothing: []
                case .object(let path): Array(state.general) + Array(state.byPath[path] ?? [])
                case .everything: Array(state.waiters.keys)
                }
            return ids.compactMap { id in
                guard let goOn = state.waiters[id]?.check(state.tree, change) else { return nil }
                state.remove(id)
                return goOn
            }
        }
        for goOn in found { goOn() }
        return change
    }

    func read<Result: Sendable>(_ body: (ObjectTree) -> Result) -> Result { state.withLock { body($0.tree) } }

    /// When it ended; nil while it goes on.
    var ended: ContinuousClock.Instant? { state.withLock { $0.end?.at } }

    /// The bus is gone, or this side closed it, or the adapter is another: all waits end, and nothing is known any more. What
    /// ended it first is told to who comes later.
    func end(_ error: BluetoothError) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = (error, .now) }
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            state.byPath = [:]
            state.general = []
            state.tree.removeAll()
            return waiters
        }
        for waiter in waiters { waiter.giveUp(error) }
    }

    /// Waits until `probe` finds something in the tree. It is asked at once, with everything changed, and after each change.
    ///
    /// - Parameter paths: the objects that it looks at; nil for any.
    /// - Throws: `timeout` when the time is over, `cancelled` when the calling task is, and what ``end(_:)`` was told.
    func wait<Found: Sendable>(
        forAny paths: [String]?, within limit: Duration,
        _ probe: @escaping @Sendable (ObjectTree, ObjectTree.Change) -> Found?
    ) async throws(BluetoothError) -> Found {
        guard !Task.isCancelled else { throw .cancelled }
        let waiter = Waiter<Result<Found, BluetoothError>>()
        let (id, now) = state.withLock { state -> (Int, Result<Found, BluetoothError>?) in
            if let end = state.end { return (0, .failure(end.error)) }
            if let found = probe(state.tree, .everything) { return (0, .success(found)) }
            state.nextID += 1
            state.add(
                state.nextID,
                Search(
                    paths: paths,
                    check: { tree, change in
                        guard let found = probe(tree, change) else { return nil }
                        return { waiter.resume(returning: .success(found)) }
                    }, giveUp: { waiter.resume(returning: .failure($0)) }))
            return (state.nextID, nil)
        }
        if let now { return try now.get() }
        return try await waiter.value(within: limit) { [self] reason in
            let error =
                reason == .cancelled ? .cancelled : BluetoothError(.timeout, message: "Nothing happened in time.")
            state.withLock { $0.remove(id) }?.giveUp(error)
        }.get()
    }

    /// The same for one object.
    func wait<Found: Sendable>(
        for path: String, within limit: Duration,
        _ probe: @escaping @Sendable (ObjectTree, ObjectTree.Change) -> Found?
    ) async throws(BluetoothError) -> Found {
        try await wait(forAny: [path], within: limit, probe)
    }
}
