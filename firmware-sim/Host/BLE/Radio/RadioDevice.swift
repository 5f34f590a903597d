// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainDBus

/// A board from the radio's point of view, and BlueZ's data about it.
struct RadioDevice: Sendable {
    enum Link: Sendable, Equatable {
        case down
        /// `call` waits for the outcome, unless Pair requested the connection.
        case connecting(RadioCall?)
        case up
        /// A client disconnects; the callers wait until the link is down.
        case closing([RadioCall])
    }

    // The board.
    private(set) var address: String
    private(set) var path: String
    /// The path of the adapter that receives the board.
    private let adapter: String
    let name: String
    let application: GATTApplication
    /// The board serves, and answers scans and connections.
    var isServing: Bool
    /// Another adapter has the board's only link.
    var isElsewhere = false
    /// Its signal strength; measurements vary around it.
    let level: Int16

    // BlueZ's data.
    var isKnown = false
    /// Never connected: removed if it was not seen for some time.
    var isTemporary = true
    var rssi: Int16?
    var lastSeen: UInt64 = 0
    var alias: String?
    var isPaired = false
    var isTrusted = false
    var isBlocked = false
    /// The indexes of the characteristics in the tree; empty if services were never resolved.
    var exported: [Int] = []
    /// The last read value of each characteristic, by its index.
    var lastValues: [Int: [UInt8]] = [:]
    var lastDescriptions: Set<Int> = []

    // The link.
    var link = Link.down
    /// Counts links and attempts, so that a timer knows whether it still applies.
    var attempt: UInt64 = 0
    var isResolved = false
    var pairing: RadioCall?
    /// An agent was asked whether the link may be encrypted. Reads and writes wait.
    var isAsking = false
    var operations: [GATTOperation] = []
    /// The first of ``operations`` has been passed to the board.
    var isOperating = false
    var loss: LinkLoss?

    // Initial faults of this board.
    var vanishesOnce = false
    var hasStaleCache = false
    /// BlueZ has keys that the board lost: each link breaks when it is to be encrypted.
    var hasStaleBond = false

    // Running timers.
    var isSightingDue = false
    var isForgetTimerSet = false

    init(
        address: String, name: String, application: GATTApplication, below adapter: String, isServing: Bool = true,
        level: Int16
    ) {
        self.adapter = adapter
        self.address = address
        self.name = name
        self.application = application
        self.isServing = isServing
        self.level = level
        path = BlueZPath.deviceText(address, below: adapter)
    }

    /// Gives the restarted board another random address.
    mutating func readdress() {
        let last = UInt8(address.suffix(2), radix: 16) ?? 0
        address = String(address.dropLast(2)) + Hex.text([last &+ 0x40]).uppercased()
        path = BlueZPath.deviceText(address, below: adapter)
    }

    /// A connected board does not advertise.
    var isAdvertising: Bool { isServing && !isElsewhere && link != .up && !isClosing }

    private var isClosing: Bool { if case .closing = link { true } else { false } }
    private var isConnected: Bool { link == .up || isClosing }

    private var dashedAddress: String { address.split(separator: ":").joined(separator: "-") }

    /// The characteristics that the daemon believes the board to have.
    var remembered: [Int] {
        guard hasStaleCache else { return Array(application.characteristics.indices) }
        let other = application.withoutApplication
        return application.characteristics.indices.filter {
            other.characteristics.contains(application.characteristics[$0])
        }
    }

    // MARK: Paths

    var servicePath: String { path + "/" + BlueZPath.attribute("service", application.serviceHandle) }

    func characteristicPath(_ index: Int) -> String {
        servicePath + "/" + BlueZPath.attribute("char", application.characteristics[index].handle)
    }

    func descriptorPath(_ index: Int) -> String {
        characteristicPath(index) + "/"
            + BlueZPath.attribute("desc", application.characteristics[index].descriptorHandle)
    }
}

/// A read or write of a waiting client. A link carries one at a time; the others wait.
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
    /// Whether it is for the value, not for its description.
    var isOfValue: Bool { if case .readDescription = kind { false } else { true } }
}

/// When a link will break.
struct LinkLoss: Sendable, Equatable {
    enum Moment: UInt64, Sendable, CaseIterable {
        /// The write is lost before it arrives.
        case beforeHandler
        /// The board executed the write, but its acknowledgement is lost.
        case afterHandler
        /// The write is acknowledged, but its answer can no longer be read.
        case beforeRead
    }

    /// The number of writes until then, including the last one.
    var writes: Int
    var moment: Moment
}

typealias Properties = [(String, DBusValue)]

extension RadioDevice {
    /// Generic Access and Generic Attribute, which every peripheral has.
    static let genericServices = ["00001800-0000-1000-8000-00805f9b34fb", "00001801-0000-1000-8000-00805f9b34fb"]

    /// Absent properties are left out, not empty, because clients check for their presence.
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
            ("Adapter", .objectPath(adapter)), ("ServicesResolved", .bool(isResolved)),
        ]
    }

    /// Clients take the name from here. The address with dashes means that there is no name.
    private func alias(_ faults: RadioFaults) -> String { alias ?? (faults.hidesName ? dashedAddress : name) }

    func uuids(_ faults: RadioFaults) -> DBusValue {
        // The advertisement has one UUID; resolved ones stay.
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

/// The faults and durations of a simulated radio. Times are milliseconds, fractions 0 to 1.
struct RadioFaults: Sendable {
    enum AdapterState: String, Sendable, CaseIterable {
        case on
        /// BlueZ runs, but has no controller.
        case absent
        case off
        /// Off, and the kernel's radio switch keeps it off.
        case rfkill
    }

    /// How an adapter fails.
    enum AdapterFailure: String, Sendable, CaseIterable {
        case removed, off
        /// Every operation fails, and nothing is received.
        case broken
    }

    /// How many links the adapter carries at the same time; nil for any number.
    var slots: Int?
    /// Whether a refusal for lack of slots is reported like a failure of the radio, as bluetoothd 5.66 does.
    var refusesQuietly = false
    /// How the adapter fails, and after how many links through it.
    var failure: (kind: AdapterFailure, links: Int)?
    /// Connects that end with le-connection-abort-by-local, after Connected became true and false again.
    var abort = 0.0
    /// Connects that end with it without that change.
    var quietAbort = 0.0
    /// Links that break after some exchanges.
    var lose = 0.0
    /// The maximum number of those; nil for no limit.
    var losses: Int?
    /// Boards whose object disappears once between discovery and the first Connect.
    var stale = 0.0
    /// Boards for which BlueZ has cached another firmware's services, until the device is removed.
    var cache = 0.0
    var connectDelay: UInt64 = 200
    var resolveDelay: UInt64 = 300
    /// The time from Disconnect to the end of the link: two seconds in BlueZ.
    var disconnectDelay: UInt64 = 2000
    /// How long a device that no client has connected to stays in the tree after it was last seen.
    var forgetDelay: UInt64 = 30_000
    /// How many calls of StartDiscovery find the kernel busy, as with another client's scan.
    var busyScans = 0
    /// Characteristics require an encrypted link: the first access raises security, and the default agent is asked.
    var needsPairing = false
    /// BlueZ has keys for the boards, but the boards lost theirs.
    var hasStaleBonds = false
    /// A board whose link was lost comes back with another address.
    var changesAddress = false
    var stack = GATTStack.nimble
    /// Replaces the stack's own limit.
    var valueLimit: Int?
    /// After resolution a device also lists Generic Access and Generic Attribute.
    var listsGenericServices = false
    /// The board has no scan response, and so no name.
    var hidesName = false
    var adapter = AdapterState.on

    /// Sets one `KEY[=VALUE]`. Returns false if it is invalid.
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
        case "slots", "slots-quiet":
            guard let count = value.flatMap(Int.init), (1...1000).contains(count) else { return false }
            slots = count
            refusesQuietly = parts[0] != "slots"
            return true
        case "removed-after", "off-after", "broken-after":
            guard let kind = AdapterFailure(rawValue: String(parts[0].dropLast("-after".count))),
                let links = value.flatMap(Int.init), (1...100_000).contains(links)
            else { return false }
            failure = (kind, links)
            return true
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
