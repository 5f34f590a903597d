// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainDBus

/// A simulated bluetoothd as a value: calls and times in, answers and signals out.
///
/// It has one adapter and a board at each of its devices; ``SimulatedRadios`` has several of them on one bus. It does no I/O and reads no clock. Its caller passes milliseconds with each step,
/// carries out the effects in their order, and calls ``advance(to:)`` at ``nextDue``. The rules are those of BlueZ 5.66, `Cache = always`;
/// surprising ones have a comment in the code.
struct SimulatedBlueZ: Sendable {
    enum Timer: Sendable {
        case sighting(Int, scan: UInt64)
        case forget(Int)
        /// The connection attempt of that number ends.
        case connect(Int, attempt: UInt64, Ending)
        case resolve(Int, attempt: UInt64)
        case disconnect(Int, attempt: UInt64)
        case pair(Int, attempt: UInt64)
        /// The link breaks, because it cannot be encrypted with BlueZ's keys.
        case breakForKeys(Int, attempt: UInt64)
    }

    enum Ending: Sendable { case linked, aborted, abortedQuietly }

    /// The time between reports of an advertising board while a client scans. It is far longer than the board's 160 ms, because BlueZ drops
    /// duplicates. Many boards alternate, because otherwise clients would only process reports.
    var sightingPause: UInt64 { max(900, 2 * UInt64(devices.count)) }
    /// The maximum time from the start of a scan to the first sighting.
    static let firstSighting: UInt64 = 250
    static let pairingDelay: UInt64 = 50

    let faults: RadioFaults
    /// Whether the adapter is plugged in.
    var isPresent: Bool
    /// Whether each of its operations fails.
    var isBroken = false
    /// The names of bluetoothd's other adapters.
    var others: [String] = []
    /// How many links it made.
    var links = 0
    var adapter: RadioAdapter
    var devices: [RadioDevice]
    var discovery = DiscoverySessions()
    /// Agents by the connection that registered them.
    var agents: [String: String] = [:]
    /// The agents' connections, the default agent's first. The default is the first one that registered, or the last one that requested it.
    var defaultAgents: [String] = []
    /// How many more starts of a scan are refused.
    var busyScans: Int
    /// How many more links may break; nil for no limit.
    var lossesLeft: Int?
    /// Counts scans, so that a sighting knows whether it belongs to this one.
    var scan: UInt64 = 0
    var timers = TimerQueue<Timer>()
    var random: ReproducibleRandom
    var effects: [RadioEffect] = []
    var indexes: [String: Int]
    /// Devices in the order of their paths, parents first. bluetoothctl drops an object that comes before its parent.
    var sorted: [Int]

    /// - Parameters:
    ///   - boards: with distinct addresses.
    ///   - number: the adapter's, from 0.
    init(
        boards: [(address: String, name: String, application: GATTApplication)], faults: RadioFaults, seed: UInt64,
        adapter number: Int = 0
    ) {
        self.faults = faults
        isPresent = faults.adapter != .absent
        busyScans = faults.busyScans
        lossesLeft = faults.losses
        random = ReproducibleRandom(seed: seed)
        adapter = RadioAdapter(number, isPowered: faults.adapter == .on)
        adapter.isBlocked = faults.adapter == .rfkill
        devices = []
        for (position, board) in boards.enumerated() {
            var device = RadioDevice(
                address: board.address, name: board.name, application: board.application, below: adapter.path,
                level: Int16(-40 - (position + 7 * number) % 35))
            device.vanishesOnce = Self.chance(faults.stale, &random)
            device.hasStaleCache = Self.chance(faults.cache, &random)
            if faults.hasStaleBonds {
                (device.hasStaleBond, device.isPaired) = (true, true)
                (device.isKnown, device.isTemporary) = (true, false)
            }
            devices.append(device)
        }
        indexes = Dictionary(devices.enumerated().map { ($1.path, $0) }) { first, _ in first }
        let paths = devices.map(\.path)
        sorted = devices.indices.sorted { paths[$0] < paths[$1] }
    }

    static func chance(_ fraction: Double, _ random: inout ReproducibleRandom) -> Bool {
        // Always drawn, so that one fault's fraction does not change the targets of another.
        Double(random.next() >> 11) / Double(1 << 53) < fraction
    }

    /// Returns a number from 0 up to, but not including, `limit`.
    mutating func below(_ limit: UInt64) -> UInt64 { random.next() % limit }

    var nextDue: UInt64? { timers.nextDue }

    /// Returns the effects to carry out now, in order.
    mutating func takeEffects() -> [RadioEffect] {
        defer { effects = [] }
        return effects
    }

    // MARK: Objects

    func index(ofDevice path: String) -> Int? {
        guard let index = indexes[path], devices[index].isKnown else { return nil }
        return index
    }

    private func object(at path: String) -> BlueZPath? {
        switch path {
        case "/": return .root
        case "/org": return .organisation
        case BlueZPath.bluezText: return .bluez
        case adapter.path: return isPresent ? .adapter : nil
        default: break
        }
        guard isPresent else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        // "", org, bluez, hci0, dev, service, char, desc
        guard (5...8).contains(parts.count) else { return nil }
        guard let index = index(ofDevice: parts[..<5].joined(separator: "/")) else { return nil }
        if parts.count == 5 { return .device(index) }
        let device = devices[index]
        guard !device.exported.isEmpty else { return nil }
        switch parts.count {
        case 6: return path == device.servicePath ? .service(index) : nil
        case 7:
            return device.exported.first { device.characteristicPath($0) == path }.map { .characteristic(index, $0) }
        default: return device.exported.first { device.descriptorPath($0) == path }.map { .descriptor(index, $0) }
        }
    }

    /// Returns BlueZ's own interface of an object, and its properties.
    func interface(of object: BlueZPath) -> (BlueZInterface, Properties)? {
        switch object {
        case .root, .organisation: nil
        case .bluez: (.agentManager, [])
        case .adapter: (.adapter, adapter.properties)
        case .device(let index): (.device, devices[index].properties(faults))
        case .service(let index): (.service, devices[index].serviceProperties)
        case .characteristic(let index, let characteristic):
            (.characteristic, devices[index].characteristicProperties(characteristic, mtu: faults.stack.mtu))
        case .descriptor(let index, let characteristic):
            (.descriptor, devices[index].descriptorProperties(characteristic))
        }
    }

    func path(of object: BlueZPath) -> String {
        switch object {
        case .root: "/"
        case .organisation: "/org"
        case .bluez: BlueZPath.bluezText
        case .adapter: adapter.path
        case .device(let index): devices[index].path
        case .service(let index): devices[index].servicePath
        case .characteristic(let index, let characteristic): devices[index].characteristicPath(characteristic)
        case .descriptor(let index, let characteristic): devices[index].descriptorPath(characteristic)
        }
    }

    /// Returns a device's attributes in the tree, parents first.
    func attributes(of index: Int) -> [BlueZPath] {
        guard !devices[index].exported.isEmpty else { return [] }
        return [.service(index)]
            + devices[index].exported.flatMap { [BlueZPath.characteristic(index, $0), .descriptor(index, $0)] }
    }

    /// Every object that has an interface of BlueZ, parents first.
    var objects: [BlueZPath] {
        guard isPresent else { return [.bluez] }
        return [.bluez, .adapter]
            + sorted.filter { devices[$0].isKnown }.flatMap { [.device($0)] + attributes(of: $0) }
    }

    // MARK: Output

    mutating func reply(_ call: RadioCall?, _ values: [DBusValue] = []) {
        if let call { effects.append(.reply(call, values)) }
    }

    mutating func fail(_ call: RadioCall?, _ error: BlueZError) {
        if let call { effects.append(.error(call, error)) }
    }

    mutating func changed(_ object: BlueZPath, _ properties: Properties, invalidated: [String] = []) {
        guard let (interface, _) = interface(of: object) else { return }
        effects.append(
            .signal(
                path: path(of: object), interface: BlueZInterface.properties.rawValue, member: "PropertiesChanged",
                [.string(interface.rawValue), .properties(properties), .strings(invalidated)]))
    }

    mutating func added(_ object: BlueZPath) {
        effects.append(
            .signal(
                path: "/", interface: BlueZInterface.objectManager.rawValue, member: "InterfacesAdded",
                [.objectPath(path(of: object)), managed(object)]))
    }

    mutating func removed(_ object: BlueZPath) {
        guard let (interface, _) = interface(of: object) else { return }
        effects.append(
            .signal(
                path: "/", interface: BlueZInterface.objectManager.rawValue, member: "InterfacesRemoved",
                [
                    .objectPath(path(of: object)),
                    .strings([
                        BlueZInterface.properties.rawValue, BlueZInterface.introspectable.rawValue, interface.rawValue,
                    ]),
                ]))
    }

    /// Returns an `a{sa{sv}}`: the interfaces of an object with their properties.
    private func managed(_ object: BlueZPath) -> DBusValue {
        var entries = [DBusEntry(.string(BlueZInterface.introspectable.rawValue), .properties([]))]
        if let (interface, properties) = interface(of: object) {
            entries.append(DBusEntry(.string(interface.rawValue), .properties(properties)))
        }
        entries.append(DBusEntry(.string(BlueZInterface.properties.rawValue), .properties([])))
        return .dictionary(entries, key: "s", value: "a{sv}")
    }
}

extension SimulatedBlueZ {
    /// Does the work that is due until `now`, in the order in which it was due.
    mutating func advance(to now: UInt64) {
        while let (timer, due) = timers.next(until: now) {
            switch timer {
            case .sighting(let index, let scan): if scan == self.scan { sighted(index, now: due) }
            case .forget(let index): forget(index, now: due)
            case .connect(let index, let attempt, let ending):
                if devices[index].attempt == attempt { concludeConnect(index, ending, now: due) }
            case .resolve(let index, let attempt):
                if devices[index].attempt == attempt { resolve(index) }
            case .disconnect(let index, let attempt):
                if devices[index].attempt == attempt { dropLink(index, "disconnected", now: due) }
            case .pair(let index, let attempt):
                if devices[index].attempt == attempt { concludePairing(index) }
            case .breakForKeys(let index, let attempt):
                if devices[index].attempt == attempt { dropLink(index, "no keys", now: due) }
            }
        }
    }
}

extension SimulatedBlueZ {
    /// Takes a method call. It is answered once, now or later.
    mutating func receive(_ call: RadioCall, now: UInt64) {
        advance(to: now)
        do throws(BlueZError) { try dispatch(call, now: now) } catch { fail(call, error) }
    }

    /// Handles a connection that left the bus: its sessions, filters and agents end. Links belong to no connection, and stay.
    mutating func senderVanished(_ sender: String, now: UInt64) {
        advance(to: now)
        agents[sender] = nil
        defaultAgents.removeAll { $0 == sender }
        let wasActive = discovery.isActive
        discovery.removeSender(sender)
        if wasActive { discoveryStopped() }
    }

    private mutating func dispatch(_ call: RadioCall, now: UInt64) throws(BlueZError) {
        guard let object = object(at: call.path) else { throw .unknownObject(call.path) }
        switch try interface(of: call, at: object) {
        case .introspectable: reply(call, [.string(introspection(of: object))])
        case .objectManager: reply(call, [.dictionary(managedEntries(), key: "o", value: "a{sa{sv}}")])
        case .properties: try receiveProperties(call, at: object, now: now)
        case .agentManager: try receiveAgent(call)
        case .adapter: try receiveAdapter(call, now: now)
        case .device: if case .device(let index) = object { try receiveDevice(call, index, now: now) }
        case .service: throw .unknownMethod(call)
        case .characteristic, .descriptor: try receiveAttribute(call, at: object, now: now)
        }
    }

    /// Returns the requested interface, if the object has it and the method accepts such arguments.
    private func interface(of call: RadioCall, at object: BlueZPath) throws(BlueZError) -> BlueZInterface {
        let found = interfaces(of: object).first { interface in
            guard call.interface == nil || call.interface == interface.rawValue else { return false }
            return interface.methods.contains { $0.name == call.member && $0.takes.joined() == call.signature }
        }
        guard let found else { throw .unknownMethod(call) }
        return found
    }

    func interfaces(of object: BlueZPath) -> [BlueZInterface] {
        var interfaces: [BlueZInterface] = [.introspectable]
        if object == .root { interfaces.append(.objectManager) }
        if let own = interface(of: object)?.0 { interfaces += [own, .properties] }
        return interfaces
    }

    /// Sorted by path, so that parents come first.
    func managedEntries() -> [DBusEntry] { objects.map { DBusEntry(.objectPath(path(of: $0)), managed($0)) } }

    private mutating func receiveAgent(_ call: RadioCall) throws(BlueZError) {
        switch call.member {
        case "RegisterAgent":
            let known = ["", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay"]
            guard let path = call.arguments[0].text, let capability = call.arguments[1].text, known.contains(capability)
            else { throw .invalidArguments }
            guard agents[call.sender] == nil else { throw .alreadyExists }
            agents[call.sender] = path
            if defaultAgents.isEmpty { defaultAgents = [call.sender] }
        case "UnregisterAgent":
            guard let path = agents[call.sender], path == call.arguments[0].text else { throw .doesNotExist }
            agents[call.sender] = nil
            defaultAgents.removeAll { $0 == call.sender }
        default:
            guard let path = agents[call.sender], path == call.arguments[0].text else { throw .doesNotExist }
            defaultAgents.removeAll { $0 == call.sender }
            defaultAgents.insert(call.sender, at: 0)
        }
        reply(call)
    }
}

extension SimulatedBlueZ {
    private mutating func receiveProperties(_ call: RadioCall, at object: BlueZPath, now: UInt64) throws(BlueZError) {
        let asked = call.arguments[0].text ?? ""
        guard let (interface, properties) = interface(of: object), asked == interface.rawValue else {
            // The standard interfaces exist, without properties.
            guard interfaces(of: object).contains(where: { $0.rawValue == asked }) else {
                throw .noSuchInterface(asked)
            }
            guard call.member == "GetAll" else { throw .noSuchProperty(call.arguments[1].text ?? "") }
            return reply(call, [.properties([])])
        }
        guard call.member != "GetAll" else { return reply(call, [.properties(properties)]) }
        let name = call.arguments[1].text ?? ""
        guard call.member == "Set" else {
            guard let value = properties.first(where: { $0.0 == name })?.1 else { throw .noSuchProperty(name) }
            return reply(call, [.variant(value)])
        }
        guard let signature = interface.writable[name] else {
            throw properties.contains { $0.0 == name } ? .readOnly(name) : .noSuchProperty(name)
        }
        guard case .variant(let value) = call.arguments[2], value.signature == signature else {
            throw .invalidArguments
        }
        switch object {
        case .adapter: try setAdapter(name, value, now: now)
        case .device(let index): setDevice(index, name, value, now: now)
        default: break
        }
        reply(call)
    }

    private mutating func setAdapter(_ name: String, _ value: DBusValue, now: UInt64) throws(BlueZError) {
        switch (name, value) {
        case ("Powered", .bool(let isOn)):
            if faults.adapter == .rfkill, isOn { throw .blocked }
            return setPowered(isOn, now: now)
        case ("Alias", .string(let alias)): adapter.alias = alias.isEmpty ? "firmware-sim" : alias
        case ("Discoverable", .bool(let isOn)): adapter.isDiscoverable = isOn
        case ("Pairable", .bool(let isOn)): adapter.isPairable = isOn
        case ("DiscoverableTimeout", .uint32(let seconds)): adapter.discoverableTimeout = seconds
        case ("PairableTimeout", .uint32(let seconds)): adapter.pairableTimeout = seconds
        default: return
        }
        changed(.adapter, [(name, adapter.properties.first { $0.0 == name }?.1 ?? value)])
    }

    private mutating func setDevice(_ index: Int, _ name: String, _ value: DBusValue, now: UInt64) {
        switch (name, value) {
        case ("Alias", .string(let alias)): devices[index].alias = alias.isEmpty ? nil : alias
        case ("Trusted", .bool(let isTrusted)): devices[index].isTrusted = isTrusted
        case ("Blocked", .bool(let isBlocked)):
            devices[index].isBlocked = isBlocked
            if isBlocked { dropLink(index, "blocked", now: now) }
        default: return
        }
        let current = devices[index].properties(faults).first { $0.0 == name }?.1 ?? value
        changed(.device(index), [(name, current)])
    }

    mutating func setPowered(_ isOn: Bool, now: UInt64) {
        guard isOn != adapter.isPowered else { return }
        if !isOn {
            for index in devices.indices { dropLink(index, "adapter off", now: now) }
            if discovery.isActive {
                discovery.stopAll()
                discoveryStopped()
            }
        }
        adapter.isPowered = isOn
        changed(.adapter, [("Powered", .bool(isOn))])
    }
}

/// The simulated controller.
struct RadioAdapter: Sendable {
    let path: String
    private let address: String
    var isPowered: Bool
    /// Whether the radio switch holds it.
    var isBlocked = false
    var isDiscovering = false
    var alias = "firmware-sim"
    var isDiscoverable = false
    var isPairable = true
    var discoverableTimeout: UInt32 = 180
    var pairableTimeout: UInt32 = 0

    init(_ number: Int, isPowered: Bool) {
        path = BlueZPath.adapterText(number)
        address = "02:00:5E:00:53:" + Hex.text([UInt8(1 + number)]).uppercased()
        self.isPowered = isPowered
    }

    fileprivate var properties: Properties {
        var properties: Properties = [
            ("Address", .string(address)), ("AddressType", .string("public")), ("Name", .string("firmware-sim")),
            ("Alias", .string(alias)), ("Class", .uint32(0)), ("Powered", .bool(isPowered)),
            ("Discoverable", .bool(isDiscoverable)), ("DiscoverableTimeout", .uint32(discoverableTimeout)),
            ("Pairable", .bool(isPairable)), ("PairableTimeout", .uint32(pairableTimeout)),
            ("Discovering", .bool(isDiscovering)), ("UUIDs", .strings(RadioDevice.genericServices)),
            ("Modalias", .string("usb:v1D6Bp0246d0542")), ("Roles", .strings(["central"])),
        ]
        // Newer versions of bluetoothd than 5.66 show the power state. Clients need only this one.
        if isBlocked { properties.append(("PowerState", .string("off-blocked"))) }
        return properties
    }
}

/// A method call to the radio, as it arrived on the bus.
struct RadioCall: Sendable, Equatable {
    /// With this number the bus finds the call again for its answer.
    var id: UInt64
    /// The caller's name on the bus.
    var sender: String
    var path: String
    /// D-Bus allows a caller to leave it out.
    var interface: String?
    var member: String
    var arguments: [DBusValue] = []

    var signature: String { arguments.map(\.signature).joined() }
}

/// The actions to take after a change of the radio, in this order.
enum RadioEffect: Sendable, Equatable {
    case reply(RadioCall, [DBusValue] = [])
    case error(RadioCall, BlueZError)
    case signal(path: String, interface: String, member: String, [DBusValue])
    /// A link to that board is up: its GATT server opens a session.
    case linkUp(board: Int)
    case linkDown(board: Int, reason: String)
    /// Answer with ``SimulatedBlueZ/wrote(_:outcome:now:)``.
    case write(board: Int, characteristic: Int, value: [UInt8])
    /// Answer with ``SimulatedBlueZ/didRead(_:result:now:)``.
    case read(board: Int, characteristic: Int, offset: Int)
    /// Ask an agent whether a device may be paired. Answer with ``SimulatedBlueZ/agentAnswered(_:attempt:agrees:now:)``.
    case ask(agent: String, path: String, device: String, board: Int, attempt: UInt64)
    /// The board restarts and loses its memory. Its link has ended.
    case restart(board: Int)
    /// An event for the journal that clients do not see directly.
    case fault(board: Int, String)
}

/// Events with due times, the earliest first. Those of the same time are in the order in which they were added.
struct TimerQueue<Event: Sendable>: Sendable {
    private struct Entry: Sendable {
        var due: UInt64
        var number: UInt64
        var event: Event

        func isBefore(_ other: Entry) -> Bool { (due, number) < (other.due, other.number) }
    }

    /// A binary heap.
    private var heap: [Entry] = []
    private var nextNumber: UInt64 = 0

    var nextDue: UInt64? { heap.first?.due }

    mutating func add(_ event: Event, at due: UInt64) {
        heap.append(Entry(due: due, number: nextNumber, event: event))
        nextNumber += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes and returns the earliest event that is due by `now`.
    mutating func next(until now: UInt64) -> (event: Event, due: UInt64)? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return (first.event, first.due) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            guard least != parent else { return (first.event, first.due) }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
