// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainCrypto

/// A stand-in for bluetoothd as a value: calls and times in, answers and signals out.
///
/// It has one adapter and a board at each of its devices. It does no I/O and reads no clock: its caller hands in milliseconds with
/// each step, carries out the effects in their order, and calls ``advance(to:)`` when ``nextDue`` has come.
/// The rules are those of BlueZ 5.66, `Cache = always`; where they are surprising, the place in the code says so.
struct SimulatedBlueZ: Sendable {
    enum Timer: Sendable {
        case sighting(Int, scan: UInt64)
        case forget(Int)
        /// The connection attempt of that number comes to its end.
        case connect(Int, attempt: UInt64, Ending)
        case resolve(Int, attempt: UInt64)
        case disconnect(Int, attempt: UInt64)
        case pair(Int, attempt: UInt64)
        /// The link breaks, since it cannot be encrypted with the keys that BlueZ has.
        case breakForKeys(Int, attempt: UInt64)
    }

    enum Ending: Sendable { case linked, aborted, abortedQuietly }

    /// How often a board that advertises is reported while a client scans: far less often than its 160 ms, as BlueZ drops duplicates. Many
    /// boards alternate, or clients would do nothing but read reports.
    var sightingPause: UInt64 { max(900, 2 * UInt64(devices.count)) }
    /// The latest first sighting after a scan began.
    static let firstSighting: UInt64 = 250
    static let pairingDelay: UInt64 = 50

    let faults: RadioFaults
    var adapter: RadioAdapter
    var devices: [RadioDevice]
    var discovery = DiscoverySessions()
    /// Agents by the connection that registered them.
    var agents: [String: String] = [:]
    /// Their connections, the default agent's first: the first that registered, or the last that asked to be it.
    var defaultAgents: [String] = []
    /// Starts of a scan that are refused from now on.
    var busyScans: Int
    /// Links that may still break; nil for no limit.
    var lossesLeft: Int?
    /// Counts scans, so that a sighting knows whether it belongs to this one.
    var scan: UInt64 = 0
    var timers = TimerQueue<Timer>()
    var random: ReproducibleRandom
    var effects: [RadioEffect] = []
    var indexes: [String: Int]
    /// Devices in the order of their paths, parents first: bluetoothctl drops an object that comes before its parent.
    var sorted: [Int]

    /// - Parameter boards: with distinct addresses.
    init(boards: [(address: String, name: String, application: GATTApplication)], faults: RadioFaults, seed: UInt64) {
        self.faults = faults
        busyScans = faults.busyScans
        lossesLeft = faults.losses
        random = ReproducibleRandom(seed: seed)
        adapter = RadioAdapter(isPowered: faults.adapter == .on)
        devices = []
        for (position, board) in boards.enumerated() {
            var device = RadioDevice(
                address: board.address, name: board.name, application: board.application,
                level: Int16(-40 - position % 35))
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
        // Always drawn, so that one fault's fraction does not change what another one hits.
        Double(random.next() >> 11) / Double(1 << 53) < fraction
    }

    /// A number from 0 up to, and without, `limit`.
    mutating func below(_ limit: UInt64) -> UInt64 { random.next() % limit }

    var nextDue: UInt64? { timers.nextDue }

    /// What is to be done now, in order.
    mutating func takeEffects() -> [RadioEffect] {
        defer { effects = [] }
        return effects
    }

    // MARK: objects

    func index(ofDevice path: String) -> Int? {
        guard let index = indexes[path], devices[index].isKnown else { return nil }
        return index
    }

    func object(at path: String) -> BlueZPath? {
        switch path {
        case "/": return .root
        case "/org": return .organisation
        case BlueZPath.bluezText: return .bluez
        case BlueZPath.adapterText: return faults.adapter == .absent ? nil : .adapter
        default: break
        }
        guard faults.adapter != .absent else { return nil }
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

    /// BlueZ's own interface of an object, and its properties.
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
        case .adapter: BlueZPath.adapterText
        case .device(let index): devices[index].path
        case .service(let index): devices[index].servicePath
        case .characteristic(let index, let characteristic): devices[index].characteristicPath(characteristic)
        case .descriptor(let index, let characteristic): devices[index].descriptorPath(characteristic)
        }
    }

    /// A device's attributes that are in the tree, parents first.
    func attributes(of index: Int) -> [BlueZPath] {
        guard !devices[index].exported.isEmpty else { return [] }
        return [.service(index)]
            + devices[index].exported.flatMap { [BlueZPath.characteristic(index, $0), .descriptor(index, $0)] }
    }

    /// Every object that has an interface of BlueZ's, parents first.
    var objects: [BlueZPath] {
        guard faults.adapter != .absent else { return [.bluez] }
        return [.bluez, .adapter]
            + sorted.filter { devices[$0].isKnown }.flatMap { [.device($0)] + attributes(of: $0) }
    }

    // MARK: what is said

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

    /// `a{sa{sv}}`: the interfaces of an object with their properties.
    func managed(_ object: BlueZPath) -> DBusValue {
        var entries = [DBusEntry(.string(BlueZInterface.introspectable.rawValue), .properties([]))]
        if let (interface, properties) = interface(of: object) {
            entries.append(DBusEntry(.string(interface.rawValue), .properties(properties)))
        }
        entries.append(DBusEntry(.string(BlueZInterface.properties.rawValue), .properties([])))
        return .dictionary(entries, key: "s", value: "a{sv}")
    }
}
