// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// JSON as rainctl prints it: documents, lines of events and lines of the log.
enum JSONText {
    /// The version of every JSON document that rainctl prints.
    static let schemaVersion = 1

    /// Returns a document, which begins with the schema's version.
    /// - Parameters:
    ///   - warnings: its last member; absent if empty.
    ///   - isPretty: whether it has a line for each value.
    static func document(_ content: some Encodable, warnings: [Warning] = [], isPretty: Bool = true) -> String {
        text(Document(content: content, warnings: warnings), isPretty: isPretty)
    }

    /// Returns the same document on one line, without a line end.
    static func documentLine(_ content: some Encodable, warnings: [Warning] = []) -> String {
        String(text(Document(content: content, warnings: warnings), isPretty: false).dropLast())
    }

    /// Returns an object on one line.
    static func line(_ content: some Encodable) -> String { text(content, isPretty: false) }

    private static func text(_ content: some Encodable, isPretty: Bool) -> String {
        ShownText.json(String(decoding: value(content).serialized(pretty: isPretty), as: UTF8.self)) + "\n"
    }

    /// Returns the members of a result, with their names in snake case.
    static func value(_ content: some Encodable) -> JSONValue {
        do throws(JSONError) {
            return try JSONCoder.value(of: content, naming: name)
        } catch {
            // JSON lacks infinite numbers and integers of more than 64 bits, and no result has them.
            preconditionFailure("\(type(of: content)) cannot be written as JSON: \(error)")
        }
    }
}

extension JSONText {
    /// Returns the name of a member: the property's name in snake case, such as `node_id` for `nodeID`. Only ``NamedMembers`` have names from
    /// data, and those stay as they are.
    static func name(_ key: any CodingKey) -> String {
        key is NamedMembers.Name ? key.stringValue : key.stringValue.snakeCased
    }
}

extension JSONValue {
    /// JSON on several lines, made safe to show.
    var readable: String { ShownText.json(String(decoding: serialized(pretty: true), as: UTF8.self)) }

}

private struct Document<Content: Encodable>: Encodable {
    let content: Content
    let warnings: [Warning]

    private enum CodingKeys: CodingKey { case schemaVersion, warnings }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(JSONText.schemaVersion, forKey: .schemaVersion)
        try content.encode(to: encoder)
        if !warnings.isEmpty { try container.encode(warnings, forKey: .warnings) }
    }
}

/// Values with a name for scripts and a label for people. One description makes both forms of a result, so that they cannot differ.
struct LabelledValues: Encodable, Sendable {
    private var members = NamedMembers()
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    /// Adds a text, on a line after its label. Without a label, the name is used. Adds nothing for nil.
    mutating func add(_ name: String, label: String? = nil, _ text: String?) {
        guard let text else { return }
        add(name, text, line: "\(label ?? Self.words(name)): \(text.onOneLine)")
    }

    /// Adds a list of texts. Adds nothing if it is empty.
    mutating func add(_ name: String, _ texts: [String]) {
        guard !texts.isEmpty else { return }
        add(name, texts, line: "\(Self.words(name)): \(texts.joined(separator: ", ").onOneLine)")
    }

    /// Adds a value with its own line.
    mutating func add(_ name: String, _ value: some Encodable & Sendable, line: String) {
        members.add(name, value)
        lines.append(line)
    }

    /// Adds a value only for scripts, or whose line comes later.
    mutating func add(memberOnly name: String, _ value: some Encodable & Sendable) { members.add(name, value) }

    /// Adds a line about members that were added before.
    mutating func add(line: String) { lines.append(line) }

    private static func words(_ name: String) -> String { name.replacing("_", with: " ") }
}

/// Members of a JSON object whose names are known only when the program runs, in their order.
struct NamedMembers: Encodable, Sendable {
    private var members: [(name: String, value: any Encodable & Sendable)] = []

    mutating func add(_ name: String, _ value: some Encodable & Sendable) { members.append((name, value)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        // The schema must not promise that each member is present, because that is known only at run time.
        func add(_ value: some Encodable, _ name: String) throws {
            try container.encodeIfPresent(Optional(value), forKey: Name(stringValue: name))
        }
        for member in members { try add(member.value, member.name) }
    }

    fileprivate struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension NamedMembers {
    /// The entries of a dictionary, sorted by name.
    init(sorted dictionary: [String: String]) {
        for (name, text) in dictionary.sorted(by: { $0.key < $1.key }) { add(name, text) }
    }
}

/// A property of a result that is only for its text. Documents do not have it.
@propertyWrapper
struct TextOnly<Value: Sendable>: Encodable, Sendable {
    var wrappedValue: Value

    func encode(to encoder: any Encoder) {}
}

extension KeyedEncodingContainer {
    /// Encodes nothing: the compiler chooses this function for the property of a result.
    mutating func encode(_ value: TextOnly<some Sendable>, forKey key: Key) {}
}

/// A member that is `null` without a value, instead of absent like others.
@propertyWrapper
struct NullIfAbsent<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
