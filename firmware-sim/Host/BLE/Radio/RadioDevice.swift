// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A board as the radio sees it, and what BlueZ remembers of it.
struct RadioDevice: Sendable {
    enum Link: Sendable, Equatable {
        case down
        /// `call` waits for the outcome, unless the connection was asked for by Pair.
        case connecting(RadioCall?)
        case up
        /// A client disconnects; the callers wait until the link is down.
        case closing([RadioCall])
    }

    // The board.
    private(set) var address: String
    private(set) var path: String
    let name: String
    let application: GATTApplication
    /// The board serves, and answers scans and connections.
    var isServing: Bool
    /// How loud it is; what is measured jitters around that.
    let level: Int16

    // What BlueZ knows.
    var isKnown = false
    /// Never connected: forgotten when it was not seen for some time.
    var isTemporary = true
    var rssi: Int16?
    var lastSeen: UInt64 = 0
    var alias: String?
    var isPaired = false
    var isTrusted = false
    var isBlocked = false
    /// The indexes of the characteristics in the tree; empty where services were never resolved.
    var exported: [Int] = []
    /// What was last read of each characteristic, by its index.
    var lastValues: [Int: [UInt8]] = [:]
    var lastDescriptions: Set<Int> = []

    // The link.
    var link = Link.down
    /// Counts links and attempts, so that a timer knows whether it still applies.
    var attempt: UInt64 = 0
    var isResolved = false
    var pairing: RadioCall?
    /// An agent was asked whether the link may be encrypted; reads and writes wait.
    var isAsking = false
    var operations: [GATTOperation] = []
    /// The first of ``operations`` has been handed to the board.
    var isOperating = false
    var loss: LinkLoss?

    // Faults that this board has from the start.
    var vanishesOnce = false
    var hasStaleCache = false
    /// BlueZ has keys that the board lost: each link breaks as it is to be encrypted.
    var hasStaleBond = false

    // Timers that are set.
    var isSightingDue = false
    var isForgetTimerSet = false

    init(
        address: String, name: String, application: GATTApplication, isServing: Bool = true, level: Int16
    ) {
        self.address = address
        self.name = name
        self.application = application
        self.isServing = isServing
        self.level = level
        path = BlueZPath.deviceText(address)
    }

    /// The board started anew, and has another random address.
    mutating func readdress() {
        let last = UInt8(address.suffix(2), radix: 16) ?? 0
        address = String(address.dropLast(2)) + hexDigits([last &+ 0x40]).uppercased()
        path = BlueZPath.deviceText(address)
    }

    /// A connected board does not advertise.
    var isAdvertising: Bool { isServing && link != .up && !isClosing }

    var isClosing: Bool { if case .closing = link { true } else { false } }
    var isConnected: Bool { link == .up || isClosing }

    var dashedAddress: String { address.split(separator: ":").joined(separator: "-") }

    /// What the daemon believes the board to have.
    var remembered: [Int] {
        guard hasStaleCache else { return Array(application.characteristics.indices) }
        let other = application.withoutApplication
        return application.characteristics.indices.filter {
            other.characteristics.contains(application.characteristics[$0])
        }
    }

    // MARK: paths

    var servicePath: String { path + "/" + BlueZPath.attribute("service", application.serviceHandle) }

    func characteristicPath(_ index: Int) -> String {
        servicePath + "/" + BlueZPath.attribute("char", application.characteristics[index].handle)
    }

    func descriptorPath(_ index: Int) -> String {
        characteristicPath(index) + "/"
            + BlueZPath.attribute("desc", application.characteristics[index].descriptorHandle)
    }
}

/// A read or write that a client waits for. A link carries one at a time; the others wait in line.
struct GATTOperation: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case write([UInt8])
        case read(offset: Int)
        case readDescription(offset: Int)
    }

    var kind: Kind
    var characteristic: Int
    /// Reads of the same value share one answer.
    var calls: [RadioCall]

    var isWrite: Bool { if case .write = kind { true } else { false } }
    /// Of the value, and not of its description.
    var isOfValue: Bool { if case .readDescription = kind { false } else { true } }
}

/// That a link will break, and when.
struct LinkLoss: Sendable, Equatable {
    enum Moment: UInt64, Sendable, CaseIterable {
        /// The write is lost on its way.
        case beforeHandler
        /// The board executed the write, and its acknowledgement is lost.
        case afterHandler
        /// The write is acknowledged, and its answer can no longer be read.
        case beforeRead
    }

    /// Writes until then, the last one included.
    var writes: Int
    var moment: Moment
}

typealias Properties = [(String, DBusValue)]

extension RadioDevice {
    /// Generic Access and Generic Attribute, which every peripheral has.
    static let genericServices = ["00001800-0000-1000-8000-00805f9b34fb", "00001801-0000-1000-8000-00805f9b34fb"]

    /// Absent properties are left out, not empty: that is how clients tell.
    func properties(_ faults: RadioFaults) -> Properties {
        var properties: Properties = [("Address", .string(address)), ("AddressType", .string("public"))]
        if !faults.hidesName { properties.append(("Name", .string(name))) }
        properties += [
            ("Alias", .string(alias(faults))), ("Paired", .bool(isPaired)), ("Bonded", .bool(hasStaleBond)),
            ("Trusted", .bool(isTrusted)), ("Blocked", .bool(isBlocked)), ("LegacyPairing", .bool(false)),
        ]
        if let rssi { properties.append(("RSSI", .int16(rssi))) }
        return properties + [
            ("Connected", .bool(isConnected)), ("UUIDs", uuids(faults)),
            ("Adapter", .objectPath(BlueZPath.adapterText)), ("ServicesResolved", .bool(isResolved)),
        ]
    }

    /// Clients take the name from here; the address with dashes means that there is none.
    func alias(_ faults: RadioFaults) -> String { alias ?? (faults.hidesName ? dashedAddress : name) }

    func uuids(_ faults: RadioFaults) -> DBusValue {
        // The advertisement has one; what was resolved stays.
        let generic = faults.listsGenericServices && !exported.isEmpty ? Self.genericServices : []
        return .strings(generic + [application.serviceUUID])
    }

    var serviceProperties: Properties {
        [
            ("UUID", .string(application.serviceUUID)), ("Device", .objectPath(path)), ("Primary", .bool(true)),
            ("Includes", .array([], of: "o")),
        ]
    }

    func characteristicProperties(_ index: Int, mtu: UInt16) -> Properties {
        var properties: Properties = [
            ("UUID", .string(application.characteristics[index].uuid)), ("Service", .objectPath(servicePath)),
            ("Flags", .strings(GATTApplication.flags)),
        ]
        if let value = lastValues[index] { properties.append(("Value", .bytes(value))) }
        if isConnected { properties.append(("MTU", .uint16(mtu))) }
        return properties
    }

    func descriptorProperties(_ index: Int) -> Properties {
        var properties: Properties = [
            ("UUID", .string(GATTApplication.userDescriptionUUID)),
            ("Characteristic", .objectPath(characteristicPath(index))),
        ]
        if lastDescriptions.contains(index) {
            properties.append(("Value", .bytes(application.characteristics[index].userDescription)))
        }
        return properties
    }
}

/// What goes wrong with a simulated radio, and how long things take there. Times are milliseconds, fractions 0 to 1.
struct RadioFaults: Sendable, Equatable {
    enum AdapterState: String, Sendable, CaseIterable {
        case on
        /// BlueZ runs and has no controller.
        case absent
        case off
        /// Off, and the kernel's radio switch keeps it off.
        case rfkill
    }

    /// Connects that end with le-connection-abort-by-local, after Connected went true and false again.
    var abort = 0.0
    /// The same without that.
    var quietAbort = 0.0
    /// Links that break after some exchanges.
    var lose = 0.0
    /// Of those no more than so many; nil for no limit.
    var losses: Int?
    /// Boards whose object vanishes once between discovery and the first Connect.
    var stale = 0.0
    /// Boards of which BlueZ remembers another firmware's services, until the device is removed.
    var cache = 0.0
    var connectDelay: UInt64 = 200
    var resolveDelay: UInt64 = 300
    /// From Disconnect to the end of the link: two seconds in BlueZ.
    var disconnectDelay: UInt64 = 2000
    /// How long a device that no client has connected to stays in the tree after it was last seen.
    var forgetDelay: UInt64 = 30_000
    /// So many calls of StartDiscovery find the kernel busy, as beside another client's scan.
    var busyScans = 0
    /// Characteristics need an encrypted link: the first access raises security, and the default agent is asked.
    var needsPairing = false
    /// BlueZ has keys for the boards, and they lost theirs.
    var hasStaleBonds = false
    /// A board whose link got lost comes back under another address.
    var changesAddress = false
    var stack = GATTStack.nimble
    /// Instead of the stack's own limit.
    var valueLimit: Int?
    /// After resolution a device also lists Generic Access and Generic Attribute.
    var listsGenericServices = false
    /// The board has no scan response, and so no name.
    var hidesName = false
    var adapter = AdapterState.on

    /// One `KEY[=VALUE]`; false where that makes no sense.
    mutating func set(_ text: String) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = parts.count > 1 ? parts[1] : nil
        switch parts[0] {
        case "abort": return Self.take(Self.fraction(value), &abort)
        case "abort-quiet": return Self.take(Self.fraction(value), &quietAbort)
        case "lose": return Self.take(Self.fraction(value), &lose)
        case "losses":
            guard let count = value.flatMap(Int.init), (0...1000).contains(count) else { return false }
            losses = count
            return true
        case "stale": return Self.take(Self.fraction(value), &stale)
        case "cache": return Self.take(Self.fraction(value), &cache)
        case "connect": return Self.take(Self.milliseconds(value), &connectDelay)
        case "resolve": return Self.take(Self.milliseconds(value), &resolveDelay)
        case "disconnect": return Self.take(Self.milliseconds(value), &disconnectDelay)
        case "forget": return Self.take(Self.milliseconds(value), &forgetDelay)
        case "scan-busy":
            return Self.take(value.flatMap(Int.init).flatMap { (0...1000).contains($0) ? $0 : nil }, &busyScans)
        case "stale-bond": return Self.take(value == nil, &hasStaleBonds)
        case "readdress": return Self.take(value == nil, &changesAddress)
        case "encrypt": return Self.take(value == nil, &needsPairing)
        case "uuids3": return Self.take(value == nil, &listsGenericServices)
        case "noname": return Self.take(value == nil, &hidesName)
        case "stack": return Self.take(value.flatMap(GATTStack.init(rawValue:)), &stack)
        case "adapter": return Self.take(value.flatMap(AdapterState.init(rawValue:)), &adapter)
        case "limit":
            guard let limit = value.flatMap(Int.init), (1...512).contains(limit) else { return false }
            valueLimit = limit
            return true
        default: return false
        }
    }

    private static func take(_ isGiven: Bool, _ target: inout Bool) -> Bool {
        target = isGiven
        return isGiven
    }

    private static func take<Value>(_ value: Value?, _ target: inout Value) -> Bool {
        guard let value else { return false }
        target = value
        return true
    }

    private static func fraction(_ text: String?) -> Double? {
        text.flatMap(Double.init).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    private static func milliseconds(_ text: String?) -> UInt64? {
        text.flatMap(Double.init).flatMap { (0...3600).contains($0) ? UInt64(($0 * 1000).rounded()) : nil }
    }
}
