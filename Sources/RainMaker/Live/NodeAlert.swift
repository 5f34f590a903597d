// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// An alert that a node has raised: a text, or values that it wants its users to notice.
public struct NodeAlert: Sendable, Equatable {
    /// The content of an alert.
    public enum Content: Sendable, Equatable {
        /// The text of `esp_rmaker_raise_alert`, at most 100 characters.
        case text(String)
        /// The values of `esp_rmaker_param_update_and_notify`: `{"Light":{"Power":true}}`. The node reports them as well.
        case values(JSONValue)
    }

    /// The node that raised it.
    public var node: NodeID
    /// Its content.
    public var content: Content

    package init(node: NodeID, content: Content) { (self.node, self.content) = (node, content) }

    /// Returns the alert with `<secret>` in place of each secret. Each node can have other names for its secrets.
    package func masked(by secrets: SecretParameters) -> NodeAlert {
        guard case .values(let values) = content else { return self }
        return NodeAlert(node: node, content: .values(secrets.masked(in: values)))
    }

    /// The alert's text, or its values as JSON.
    public var text: String {
        switch content {
        case .text(let text): text
        case .values(let values): String(decoding: values.serialized(), as: UTF8.self)
        }
    }
}

extension NodeAlert {
    /// Returns the topic on which a node raises alerts, if its firmware does not use AWS IoT's basic ingest.
    static func topic(of node: NodeID) -> String { "node/\(node.rawValue)/alert" }

    /// The maximum length of a text, in characters. Firmware cuts it at 100 bytes (`ESP_RMAKER_MAX_ALERT_LEN`).
    private static let longestText = 100
    /// The largest alert that is read: AWS IoT's messages have at most 128 KiB.
    private static let limits = JSONLimits(maximumBytes: 128 << 10, maximumDepth: 16, maximumValues: 20_000)
    private static let textMember = "esp.alert.str"
    private static let beginning = Array(#"{"esp.alert.str":""#.utf8)
    private static let end = Array(#""}"#.utf8)

    /// Returns nil for a message that is not an alert of one of these nodes. Such messages are ignored.
    init?(_ message: MQTTMessage, of nodes: [NodeID]) {
        guard let node = nodes.first(where: { Self.topic(of: $0) == message.topic }),
            let content = Self.content(message.payload)
        else { return nil }
        (self.node, self.content) = (node, content)
    }

    /// Firmware does not escape the text: quotation marks in it break the JSON, or add members to it. Then the text is everything between
    /// the outer quotation marks. A text that is valid JSON is read as JSON, so a backslash in it may be lost.
    private static func content(_ payload: [UInt8]) -> Content? {
        let document = (try? JSONValue(parsing: payload, limits: limits)).flatMap { $0.members == nil ? nil : $0 }
        if let document, let text = document[textMember]?.string, document.members?.count == 1 { return bounded(text) }
        if payload.count >= beginning.count + end.count, payload.starts(with: beginning),
            payload.suffix(end.count).elementsEqual(end)
        {
            let bytes = payload.dropFirst(beginning.count).dropLast(end.count)
            return bounded(String(decoding: bytes, as: UTF8.self))
        }
        guard let document, document[textMember] == nil, document.members?.isEmpty == false else { return nil }
        return .values(SecretParameters(of: nil).masked(in: document))
    }

    /// A text that firmware cut within a character ends with a replacement character, which is removed.
    private static func bounded(_ text: String) -> Content {
        let text = text.hasSuffix("\u{FFFD}") ? String(text.dropLast()) : text
        return .text(String(text.prefix(longestText)))
    }
}

extension NodeAlert: Encodable {
    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case state, text, values
    }

    /// Encodes `node_id`, `state` (`alert`), and `text` or `values`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(node.rawValue, forKey: .nodeID)
        try container.encode("alert", forKey: .state)
        switch content {
        case .text(let text): try container.encode(text, forKey: .text)
        case .values(let values): try container.encode(values, forKey: .values)
        }
    }
}
