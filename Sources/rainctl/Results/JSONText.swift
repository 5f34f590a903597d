// SPDX-License-Identifier: Apache-2.0
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
            return text.escapingInvisible + "\n"
        } catch {
            // JSON lacks infinite numbers and integers of more than 64 bits, and no result has them.
            preconditionFailure("\(type(of: content)) cannot be written as JSON: \(error)")
        }
    }
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

extension String {
    /// JSON with an escape for each character that a terminal would obey or that changes the order in which text is shown. They stand in
    /// strings alone, so the value stays the same.
    fileprivate var escapingInvisible: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.isInvisible else { return text.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}

extension Unicode.Scalar {
    /// DEL and the C1 controls, marks and controls of direction, separators of lines; all below U+10000.
    fileprivate var isInvisible: Bool {
        switch value {
        case 0x7F...0x9F, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: false
        }
    }
}
