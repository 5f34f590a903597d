// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A board as the radio hears it.
public struct DiscoveredBoard: Sendable, Hashable {
    /// The Bluetooth address, `AA:BB:CC:DD:EE:FF`.
    public var address: String
    /// The advertised name, or nil where the scan response was not heard.
    public var name: String?
    /// The services that it advertises, as lower-case UUIDs.
    public var serviceUUIDs: [String]
    /// Its strength in dBm; nil while it is connected.
    public var rssi: Int?
    /// Whether a program on this machine is connected to it already; it does not advertise then.
    public var isConnected: Bool

    var path: String

    /// What a person knows it by.
    public var label: String { name ?? address }

    init?(path: String, in tree: ObjectTree) {
        guard let properties = tree[path, BlueZName.device], let address = properties["Address"]?.text else {
            return nil
        }
        self.path = path
        self.address = address
        // A device without a name gets its address with dashes as alias.
        name =
            properties["Name"]?.text
            ?? properties["Alias"]?.text.flatMap { alias in
                alias.asciiLowercased.utf8.elementsEqual(
                    address.asciiLowercased.utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "-") : $0 }) ? nil : alias
            }
        serviceUUIDs = (properties["UUIDs"]?.texts ?? []).map(\.asciiLowercased)
        rssi = properties["RSSI"]?.integer
        isConnected = properties["Connected"]?.boolean ?? false
    }

    /// The order of a list: boards that are connected, and whose strength is therefore unknown, come last.
    static func isLouder(_ one: DiscoveredBoard, _ other: DiscoveredBoard) -> Bool {
        (one.rssi ?? .min, other.path) > (other.rssi ?? .min, one.path)
    }

    /// Heard in this scan, or connected.
    var isPresent: Bool { rssi != nil || isConnected }
}

/// Which boards are meant.
public struct BoardFilter: Sendable, Hashable {
    /// The service UUIDs of ESP-IDF's default, and of its examples and RainMaker.
    public static let knownServices: Set<String> = [
        "1775244d-6b43-439b-877c-060f2d9bed07", "021a9004-0382-4aea-bff4-6b3f1c5adfb4",
    ]

    /// In the words that were given, which are compared without regard to case.
    private enum Wanted: Hashable {
        case anyBoard
        case name(String)
        case prefix(String)
        case address(String)
        /// One that was found before: its address, and its name.
        case found(String, name: String?)

        private var folded: (kind: Int, words: String) {
            switch self {
            case .anyBoard: (0, "")
            case .name(let words): (1, words.asciiLowercased)
            case .prefix(let words): (2, words.asciiLowercased)
            case .address(let words): (3, words.asciiLowercased)
            case .found(let address, let name): (4, (address + " " + (name ?? "")).asciiLowercased)
            }
        }

        static func == (one: Wanted, other: Wanted) -> Bool { one.folded == other.folded }

        func hash(into hasher: inout Hasher) {
            hasher.combine(folded.kind)
            hasher.combine(folded.words)
        }
    }

    private var wanted: Wanted
    private var services: Set<String>

    /// Every board that waits to be provisioned: its name begins with `PROV_`, or it advertises one of the known services.
    public static let anyBoard = BoardFilter(wanted: .anyBoard, services: [])
    /// The board of that name, in upper or lower case.
    public static func name(_ name: String) -> BoardFilter {
        BoardFilter(wanted: .name(name), services: [])
    }
    /// Boards whose name begins so, in upper or lower case, and that advertise one of the services where any is given.
    public static func prefix(_ prefix: String, services: Set<String> = []) -> BoardFilter {
        BoardFilter(wanted: .prefix(prefix), services: Set(services.map(\.asciiLowercased)))
    }
    /// The board with that Bluetooth address, such as `AA:BB:CC:DD:EE:FF`, in upper or lower case.
    public static func address(_ address: String) -> BoardFilter {
        BoardFilter(wanted: .address(address), services: [])
    }

    /// The board that was found before. It may have another address after it started anew (ESP-IDF's random addresses).
    static func found(_ board: DiscoveredBoard) -> BoardFilter {
        BoardFilter(wanted: .found(board.address, name: board.name), services: Set(board.serviceUUIDs))
    }

    /// Which boards are the one that was found before, where that is not heard under its address any more: those with its name, and a
    /// service of its own; nil where it has no name.
    var underAnotherAddress: BoardFilter? {
        guard case .found(_, let name?) = wanted else { return nil }
        return BoardFilter(wanted: .name(name), services: services)
    }

    /// Whether it can only be one board.
    public var isUnique: Bool {
        switch wanted {
        case .name, .address, .found: true
        case .anyBoard, .prefix: false
        }
    }

    /// Whether this board is one that is looked for, by its name, its address and the services that it advertises.
    public func matches(_ board: DiscoveredBoard) -> Bool {
        let name = board.name?.asciiLowercased
        // Its address says enough: what it advertises may not be heard yet.
        if case .found(let address, _) = wanted { return board.address.asciiLowercased == address.asciiLowercased }
        if !services.isEmpty, services.isDisjoint(with: board.serviceUUIDs) { return false }
        return switch wanted {
        case .found: false
        case .name(let wanted): name == wanted.asciiLowercased
        case .address(let wanted): board.address.asciiLowercased == wanted.asciiLowercased
        case .prefix(let prefix): name?.hasPrefix(prefix.asciiLowercased) ?? prefix.isEmpty
        case .anyBoard:
            name?.hasPrefix("prov_") == true || !Self.knownServices.isDisjoint(with: board.serviceUUIDs)
        }
    }

    /// The one object that can fit, where that is known: BlueZ names devices by their addresses.
    func path(below adapter: String) -> String? {
        let address: String
        switch wanted {
        case .address(let wanted), .found(let wanted, _): address = wanted
        default: return nil
        }
        let digits = address.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 == 0x3A ? 0x5F : $0 }
        return adapter + "/dev_" + String(decoding: digits, as: UTF8.self)
    }

    /// How messages name it: in the words that were given.
    public var label: String {
        switch wanted {
        case .anyBoard: "a board"
        case .name(let words), .address(let words): words
        case .found(let address, let name): name ?? address
        case .prefix(let words): "a board \(words)…"
        }
    }
}
