// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What a request to one's own backend can carry: `{node_id}` and the others.
enum MappingPlaceholder: String, CaseIterable {
    case nodeID = "node_id"
    case userID = "user_id"
    case secretKey = "secret_key"
    case requestID = "request_id"
    /// Of the identity provider, for the backend's own client.
    case code
    /// In lower-case hex.
    case signature
    /// Of a challenge, in seconds.
    case lifetime
    case tags
    case metadata

    /// Addresses reach the logs of servers and proxies, so nothing that proves anything stands there.
    var mayStandInURL: Bool { [.nodeID, .userID, .requestID, .lifetime].contains(self) }
    /// An array or an object cannot be a part of a text.
    var standsAlone: Bool { [.tags, .metadata].contains(self) }
}

/// The values of one request. One that has no value here was not given, such as metadata.
typealias MappingValues = [MappingPlaceholder: JSONValue]

/// A text with placeholders, taken apart. Values are put in once and never read for placeholders themselves.
struct PlaceholderText: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        case literal(String)
        case placeholder(MappingPlaceholder)
    }

    let parts: [Part]

    struct Unknown: Error { var name: String }

    /// Takes `{name}` for a placeholder wherever the name consists of lower-case letters and `_`; other braces are text.
    init(_ text: String) throws(Unknown) {
        var (parts, literal, rest) = ([Part](), "", text[...])
        while let open = rest.firstIndex(of: "{") {
            let name = rest[rest.index(after: open)...].prefix { $0 == "_" || ("a"..."z").contains($0) }
            guard !name.isEmpty, name.endIndex < rest.endIndex, rest[name.endIndex] == "}" else {
                literal += rest[...open]
                rest = rest[rest.index(after: open)...]
                continue
            }
            guard let known = MappingPlaceholder(rawValue: String(name)) else { throw Unknown(name: String(name)) }
            literal += rest[..<open]
            if !literal.isEmpty { parts.append(.literal(literal)) }
            parts.append(.placeholder(known))
            literal = ""
            rest = rest[rest.index(after: name.endIndex)...]
        }
        literal += rest
        if !literal.isEmpty { parts.append(.literal(literal)) }
        self.parts = parts
    }

    var placeholders: [MappingPlaceholder] {
        parts.compactMap { if case .placeholder(let placeholder) = $0 { placeholder } else { nil } }
    }

    /// The whole text, with what `value` makes of each placeholder.
    func text<Failure: Error>(_ value: (MappingPlaceholder) throws(Failure) -> String) throws(Failure) -> String {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .placeholder(let placeholder): text += try value(placeholder)
            }
        }
        return text
    }
}

extension JSONValue {
    /// As part of a text.
    var placeholderText: String {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .longNumber(let number): number.text
        default: ""
        }
    }
}
