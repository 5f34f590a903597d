// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainJSON
import RainKit
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
        documents += try streams()
        return documents.sorted { $0.file < $1.file }
    }

    /// The schemas of lines that commands stream.
    private static func streams() throws -> [(file: String, text: String)] {
        let warning = Warning(reason: "", message: "")
        let failure = ErrorResult(CommandFailure(.usage, message: "")).error
        let board = DiscoveredBoardResult(transport: "")
        let path = ParameterPath(component: "", parameter: "")
        return [
            (
                "event.json", "A line of --events ndjson; the last one has the members of the document as well",
                [
                    // Before the first step there is none.
                    try event(nil, EventDetail(detail: nil)), try event("account", EventDetail(detail: nil)),
                    try event("account", WarningDetail(warning)), try event("account", failure),
                ]
            ),
            (
                "discovery-event.json", "A line of device discover --events ndjson",
                [
                    try SchemaEncoder.schema(of: FoundEvent(board, at: "")),
                    try SchemaEncoder.schema(of: WarningEvent(warning, at: "")),
                ]
            ),
            (
                "monitor-event.json", "A line of device monitor --events ndjson",
                [try SchemaEncoder.schema(of: MonitorEvent("line"))]
            ),
            (
                "watch-event.json", "A line of node watch --json",
                try [NodeChange.What.connected(true), .value(path, 1, previous: nil)].map { what in
                    let change = NodeChange(node: NodeID("N1"), name: nil, what: what)
                    return try SchemaEncoder.schema(of: WatchLine(change, at: ""))
                }
            ),
        ].map { file, title, kinds in (file, text(title, kinds.dropFirst().reduce(kinds[0]) { $0.merged(with: $1) })) }
    }

    private static func event(_ step: String?, _ more: some Encodable) throws -> JSONSchema {
        try SchemaEncoder.schema(
            of: EventLine(
                time: "", run: "", device: "", step: step, state: "", code: "", attempt: 1, elapsedMilliseconds: 1,
                nodeID: step, more: more))
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

    @Test("the page names each of them, and none that there is not")
    func page() throws {
        let links = try readFile("\(Self.folder)/README.md").matches(of: /\]\(([a-z-]+\.json)\)/).map { "\($0.1)" }
        // A desktop starts this one, and nobody reads what it prints.
        #expect(Set(links + ["callback.json"]) == Set(try Self.all().map(\.file)))
    }

    @Test("a foreign validator takes the documents that rainctl prints, and none with a member of another type or name")
    func validated() async throws {
        try await withTemporaryFolder { folder in
            let validator = ForeignValidator(folder: folder)
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(nodes: ["node-schema"], in: folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-schema"), in: folder)
            let provisioned = try await maker.provision(board, ["--json"])
            #expect(try await validator.complaints([provisioned.standardOutput], against: "provision.json").isEmpty)
            for (line, file) in Self.printed {
                let outcome = try await maker.rainctl(line.split(separator: " ").map(String.init) + ["--json"])
                let complaints = try await validator.complaints([outcome.standardOutput], against: file)
                #expect(complaints.isEmpty, "\(line): \(complaints)\(outcome.standardOutput)")
                #expect((outcome.status == 0) == (file != "error.json"), "\(line): \(outcome.standardOutput)")
            }
            for member in ["\"claimed\": \"no\"", "\"claimed\": false, \"unheard\": 1"] {
                let other = provisioned.standardOutput.replacing("\"claimed\": false", with: member)
                #expect(other != provisioned.standardOutput)
                #expect(try await !validator.complaints([other], against: "provision.json").isEmpty)
            }
        }
    }

    /// Commands with a board in the account, and the schema of what each prints; one after the other.
    private static let printed = [
        ("node list", "node-list.json"), ("node show node-schema", "node-show.json"),
        ("node status node-schema", "node-status.json"), ("node metadata set node-schema shelf=3", "action.json"),
        ("node metadata get node-schema", "node-document.json"), ("node tags add node-schema a:b", "action.json"),
        ("node metadata delete node-schema shelf", "action.json"),
        ("group add Home --nodes node-schema", "action.json"), ("group list", "group-list.json"),
        ("group show Home", "group-show.json"), ("group remove-nodes Home node-schema", "action.json"),
        ("profile list", "profile-list.json"), ("profile show", "profile-show.json"),
        ("profile show --origin", "profile-show.json"), ("profile use sim", "profile-change.json"),
        ("whoami", "whoami.json"), ("account status", "session.json"), ("account list", "account-list.json"),
        ("account providers", "provider-list.json"),
        ("node show nowhere", "error.json"), ("frobnicate", "error.json"),
    ]
}
