// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A board that was found by radio.
public struct DiscoveredBoard: Sendable, Hashable {
    /// The Bluetooth address, `AA:BB:CC:DD:EE:FF`.
    public var address: String
    /// The advertised name, or nil if the scan response was not received.
    public var name: String?
    /// The services that the board advertises, as lower-case UUIDs.
    public var serviceUUIDs: [String]
    /// The signal strength in dBm; nil while the board is connected.
    public var rssi: Int?
    /// Whether a program on this machine is already connected to the board, which then does not advertise.
    public var isConnected: Bool

    var path: String

    /// The board's name for people.
    public var label: String { name ?? address }

    init?(path: String, in tree: ObjectTree) {
        guard let properties = tree[path, BlueZName.device], let address = properties["Address"]?.text else {
            return nil
        }
        self.path = path
        self.address = address
        (rssi, isConnected) = (nil, false)
        // BlueZ's alias for a device without a name is its address with dashes.
        name =
            properties["Name"]?.text
            ?? properties["Alias"]?.text.flatMap { alias in
                alias.asciiLowercased.utf8.elementsEqual(
                    address.asciiLowercased.utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: "-") : $0 }) ? nil : alias
            }
        serviceUUIDs = (properties["UUIDs"]?.texts ?? []).map(\.asciiLowercased)
        update(from: properties)
    }

    /// The properties of BlueZ's device that all others than ``update(from:)`` come from.
    static let identity: Set<String> = ["Address", "Name", "Alias", "UUIDs"]

    /// Sets what changes while the board is received.
    mutating func update(from properties: ObjectTree.Properties) {
        rssi = properties["RSSI"]?.integer
        isConnected = properties["Connected"]?.boolean ?? false
    }

    /// The order of a list: connected boards, whose strength is unknown, come last.
    static func isLouder(_ one: DiscoveredBoard, _ other: DiscoveredBoard) -> Bool {
        (one.rssi ?? .min, other.path) > (other.rssi ?? .min, one.path)
    }

    /// Whether the board was received in this scan, or is connected.
    var isPresent: Bool { rssi != nil || isConnected }
}

/// The boards that a search is for.
public struct BoardFilter: Sendable, Hashable {
    /// The service UUIDs of ESP-IDF's default, and of its examples and RainMaker.
    public static let knownServices: Set<String> = [
        "1775244d-6b43-439b-877c-060f2d9bed07", "021a9004-0382-4aea-bff4-6b3f1c5adfb4",
    ]

    /// The given text, which is compared without regard to case.
    private enum Wanted: Hashable {
        case anyBoard
        case name(String)
        case prefix(String)
        case address(String)
        /// A board that was found before: its address, and its name.
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

    /// All boards that wait to be provisioned: their name begins with `PROV_`, or they advertise one of the known services.
    public static let anyBoard = BoardFilter(wanted: .anyBoard, services: [])
    /// The board with this name, in upper or lower case.
    public static func name(_ name: String) -> BoardFilter {
        BoardFilter(wanted: .name(name), services: [])
    }
    /// Boards whose name begins with this prefix, in upper or lower case, and that advertise one of the services if any are given.
    public static func prefix(_ prefix: String, services: Set<String> = []) -> BoardFilter {
        BoardFilter(wanted: .prefix(prefix), services: Set(services.map(\.asciiLowercased)))
    }
    /// The board with this Bluetooth address, such as `AA:BB:CC:DD:EE:FF`, in upper or lower case.
    public static func address(_ address: String) -> BoardFilter {
        BoardFilter(wanted: .address(address), services: [])
    }

    /// A board that was found before. It may have another address after a restart (ESP-IDF's random addresses).
    static func found(_ board: DiscoveredBoard) -> BoardFilter {
        BoardFilter(wanted: .found(board.address, name: board.name), services: Set(board.serviceUUIDs))
    }

    /// The boards that may be the one that was found before, once that is no longer received under its address: those with its name and its
    /// own service. Nil if it has no name.
    var underAnotherAddress: BoardFilter? {
        guard case .found(_, let name?) = wanted else { return nil }
        return BoardFilter(wanted: .name(name), services: services)
    }

    /// Whether only one board can match.
    public var isUnique: Bool {
        switch wanted {
        case .name, .address, .found: true
        case .anyBoard, .prefix: false
        }
    }

    /// Whether it is only a board's name.
    var namesBoard: Bool { name != nil }

    /// The name, if it is only a board's name.
    var name: String? { if case .name(let name) = wanted { name } else { nil } }

    /// Whether this board matches by its name, its address and the services that it advertises.
    public func matches(_ board: DiscoveredBoard) -> Bool {
        let name = board.name?.asciiLowercased
        // The address is sufficient: its advertised data may not have been received yet.
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

    /// The only object that can match, if known: BlueZ names devices by their addresses.
    func path(below adapter: String) -> String? {
        let address: String
        switch wanted {
        case .address(let wanted), .found(let wanted, _): address = wanted
        default: return nil
        }
        let digits = address.utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 == 0x3A ? 0x5F : $0 }
        return adapter + "/dev_" + String(decoding: digits, as: UTF8.self)
    }

    /// The name for messages: the given text.
    public var label: String {
        switch wanted {
        case .anyBoard: "a board"
        case .name(let words), .address(let words): words
        case .found(let address, let name): name ?? address
        case .prefix(let words): "a board \(words)…"
        }
    }
}
