// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// Which connections are looking for devices, and for which devices.
///
/// A session belongs to a connection on the bus, and ends with it. A filter outlives its session: it holds until its owner
/// replaces it or leaves the bus (`doc/adapter-api.txt`).
struct DiscoverySessions: Sendable {
    struct Filter: Sendable, Equatable {
        var uuids: [String] = []
        var rssi: Int16?
        var pattern: String?
        /// False where only classic Bluetooth is wanted.
        var includesLE = true

        /// Nil for keys or types that `SetDiscoveryFilter` does not take.
        init?(_ entries: [DBusEntry]) {
            var hasPathLoss = false
            for entry in entries {
                guard case .string(let key) = entry.key else { return nil }
                switch (key, entry.value.unwrapped) {
                case ("UUIDs", .array(let elements, "s")):
                    uuids = elements.compactMap(\.text).map { Self.long($0.lowercased()) }
                case ("RSSI", .int16(let level)): rssi = level
                case ("Pathloss", .uint16): hasPathLoss = true
                case ("Transport", .string(let transport)):
                    guard ["auto", "bredr", "le"].contains(transport) else { return nil }
                    includesLE = transport != "bredr"
                case ("Pattern", .string(let text)): pattern = text
                case ("DuplicateData", .bool), ("Discoverable", .bool): break
                default: return nil
                }
            }
            if hasPathLoss, rssi != nil { return nil }
        }

        init() {}

        func accepts(name: String?, address: String, uuids offered: [String], rssi level: Int16) -> Bool {
            guard includesLE else { return false }
            if !uuids.isEmpty, !uuids.contains(where: offered.contains) { return false }
            if let rssi, level < rssi { return false }
            guard let pattern, !pattern.isEmpty else { return true }
            return name?.hasPrefix(pattern) == true || address.hasPrefix(pattern)
        }

        /// The 128-bit form of a 16- or 32-bit UUID.
        private static func long(_ uuid: String) -> String {
            let digits = uuid.hasPrefix("0x") ? String(uuid.dropFirst(2)) : uuid
            guard digits.count == 4 || digits.count == 8 else { return uuid }
            return String(repeating: "0", count: 8 - digits.count) + digits + "-0000-1000-8000-00805f9b34fb"
        }
    }

    private var filters: [String: Filter] = [:]
    private(set) var owners: Set<String> = []

    var isActive: Bool { !owners.isEmpty }

    mutating func set(_ filter: Filter, of sender: String) { filters[sender] = filter }

    /// False where that sender has a session already.
    mutating func start(_ sender: String) -> Bool { owners.insert(sender).inserted }

    /// False where it has none.
    mutating func stop(_ sender: String) -> Bool { owners.remove(sender) != nil }

    mutating func removeSender(_ sender: String) {
        owners.remove(sender)
        filters[sender] = nil
    }

    mutating func stopAll() { owners = [] }

    /// Whether such a device is reported to any of the sessions.
    func accept(name: String?, address: String, uuids: [String], rssi: Int16) -> Bool {
        owners.contains { owner in
            filters[owner]?.accepts(name: name, address: address, uuids: uuids, rssi: rssi) ?? true
        }
    }
}
