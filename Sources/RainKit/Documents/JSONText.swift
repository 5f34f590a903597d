// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// JSON for programs: the documents of results, lines of events and lines of the log. `rainctl --json` prints the documents unchanged.
package enum JSONText {
    /// The version of every JSON document.
    package static let schemaVersion = 1

    /// Returns a document, which begins with the schema's version.
    /// - Parameters:
    ///   - warnings: its last member; absent if empty.
    ///   - isPretty: whether it has a line for each value.
    package static func document(_ content: some Encodable, warnings: [Warning] = [], isPretty: Bool = true) -> String {
        text(Document(content: content, warnings: warnings), isPretty: isPretty)
    }

    /// Returns the same document on one line, without a line end.
    package static func documentLine(_ content: some Encodable, warnings: [Warning] = []) -> String {
        String(text(Document(content: content, warnings: warnings), isPretty: false).dropLast())
    }

    /// Returns an object on one line.
    package static func line(_ content: some Encodable) -> String { text(content, isPretty: false) }

    private static func text(_ content: some Encodable, isPretty: Bool) -> String {
        ShownText.json(String(decoding: value(content).serialized(pretty: isPretty), as: UTF8.self)) + "\n"
    }

    /// Returns the members of a result, with their names in snake case.
    package static func value(_ content: some Encodable) -> JSONValue {
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
    package static func name(_ key: any CodingKey) -> String {
        key is NamedMembers.Name ? key.stringValue : key.stringValue.snakeCased
    }
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

/// A problem despite which a command continues: a member of its document, and an event.
package struct Warning: Encodable, Sendable {
    /// For programs, in snake case, such as `proof_not_used`.
    package let reason: String
    package let message: String

    package init(reason: String, message: String) {
        self.reason = reason
        self.message = message
    }
}
