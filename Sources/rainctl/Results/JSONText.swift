// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// JSON as rainctl prints it: documents, lines of events and lines of the log.
enum JSONText {
    /// The version of every JSON document that rainctl prints.
    static let schemaVersion = 1

    /// A document of several lines, which begins with the schema's version.
    static func document(_ content: some Encodable) -> String {
        text(Document(content: content), isPretty: true)
    }

    /// An object on a line of its own.
    static func line(_ content: some Encodable) -> String { text(content, isPretty: false) }

    private static func text(_ content: some Encodable, isPretty: Bool) -> String {
        do throws(JSONError) {
            return String(decoding: try JSONCoder.value(of: content).serialized(pretty: isPretty), as: UTF8.self) + "\n"
        } catch {
            // JSON lacks infinite numbers and integers of more than 64 bits, and no result has them.
            preconditionFailure("\(type(of: content)) cannot be written as JSON: \(error)")
        }
    }
}

private struct Document<Content: Encodable>: Encodable {
    let content: Content

    private enum CodingKeys: CodingKey { case schemaVersion }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(JSONText.schemaVersion, forKey: .schemaVersion)
        try content.encode(to: encoder)
    }
}
