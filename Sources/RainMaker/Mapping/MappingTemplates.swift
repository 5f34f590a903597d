// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainAccount
import RainJSON

/// The values that a request to the user's own backend can carry: `{node_id}` and others.
enum MappingPlaceholder: String, CaseIterable {
    case nodeID = "node_id"
    case userID = "user_id"
    case secretKey = "secret_key"
    case requestID = "request_id"
    /// The identity provider's one-time code for the backend's own client.
    case code
    /// The board's signature in lower-case hexadecimal.
    case signature
    /// The lifetime of a challenge in seconds.
    case lifetime
    case tags
    case metadata

    /// Whether the value may be part of an address. Servers and proxies log addresses, so a proof or secret may not.
    fileprivate var mayStandInURL: Bool { [.nodeID, .userID, .requestID, .lifetime].contains(self) }
    /// Whether the placeholder must be the whole text. An array or an object cannot be a part of a text.
    fileprivate var standsAlone: Bool { [.tags, .metadata].contains(self) }
}

/// The values of one request. A missing value, such as metadata, was not given.
typealias MappingValues = [MappingPlaceholder: JSONValue]

/// A text with placeholders, split into its parts. Values are inserted once, and placeholders inside them are not replaced.
private struct PlaceholderText: Sendable, Equatable {
    enum Part: Sendable, Equatable {
        case literal(String)
        case placeholder(MappingPlaceholder)
    }

    let parts: [Part]

    struct Unknown: Error { var name: String }

    /// Reads `{name}` as a placeholder if the name consists of lower-case letters and `_`. Other braces are text.
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

    /// Returns the whole text, with the result of `value` for each placeholder.
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
    /// The value as part of a text.
    fileprivate var placeholderText: String {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .longNumber(let number): number.text
        default: ""
        }
    }
}

/// The address of one request, with placeholders in its path and query. It is https (plain http only to this machine), and its host has no
/// placeholder.
struct URLTemplate: Sendable, Equatable {
    private static let maximumLength = 2048
    /// The maximum length in bytes of an id in an address. Ids come from boards and servers.
    private static let maximumValue = 1024

    let authority: String
    private let content: PlaceholderText

    var placeholders: [MappingPlaceholder] { content.placeholders }

    init(_ text: String, member: String) throws(MappingDescriptionProblem) {
        let problem = { (sentence: String) in MappingDescriptionProblem(member: member, sentence: sentence) }
        guard text.utf8.count <= Self.maximumLength else { throw problem("it is too long") }
        do throws(PlaceholderText.Unknown) {
            content = try PlaceholderText(text)
        } catch {
            throw problem("there is no placeholder {\(error.name)}")
        }
        for placeholder in content.placeholders where !placeholder.mayStandInURL {
            throw problem(
                "{\(placeholder.rawValue)} may not be part of an address, because servers log addresses: put it in the body"
            )
        }
        if !content.placeholders.isEmpty {
            guard case .literal(let first)? = content.parts.first, first.count(where: { $0 == "/" }) >= 3 else {
                throw problem("the host must be written in full, followed by a /")
            }
        }
        let sample = content.text { _ in "x" }
        let pieces = sample.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        do throws(AccountError) {
            authority = try ServiceURL(String(pieces[0])).authority
        } catch {
            throw problem(error.message)
        }
        guard !Self.hasDotSegment(sample) else { throw problem("its path has a segment . or ..") }
        guard pieces.count == 1 || pieces[1].utf8.allSatisfy(Self.isQueryCharacter) else {
            throw problem("its query has a character that must be percent-encoded")
        }
    }

    /// - Throws: `invalidInput` for a value that would turn it into another address.
    func filled(with values: MappingValues) throws(AccountError) -> String {
        let url = try content.text { placeholder throws(AccountError) in
            let text = values[placeholder]?.placeholderText ?? ""
            guard (1...Self.maximumValue).contains(text.utf8.count) else {
                throw AccountError(
                    .invalidInput, message: "the \(placeholder.rawValue) is empty or too long for an address")
            }
            return PercentEncoding.encoded(text)
        }
        guard !Self.hasDotSegment(url) else {
            throw AccountError(
                .invalidInput,
                message: "one of the values \(names) is \".\" or \"..\", which would change the address at \(authority)"
            )
        }
        return url
    }

    private var names: String { placeholders.map(\.rawValue).joined(separator: ", ") }

    /// HTTP clients remove such segments from a path, together with the segment before.
    private static func hasDotSegment(_ url: String) -> Bool {
        url.prefix { $0 != "?" }.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    private static func isQueryCharacter(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit
            || "-._~!$&'()*+,;=:@/?%".utf8.contains(byte)
    }
}

/// The body of one request: JSON with placeholders in its texts. Values are inserted as JSON values, so they cannot add members.
struct BodyTemplate: Sendable, Equatable {
    private indirect enum Node: Sendable, Equatable {
        case text(PlaceholderText)
        case array([Node])
        case object([Named])
        case other(JSONValue)
    }

    private struct Named: Sendable, Equatable {
        var name: String
        var value: Node
    }

    private let root: Node
    private(set) var placeholders: [MappingPlaceholder] = []

    init(_ json: JSONValue, member: String) throws(MappingDescriptionProblem) {
        guard json.members != nil else {
            throw MappingDescriptionProblem(member: member, sentence: "it is not an object")
        }
        var placeholders: [MappingPlaceholder] = []
        root = try Self.node(json, member, &placeholders)
        self.placeholders = placeholders
    }

    private static func node(
        _ json: JSONValue, _ member: String, _ found: inout [MappingPlaceholder]
    ) throws(MappingDescriptionProblem) -> Node {
        switch json {
        case .string(let text):
            let content: PlaceholderText
            do throws(PlaceholderText.Unknown) {
                content = try PlaceholderText(text)
            } catch {
                throw MappingDescriptionProblem(
                    member: member, sentence: "there is no placeholder {\(error.name)}")
            }
            for placeholder in content.placeholders where placeholder.standsAlone && content.parts.count > 1 {
                throw MappingDescriptionProblem(
                    member: member, sentence: "{\(placeholder.rawValue)} must be the whole text")
            }
            found += content.placeholders
            return .text(content)
        case .array(let values):
            var nodes: [Node] = []
            for (index, value) in values.enumerated() { nodes.append(try node(value, "\(member)[\(index)]", &found)) }
            return .array(nodes)
        case .object(let members):
            var nodes: [Named] = []
            for part in members {
                nodes.append(Named(name: part.name, value: try node(part.value, "\(member).\(part.name)", &found)))
            }
            return .object(nodes)
        default: return .other(json)
        }
    }

    /// Returns the body with its values. A member or an element that is only a placeholder without a value is omitted, such as missing
    /// metadata.
    func filled(with values: MappingValues) -> JSONValue { Self.value(of: root, values) ?? .object([]) }

    private static func value(of node: Node, _ values: MappingValues) -> JSONValue? {
        switch node {
        case .text(let content):
            if content.parts.count == 1, case .placeholder(let only)? = content.parts.first { return values[only] }
            return .string(content.text { values[$0]?.placeholderText ?? "" })
        case .array(let nodes): return .array(nodes.compactMap { value(of: $0, values) })
        case .object(let members):
            return .object(members.compactMap { part in value(of: part.value, values).map { .init(part.name, $0) } })
        case .other(let json): return json
        }
    }
}
