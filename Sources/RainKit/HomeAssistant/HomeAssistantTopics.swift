// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMaker

/// The MQTT topics of a bridge to Home Assistant.
///
/// Names of boards and parameters come from other people. ``level(_:)`` makes one level of a topic of them, which holds neither wildcards nor
/// separators.
public struct HomeAssistantTopics: Sendable, Equatable {
    /// The first levels of the bridge's own topics, such as `rainkit`.
    public let base: String
    /// The first levels of Home Assistant's discovery topics, such as `homeassistant`.
    public let prefix: String

    /// - Throws: `RainKitError` (`usage`) for a topic that is empty, longer than 200 bytes, begins with `$`, has an empty level, or holds
    ///   wildcards or control characters.
    public init(base: String = "rainkit", prefix: String = "homeassistant") throws {
        for (name, topic) in [("base topic", base), ("discovery prefix", prefix)] {
            let isUsable =
                !topic.isEmpty && topic.utf8.count <= 200 && !topic.hasPrefix("$")
                && !topic.split(separator: "/", omittingEmptySubsequences: false).contains("")
                && !topic.unicodeScalars.contains { $0 == "+" || $0 == "#" || $0.value < 0x20 || $0.value == 0x7F }
            guard isUsable else {
                throw RainKitError.usage(
                    "The \(name) \"\(topic.onOneLine)\" cannot be used: a topic has 1 to 200 bytes. It must not begin with $, and must not contain +, # or an empty level."
                )
            }
        }
        (self.base, self.prefix) = (base, prefix)
    }

    /// Returns a level of a topic for any text. Different texts have different levels.
    ///
    /// ASCII letters, digits and `-` stay. Every other byte becomes `_` and two hexadecimal digits. Texts whose level would be longer than 96
    /// bytes are shortened, and end with `__` and a number made of the whole text.
    public static func level(_ text: String) -> String {
        var level: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                level.append(byte)
            default: level += Array("_\(Hex.text([byte]))".utf8)
            }
        }
        guard level.count > maximumLevel else { return level.isEmpty ? "_" : String(decoding: level, as: UTF8.self) }
        // FNV-1a with 64 bits.
        let number = text.utf8.reduce(14_695_981_039_346_656_037 as UInt64) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        let digits = String(number, radix: 16)
        return String(decoding: level.prefix(maximumLevel - 18), as: UTF8.self) + "__"
            + String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static let maximumLevel = 96

    /// `online` while the bridge works; the broker publishes `offline` when its connection breaks.
    public var bridgeAvailability: String { "\(base)/bridge/availability" }
    /// Bridges that start ask here whether another one uses the same base topic.
    var hello: String { "\(base)/bridge/hello" }
    /// The running bridge answers here.
    var here: String { "\(base)/bridge/here" }
    /// The bridge's own message after its subscriptions: all retained messages have arrived before it.
    var marker: String { "\(base)/bridge/marker" }

    /// `online` or `offline`, of a board.
    public func availability(of node: NodeID) -> String { "\(base)/\(Self.level(node.rawValue))/availability" }
    /// The list of a board's entities, which a bridge needs to remove them after it was away.
    func index(of node: NodeID) -> String { "\(base)/\(Self.level(node.rawValue))/entities" }
    /// The state of an entity, as JSON.
    public func state(of node: NodeID, _ entity: String) -> String {
        "\(base)/\(Self.level(node.rawValue))/\(entity)/state"
    }
    /// Where an entity takes a command: `set`, or `set/` and the name of another command.
    public func command(of node: NodeID, _ entity: String, _ command: String) -> String {
        let topic = "\(base)/\(Self.level(node.rawValue))/\(entity)/set"
        return command == "set" ? topic : "\(topic)/\(command)"
    }
    /// The discovery message of an entity.
    public func discovery(of node: NodeID, _ entity: HomeAssistantEntity) -> String {
        discovery(board: Self.level(node.rawValue), "\(entity.component.rawValue)/\(entity.key)") ?? ""
    }

    /// - Parameters:
    ///   - board: the board's level.
    ///   - entity: the component, `/` and the entity's key, as in the index.
    /// - Returns: nil if that is not such a text.
    func discovery(board: String, _ entity: String) -> String? {
        let parts = entity.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, HomeAssistantEntity.Component(rawValue: String(parts[0])) != nil,
            Self.isLevel(parts[1]), Self.isLevel(board[...])
        else { return nil }
        return "\(prefix)/\(parts[0])/\(identity(board))/\(parts[1])/config"
    }

    /// The identity of a board in Home Assistant, which differs between two base topics.
    func identity(_ board: String) -> String { "\(Self.level(base))-\(board)" }

    /// Whether a text consists of the characters of ``level(_:)``.
    static func isLevel(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 256
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Returns the levels behind the base; nil for a topic of somebody else.
    func levels(of topic: String) -> [Substring]? {
        guard topic.hasPrefix(base + "/") else { return nil }
        return topic.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    }
}
