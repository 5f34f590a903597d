// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// What the fixtures' .proto files say: one declaration a line, as they are written.
struct Schema {
    struct Field {
        let type: String
        let name: String
        let isRepeated: Bool
    }
    struct Message {
        /// Fields outside a oneof.
        var fields: [Field] = []
        var oneof: [Field] = []
    }

    private(set) var messages: [String: Message] = [:]
    private(set) var enums: [String: [String]] = [:]

    /// Reads a schema of the fixtures, with what it imports.
    init(_ name: String) throws {
        try read(name, isImported: false)
    }

    static func folder() throws -> String {
        Repository.path("Tests/ProtocommCoreTests/Fixtures")
    }

    private mutating func read(_ name: String, isImported: Bool) throws {
        let text = try String(contentsOfFile: Self.folder() + "/\(name).proto", encoding: .utf8)
        var message: String?
        var enumeration: String?
        var isInOneof = false
        for line in text.split(separator: "\n") {
            let words = line.split { " ;\"".contains($0) }.map(String.init)
            switch words.first {
            case nil, "//", "syntax", "package": continue
            case "import": try read(String(words[1].dropLast(".proto".count)), isImported: true)
            case "message":
                message = words[1]
                messages[words[1]] = Message()
            case "enum":
                // An enum of another file is named with its package.
                enumeration = isImported ? "\(name).\(words[1])" : words[1]
                enums[enumeration!] = []
            case "oneof": isInOneof = true
            case "}":
                if isInOneof { isInOneof = false } else { (message, enumeration) = (nil, nil) }
            default:
                if let enumeration { enums[enumeration]!.append(words[0]) }
                guard let message else { continue }
                let isRepeated = words[0] == "repeated"
                let field = Field(
                    type: words[isRepeated ? 1 : 0], name: words[isRepeated ? 2 : 1], isRepeated: isRepeated)
                if isInOneof { messages[message]!.oneof.append(field) } else { messages[message]!.fields.append(field) }
            }
        }
    }
}
