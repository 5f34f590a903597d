// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainIO
import Synchronization

/// A service's objects, updated by `ObjectManager` and `Properties` signals.
///
/// It is bounded, because the devices in radio range decide how many objects there are and how long their names are. Only the properties
/// that are used here are kept, up to a limit.
struct ObjectTree: Sendable {
    typealias Properties = [String: DBusValue]

    /// More than any adapter keeps; further objects are ignored.
    static let maximumObjects = 100_000
    /// The limit for the bytes of all texts. A board has about 100 of its own and 50 for each of its attributes.
    static let maximumText = 64 << 20
    /// The limit for the bytes of one value, such as a list of services.
    static let maximumValue = 8192

    /// The properties that are kept, by interface; objects without these interfaces are not kept.
    private static let kept: [String: Set<String>] = [
        BlueZName.adapter: ["Address", "Powered", "PowerState", "Roles"],
        BlueZName.device: [
            "Address", "Name", "Alias", "UUIDs", "RSSI", "Connected", "ServicesResolved", "Paired", "Bonded", "Trusted",
        ],
        BlueZName.gattService: ["UUID"],
        BlueZName.characteristic: ["UUID", "MTU"],
        BlueZName.descriptor: ["UUID"],
    ]

    /// The subject of a signal.
    enum Change: Sendable, Equatable {
        case nothing
        /// The object at this path, or one of its properties.
        case object(String)
        case everything
    }

    private(set) var objects: [String: [String: Properties]] = [:]
    /// The bytes of all texts, including paths.
    private(set) var text = 0
    /// Devices that appeared while this process was watching, and that no program has connected to yet: BlueZ drops those by itself.
    private var newcomers: Set<String> = []
    /// Devices that BlueZ keeps only because this process connected to them.
    private var ours: Set<String> = []
    /// Devices that BlueZ had no keys for when this process first connected to them.
    private var unbonded: Set<String> = []
    /// Whether the service is on the bus; otherwise nothing is known of its objects.
    var isServed = true
    /// Why the adapter does not scan, unless there is no adapter; nil if it scans.
    var scanTrouble: BluetoothError?
    /// The paths directly below each path. So the seven characteristics of one board are found without searching a thousand boards in
    /// range.
    private var below: [String: Set<String>] = [:]
    /// The devices as boards, by path: each is read from its properties once, however many searches look at it.
    private(set) var boards: [String: DiscoveredBoard] = [:]
    /// The paths of the devices with each name, in lower case.
    private var named: [String: Set<String>] = [:]

    /// Replaces the objects by the answer to `GetManagedObjects`, `a{oa{sa{sv}}}`.
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
            let removed = signal.arguments[2].texts ?? []
            for name in removed { put(nil, name, interface, path) }
            noteBoard(path, interface, changed: removed)
            return .object(path)
        default: return .nothing
        }
    }

    /// Merges properties that were read, `a{sv}`.
    mutating func merge(_ properties: DBusValue, into interface: String, of path: String) {
        // A change to an unknown object belongs to one that has been removed in the meantime.
        guard objects[path]?[interface] != nil else { return }
        let entries = properties.entries ?? []
        for entry in entries {
            guard let name = entry.key.text else { continue }
            put(entry.value.unwrapped, name, interface, path)
        }
        noteBoard(path, interface, changed: entries.compactMap(\.key.text))
    }

    /// Updates the board of a device after some of its properties have changed. A scan changes little but the signal's strength.
    private mutating func noteBoard(_ path: String, _ interface: String, changed: [String]) {
        guard interface == BlueZName.device, !changed.isEmpty, let properties = objects[path]?[interface] else {
            return
        }
        if boards[path] != nil, changed.allSatisfy({ !DiscoveredBoard.identity.contains($0) }) {
            boards[path]?.update(from: properties)
        } else {
            setBoard(DiscoveredBoard(path: path, in: self), path)
        }
    }

    private mutating func setBoard(_ board: DiscoveredBoard?, _ path: String) {
        let (before, now) = (boards[path]?.name?.asciiLowercased, board?.name?.asciiLowercased)
        boards[path] = board
        guard before != now else { return }
        if let before {
            named[before]?.remove(path)
            if named[before]?.isEmpty == true { named[before] = nil }
        }
        if let now { named[now, default: []].insert(path) }
    }

    // MARK: what was here before

    /// Records that this process is about to connect to a device, which BlueZ keeps for good from then on.
    mutating func adopt(_ path: String) {
        if newcomers.remove(path) != nil { ours.insert(path) }
        if !isBonded(path) { unbonded.insert(path) }
    }

    /// Whether BlueZ may forget a device without a loss for other programs. Either it appeared while this process was watching, this
    /// process connected to it first, and it is neither paired nor trusted; or its keys came with this process's own link.
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
        boards = [:]
        named = [:]
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
        // A value that is too long counts as missing, never as its previous value.
        let fits = length <= Self.maximumValue && text + length <= Self.maximumText
        if fits { text += length }
        objects[path]?[interface]?[name] = fits ? value : nil
        // Connected by another program, or already adopted by this one.
        if name == "Connected", value?.boolean == true { newcomers.remove(path) }
    }

    private mutating func drop(_ interface: String, of path: String) {
        guard let properties = objects[path]?[interface] else { return }
        for value in properties.values { text -= Self.length(value) }
        if interface == BlueZName.device {
            newcomers.remove(path)
            ours.remove(path)
            unbonded.remove(path)
            setBoard(nil, path)
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

    /// Returns the bytes of a value's texts. A number has none, so it always fits. The kept properties have no other kinds.
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

    /// Returns all boards of an adapter, in no order.
    func boards(below adapter: String) -> [DiscoveredBoard] { (below[adapter] ?? []).compactMap { boards[$0] } }

    /// Returns the boards with this name, in upper or lower case, in no order.
    func boards(named name: String, below adapter: String) -> [DiscoveredBoard] {
        (named[name.asciiLowercased] ?? []).filter { Self.parent($0) == adapter }.compactMap { boards[$0] }
    }

    /// Returns the paths directly below `path` that have this interface, in order.
    func paths(with interface: String, below path: String) -> [String] {
        (below[path] ?? []).filter { objects[$0]?[interface] != nil }.sorted()
    }
}

/// The tree of BlueZ's objects, changed by signals, and the tasks that wait for a condition in it.
///
/// While the lock is held, no task is resumed and nothing is cancelled. A task that is being cancelled holds a lock of the runtime while
/// its handler waits for this one, and resuming the task needs the runtime's lock.
final class ObjectWatch: Sendable {
    /// What a wait depends on.
    enum Subject: Hashable, Sendable {
        /// The object at this path.
        case object(String)
        /// Any board with this name, in lower case.
        case board(named: String)
    }

    private struct Search {
        /// Nil for everything.
        var subjects: [Subject]?
        /// Checks the condition; if it is met, returns the function that resumes the waiting task.
        var check: (ObjectTree, ObjectTree.Change) -> (() -> Void)?
        var giveUp: (BluetoothError) -> Void
    }

    private struct State: ~Copyable {
        var tree = ObjectTree()
        var waiters: [Int: Search] = [:]
        /// The waits that depend on certain subjects; all others see every change.
        var bySubject: [Subject: Set<Int>] = [:]
        var general: Set<Int> = []
        var nextID = 0
        var end: (error: BluetoothError, at: ContinuousClock.Instant)?

        mutating func add(_ id: Int, _ waiter: Search) {
            waiters[id] = waiter
            guard let subjects = waiter.subjects else { return _ = general.insert(id) }
            for subject in subjects { bySubject[subject, default: []].insert(id) }
        }

        /// The waits that a change to the object may be about.
        func concerned(by path: String) -> [Int] {
            var ids = Array(general)
            if let some = bySubject[.object(path)] { ids += some }
            if let name = tree.boards[path]?.name, let some = bySubject[.board(named: name.asciiLowercased)] {
                // Those that wait for the object too are asked once.
                ids = Array(Set(ids).union(some))
            }
            return ids
        }

        @discardableResult
        mutating func remove(_ id: Int) -> Search? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            general.remove(id)
            for subject in waiter.subjects ?? [] {
                bySubject[subject]?.remove(id)
                if bySubject[subject]?.isEmpty == true { bySubject[subject] = nil }
            }
            return waiter
        }
    }

    private let state = Mutex(State())

    /// Changes the tree, and shows the change to the tasks that wait for it. A thousand boards may be received each second while each of
    /// fifty tasks waits for one.
    @discardableResult
    func change(_ body: (inout ObjectTree) -> ObjectTree.Change) -> ObjectTree.Change {
        var change = ObjectTree.Change.nothing
        let found = state.withLock { state -> [() -> Void] in
            guard state.end == nil else { return [] }
            change = body(&state.tree)
            let ids: [Int] =
                switch change {
                case .nothing: []
                case .object(let path): state.concerned(by: path)
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

    /// When it ended; nil while it is in use.
    var ended: ContinuousClock.Instant? { state.withLock { $0.end?.at } }

    /// Ends all waits because the bus is gone, this side closed it, or the adapter is another; nothing is known any more. Later callers get
    /// the first error.
    func end(_ error: BluetoothError) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = (error, .now) }
            let waiters = Array(state.waiters.values)
            state.waiters = [:]
            state.bySubject = [:]
            state.general = []
            state.tree.removeAll()
            return waiters
        }
        for waiter in waiters { waiter.giveUp(error) }
    }

    /// Waits until `probe` finds something in the tree. It is called at once, with everything changed, and after each change.
    ///
    /// - Parameter subjects: what it depends on; nil for everything.
    /// - Throws: `timeout` if the time is over, `cancelled` if the calling task is, and the error of ``end(_:)``.
    func wait<Found: Sendable>(
        forAny subjects: [Subject]?, within limit: Duration,
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
                    subjects: subjects,
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

    /// Calls `probe` at once and after each change to the object, until it returns true or ``forget(_:)`` is called. It is called while the
    /// watch is locked, and what it does must not come back here: it returns what to do after that.
    ///
    /// - Parameter ended: called if everything ends (``end(_:)``).
    func follow(
        _ path: String, ended: @escaping @Sendable (BluetoothError) -> Void,
        _ probe: @escaping @Sendable (ObjectTree) -> (@Sendable () -> Void)?
    ) -> Int {
        let (id, now) = state.withLock { state -> (Int, (() -> Void)?) in
            if let end = state.end { return (0, { ended(end.error) }) }
            if let goOn = probe(state.tree) { return (0, goOn) }
            state.nextID += 1
            state.add(
                state.nextID, Search(subjects: [.object(path)], check: { tree, _ in probe(tree) }, giveUp: ended))
            return (state.nextID, nil)
        }
        now?()
        return id
    }

    func forget(_ id: Int) { _ = state.withLock { $0.remove(id) } }

    /// Does the same for one object.
    func wait<Found: Sendable>(
        for path: String, within limit: Duration,
        _ probe: @escaping @Sendable (ObjectTree, ObjectTree.Change) -> Found?
    ) async throws(BluetoothError) -> Found {
        try await wait(forAny: [.object(path)], within: limit, probe)
    }
}
