// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// JSON as rainctl prints it: documents, lines of events and lines of the log.
enum JSONText {
    /// The version of every JSON document that rainctl prints.
    static let schemaVersion = 1

    /// A document of several lines, which begins with the schema's version.
    /// - Parameter warnings: its last member; absent where there are none.
    static func document(_ content: some Encodable, warnings: [Warning] = []) -> String {
        text(Document(content: content, warnings: warnings), isPretty: true)
    }

    /// An object on a line of its own.
    static func line(_ content: some Encodable) -> String { text(content, isPretty: false) }

    private static func text(_ content: some Encodable, isPretty: Bool) -> String {
        do throws(JSONError) {
            let text = String(decoding: try JSONCoder.value(of: content).serialized(pretty: isPretty), as: UTF8.self)
            return ShownText.json(text) + "\n"
        } catch {
            // JSON lacks infinite numbers and integers of more than 64 bits, and no result has them.
            preconditionFailure("\(type(of: content)) cannot be written as JSON: \(error)")
        }
    }
}

extension JSONValue {
    /// JSON on several lines, made safe to show.
    var readable: String { ShownText.json(String(decoding: serialized(pretty: true), as: UTF8.self)) }

    /// JSON on one line, made safe to show.
    var compact: String { ShownText.json(String(decoding: serialized(), as: UTF8.self)) }
}

private struct Document<Content: Encodable>: Encodable {
    let content: Content
    let warnings: [Warning]

    private enum CodingKeys: String, CodingKey {
        case schemaVersion = "schema_version"
        case warnings
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(JSONText.schemaVersion, forKey: .schemaVersion)
        try content.encode(to: encoder)
        if !warnings.isEmpty { try container.encode(warnings, forKey: .warnings) }
    }
}
