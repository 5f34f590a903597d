// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// The examples tell the whole schema. `RecordedOutputTests` compares the schemas with docs/schema.
@Suite("JSON schemas of documents and events")
struct SchemaTests {
    /// The schemas of results, by the name of the type, and those of streamed lines, by the name of the file.
    private static func all() throws -> [String: JSONSchema] {
        var all = try PublishedSchemas.ofResults()
        for (file, _, schema) in try PublishedSchemas.ofStreams() { all[file] = schema }
        return all
    }

    /// Members that a type has for another command: `provision` does not tell how much it sent.
    private static let neverShown = ["ProvisionResult": ["custom_data.bytes"]]

    @Test("each member of a result is in an example")
    func examples() throws {
        for (type, schema) in try PublishedSchemas.ofResults() {
            var shown: Set<String> = []
            for result in ExampleResults.ofType(type) {
                shown.formUnion(try JSONValue(parsing: Array(JSONText.line(result).utf8)).memberPaths())
            }
            let missing = schema.memberPaths().subtracting(shown).subtracting(Self.neverShown[type] ?? []).sorted()
            #expect(missing.isEmpty, "\(type): add an example with \(missing)")
        }
    }

    @Test("the type of each member is known")
    func types() throws {
        for (name, schema) in try Self.all() {
            let unknown = schema.unknownMembers()
            #expect(unknown.isEmpty, "\(name): no example has \(unknown)")
        }
    }

    @Test("every member that a result's source adds by name is in its schema")
    func members() throws {
        let schemas = try PublishedSchemas.ofResults()
        let files = try ["Sources/rainctl", "Sources/RainKit/Documents"].map { Repository.path($0) }.flatMap { folder in
            try filesBelow(folder).filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
        }
        var count = 0
        for file in files {
            let source = try readFile(file)
            let types = source.matches(of: /struct (\w+): (?:CommandResult|Encodable)/)
                .compactMap { schemas["\($0.1)"] }
            guard !types.isEmpty else { continue }
            let known = types.reduce(into: Set()) { $0.formUnion($1.memberNames) }
            let named = Set(source.matches(of: /[aA]dd\((?:memberOnly: )?"(\w+)"/).map { "\($0.1)" })
            #expect(named.subtracting(known).isEmpty, "\(file): add an example that has the member")
            count += named.count
        }
        #expect(count > 50)
    }

    @Test("every member that a command gives to an ActionResult is in its schema")
    func actions() throws {
        let known = try #require(try PublishedSchemas.ofResults()["ActionResult"]).memberNames
        let folder = Repository.path("Sources/rainctl")
        var named: Set<String> = []
        for file in try filesBelow(folder) where file.hasSuffix(".swift") {
            named.formUnion(try readFile("\(folder)/\(file)").matches(of: /\.with\("(\w+)"/).map { "\($0.1)" })
        }
        #expect(named.count > 10 && named.subtracting(known).isEmpty, "\(named.subtracting(known))")
    }

    @Test("the page names each schema, and no other")
    func page() throws {
        let page = try readFile(Repository.path("docs/schema/README.md"))
        let links = Set(page.matches(of: /\]\(([a-z-]+\.json)\)/).map { "\($0.1)" })
        // A desktop starts the command that prints callback.json, and nobody reads it.
        let files = Set(try PublishedSchemas.all().map(\.file)).subtracting(["callback.json"])
        let missing = files.subtracting(links).sorted()
        let rows = missing.map { "| `COMMAND` | [\($0.dropLast(5))](\($0)) |" }.joined(separator: "\n")
        #expect(missing.isEmpty, "Add to the table in docs/schema/README.md:\n\(rows)")
        let gone = links.subtracting(files).sorted()
        #expect(gone.isEmpty, "Remove from docs/schema/README.md: \(gone)")
    }
}

extension JSONSchema {
    /// The names of its members, and of the members of what it holds.
    fileprivate var memberNames: Set<String> {
        Set(memberPaths().map { $0.split(separator: ".").last.map(String.init) ?? "" })
    }

    /// Its members, such as `nodes`, and the members of what it holds, such as `nodes.name`.
    fileprivate func memberPaths(below path: String = "") -> Set<String> {
        switch self {
        case .object(let members):
            members.reduce(into: []) {
                $0.formUnion([path + $1.name] + $1.schema.memberPaths(below: "\(path)\($1.name)."))
            }
        case .array(let element): element?.memberPaths(below: path) ?? []
        case .oneOf(let all): all.reduce(into: []) { $0.formUnion($1.memberPaths(below: path)) }
        default: []
        }
    }

    /// The members that no example has, and the arrays that are empty in each example. The innermost array of a type that holds itself, as
    /// groups do, is always empty.
    /// - Parameter names: of the members that hold this one.
    fileprivate func unknownMembers(in names: [String] = []) -> [String] {
        switch self {
        case .unseen: [names.joined(separator: ".")]
        case .array(nil): names.dropLast().contains(names.last ?? "") ? [] : [names.joined(separator: ".")]
        case .array(let element?): element.unknownMembers(in: names)
        case .object(let members): members.flatMap { $0.schema.unknownMembers(in: names + [$0.name]) }
        case .oneOf(let all): all.flatMap { $0.unknownMembers(in: names) }
        default: []
        }
    }
}

extension JSONValue {
    /// Its members, and the members of what it holds, as a schema names them.
    fileprivate func memberPaths(below path: String = "") -> Set<String> {
        let ofMembers = (members ?? []).flatMap { [path + $0.name] + $0.value.memberPaths(below: "\(path)\($0.name).") }
        return Set(ofMembers + (array ?? []).flatMap { $0.memberPaths(below: path) })
    }
}
