// SPDX-License-Identifier: Apache-2.0

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
