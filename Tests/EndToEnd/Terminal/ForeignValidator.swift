// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// Debian's python3-jsonschema, which nobody here wrote, with the schemas in docs/schema.
struct ForeignValidator {
    let folder: TemporaryFolder

    /// What is wrong with documents; empty where nothing is.
    /// - Parameter isClosed: whether a member that the schema does not name is wrong, too. For readers it is not: documents gain members.
    func complaints(_ documents: [String], against file: String, isClosed: Bool = true) async throws -> String {
        let text = try readFile(Repository.path("docs/schema/\(file)"))
        let schema = try JSONValue(parsing: Array(text.utf8))
        let used = isClosed ? Self.closed(schema) : schema
        try folder.write(String(decoding: used.serialized(), as: UTF8.self), to: "schema.json")
        var arguments = ["-m", "jsonschema"]
        for (index, document) in documents.enumerated() {
            try folder.write(document, to: "document-\(index).json")
            arguments += ["-i", folder.file("document-\(index).json")]
        }
        let finished = try await run("/usr/bin/python3", arguments + [folder.file("schema.json")])
        return finished.status == .exited(0) ? "" : "\(file): \(finished.status) \(finished.standardError)"
    }

    /// The schema without room for members that it does not name.
    private static func closed(_ schema: JSONValue) -> JSONValue {
        guard let members = schema.members else { return schema }
        var all = members.map { member -> JSONValue.Member in
            switch member.name {
            case "properties":
                .init(member.name, .object((member.value.members ?? []).map { .init($0.name, closed($0.value)) }))
            case "items": .init(member.name, closed(member.value))
            case "anyOf": .init(member.name, .array((member.value.array ?? []).map(closed)))
            default: member
            }
        }
        if members.contains(where: { $0.name == "properties" }) { all.append(.init("additionalProperties", false)) }
        return .object(all)
    }
}
