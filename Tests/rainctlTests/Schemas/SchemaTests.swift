// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import TestSupport
import Testing

@testable import rainctl

/// The schemas in docs/schema, which are made from the types that rainctl encodes.
@Suite("JSON schemas of documents and events")
struct SchemaTests {
    /// The schema of each kind of document, by the name of its file.
    private static func all() throws -> [(file: String, text: String)] {
        var byType: [String: JSONSchema] = [:]
        for golden in GoldenResult.all {
            let schema = try SchemaEncoder.schema(of: golden.result)
            byType[golden.typeName] = byType[golden.typeName]?.merged(with: schema) ?? schema
        }
        var documents = byType.map { name, schema in
            (file: fileName(name), text: text(title(name), versioned(schema)))
        }
        // Before the first step there is none.
        let event = try [nil, "account"].map { step in
            try SchemaEncoder.schema(
                of: EventLine(
                    time: "", run: "", device: "", step: step, state: "", code: "", attempt: 1, elapsedMilliseconds: 1,
                    nodeID: step, more: EventDetail(detail: nil)))
        }
        let eventTitle = "A line of --events ndjson; the last one has the members of the document as well"
        documents.append(("event.json", text(eventTitle, event[0].merged(with: event[1]))))
        return documents.sorted { $0.file < $1.file }
    }

    private static func versioned(_ schema: JSONSchema) -> JSONSchema {
        let version = JSONSchema.Member(name: "schema_version", schema: .integer, isRequired: true)
        let warning = JSONSchema.object([
            .init(name: "reason", schema: .string, isRequired: true),
            .init(name: "message", schema: .string, isRequired: true),
        ])
        let warnings = JSONSchema.Member(name: "warnings", schema: .array(warning), isRequired: false)
        guard case .object(let members) = schema else { return schema }
        return .object([version] + members.filter { $0.name != "warnings" } + [warnings])
    }

    private static func text(_ title: String, _ schema: JSONSchema) -> String {
        let head: [JSONValue.Member] = [
            .init("$schema", "https://json-schema.org/draft/2020-12/schema"), .init("title", .string(title)),
        ]
        let body = schema.json.members ?? []
        return String(decoding: JSONValue.object(head + body).serialized(pretty: true), as: UTF8.self) + "\n"
    }

    /// `NodeListResult` as `node-list.json`.
    private static func fileName(_ type: String) -> String {
        let stem = type.hasSuffix("Result") ? String(type.dropLast("Result".count)) : type
        // QRShow is qr-show.
        return stem.replacing("QR", with: "Qr").snakeCased.drop { $0 == "_" }.replacing("_", with: "-") + ".json"
    }

    private static func title(_ type: String) -> String {
        "What rainctl prints with --json: \(fileName(type).dropLast(".json".count).replacing("-", with: " "))"
    }

    private static let folder = Repository.path("docs/schema")

    @Test("are those in docs/schema (RAINKIT_RECORD=1 writes them)")
    func recorded() throws {
        let all = try Self.all()
        if currentEnvironment()["RAINKIT_RECORD"] != nil {
            try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true)
            for (file, text) in all { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(Self.folder)/\(file)")) }
        }
        for (file, text) in all { #expect(try readFile("\(Self.folder)/\(file)") == text, "\(file)") }
        let there = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".json") }
        #expect(Set(there) == Set(all.map(\.file)))
    }

    /// Debian's python3-jsonschema, which nobody here wrote.
    private func validate(_ document: String, against file: String, in folder: TemporaryFolder) async throws
        -> FinishedProcess
    {
        try folder.write(document, to: "document.json")
        return try await run(
            "/usr/bin/python3", ["-m", "jsonschema", "-i", folder.file("document.json"), "\(Self.folder)/\(file)"])
    }

    @Test("a foreign validator takes the documents that rainctl prints, and none with a member of another type")
    func validated() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(nodes: ["node-schema"], in: folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-schema"), in: folder)
            let provisioned = try await maker.provision(board, ["--json"])
            let documents = [
                ("provision.json", provisioned),
                ("node-list.json", try await maker.rainctl("node", "list", "--json")),
                ("node-show.json", try await maker.rainctl("node", "show", "node-schema", "--json")),
                ("profile-list.json", try await maker.rainctl("profile", "list", "--json")),
                ("session.json", try await maker.rainctl("account", "status", "--json")),
                ("error.json", try await maker.rainctl("node", "show", "nowhere", "--json")),
            ]
            for (file, outcome) in documents {
                let verdict = try await validate(outcome.standardOutput, against: file, in: folder)
                #expect(verdict.status == .exited(0), "\(file): \(verdict.standardError)\(outcome.standardOutput)")
            }
            let other = provisioned.standardOutput.replacing("\"claimed\": false", with: "\"claimed\": \"no\"")
            #expect(other != provisioned.standardOutput)
            #expect(try await validate(other, against: "provision.json", in: folder).status != .exited(0))
            let streamed = try await maker.rainctl(
                ["device", "claim", "--events", "ndjson"] + Maker.way(to: board) + ["--pop-file", folder.file("pop")])
            for line in streamed.standardOutput.split(separator: "\n") {
                let verdict = try await validate(String(line), against: "event.json", in: folder)
                #expect(verdict.status == .exited(0), "\(line): \(verdict.standardError)")
            }
            #expect(!streamed.standardOutput.isEmpty)
        }
    }
}
