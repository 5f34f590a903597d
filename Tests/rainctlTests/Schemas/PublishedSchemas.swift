// SPDX-License-Identifier: Apache-2.0
import RainJSON
@testable import RainKit
import RainMaker

@testable import rainctl

/// The schemas in docs/schema, derived from the types that rainctl encodes.
enum PublishedSchemas {
    /// The text of each file, sorted by name.
    static func all() throws -> [(file: String, text: String)] {
        let documents = try ofResults().map { name, schema in
            (file: fileName(name), text: text(title(name), versioned(schema)))
        }
        let lines = try ofStreams().map { file, title, schema in (file: file, text: text(title, schema)) }
        let envelopes = ofRPC.map { file, title, schema in (file: file, text: text(title, schema)) }
        return (documents + lines + envelopes).sorted { $0.file < $1.file }
    }

    /// The schema of each result, by the name of its type.
    static func ofResults() throws -> [String: JSONSchema] {
        var byType: [String: JSONSchema] = [:]
        for result in ExampleResults.all {
            let schema = try SchemaEncoder.schema(of: result)
            let name = "\(type(of: result))"
            byType[name] = byType[name]?.merged(with: schema) ?? schema
        }
        return byType
    }

    /// The schemas of lines that commands stream.
    static func ofStreams() throws -> [(file: String, title: String, schema: JSONSchema)] {
        let warning = Warning(reason: "", message: "")
        let failure = RainKitError.Document(CommandFailure(.usage, message: ""))
        let board = DiscoveredBoardResult(transport: "")
        let path = ParameterPath(component: "", parameter: "")
        return [
            (
                "event.json", "A line of --events ndjson; the last one has the members of the document as well",
                [
                    // An event before the first step has no step.
                    try event(nil, .detail(nil)), try event("account", .detail(nil)),
                    try event("account", .warning(reason: "", message: "")),
                    try event("sign_in", .session(userName: "", userID: "", attributes: [.init("a", "b")])),
                    try event("account", .error(failure)),
                ]
            ),
            (
                "discovery-event.json", "A line of device discover --events ndjson",
                [
                    try SchemaEncoder.schema(of: TimedDocument(FoundEvent(board))),
                    try SchemaEncoder.schema(of: TimedDocument(WarningEvent(warning))),
                ]
            ),
            (
                "monitor-event.json", "A line of device monitor --events ndjson",
                [try SchemaEncoder.schema(of: TimedDocument(MonitorEvent(event: "line")))]
            ),
            (
                "history-record.json", "A line of node history --follow --json",
                try [JSONValue.number(20.5), "open", true].map {
                    let record = SeriesRecord(time: UnixTime(seconds: 0), value: $0)
                    return try SchemaEncoder.schema(of: HistoryLine(record, node: NodeID("N1"), path: path))
                }
            ),
            (
                "bridge-event.json", "A line of bridge --json",
                try [
                    .connected, .disconnected(reason: ""), .ready(boards: 1),
                    .refused(NodeID("N1"), name: "", entity: "", ""), .ignored(topic: "", .retained),
                    .removed(NodeID("N1"), name: nil), .cloud(problem: nil),
                ].map { (event: HomeAssistantBridge.Event) in
                    var line = BridgeEvent(event)
                    // Only a board that is added has it.
                    if case .ready = event { line.entities = 1 }
                    return try SchemaEncoder.schema(of: TimedDocument(line))
                }
            ),
            (
                "watch-event.json", "A line of node watch --json",
                try [NodeChange.Kind.connected(true), .value(path, 1, previous: nil)].map { kind in
                    let change = NodeChange(node: NodeID("N1"), name: nil, kind: kind)
                    return try SchemaEncoder.schema(of: TimedDocument(change))
                }
                    + [NodeAlert.Content.text(""), .values(["Light": ["Power": true]])].map { content in
                        let alert = NodeAlert(node: NodeID("N1"), content: content)
                        return try SchemaEncoder.schema(of: TimedDocument(alert))
                    }
            ),
        ].map { file, title, kinds in (file, title, kinds.dropFirst().reduce(kinds[0]) { $0.merged(with: $1) }) }
    }

    /// The schemas of the lines of `rainctl serve`. It writes them around documents that are text already, so no type describes them.
    private static var ofRPC: [(file: String, title: String, schema: JSONSchema)] {
        let version = JSONSchema.Member(name: "jsonrpc", schema: .string, isRequired: true)
        let id = JSONSchema.oneOf([.string, .number, .null])
        let empty = JSONSchema.object([])
        let page = JSONSchema.object([
            .init(name: "url", schema: .string, isRequired: true),
            .init(name: "user_code", schema: .string, isRequired: false),
            .init(name: "complete_url", schema: .string, isRequired: false),
        ])
        let error = JSONSchema.object([
            .init(name: "code", schema: .integer, isRequired: true),
            .init(name: "message", schema: .string, isRequired: true),
            .init(name: "data", schema: empty, isRequired: true),
        ])
        let params = JSONSchema.object([
            .init(name: "id", schema: id, isRequired: true), .init(name: "event", schema: empty, isRequired: false),
            .init(name: "message", schema: .string, isRequired: false),
            .init(name: "page", schema: page, isRequired: false),
        ])
        return [
            (
                "rpc-request.json", "A request to rainctl serve",
                .object([
                    version, .init(name: "id", schema: id, isRequired: false),
                    .init(name: "method", schema: .string, isRequired: true),
                    .init(name: "params", schema: empty, isRequired: false),
                ])
            ),
            (
                "rpc-response.json", "An answer of rainctl serve: it has a result or an error",
                .object([
                    version, .init(name: "id", schema: id, isRequired: true),
                    .init(name: "result", schema: empty, isRequired: false),
                    .init(name: "error", schema: error, isRequired: false),
                ])
            ),
            (
                "rpc-notification.json", "A notification of rainctl serve: event, note or sign_in_page",
                .object([
                    version, .init(name: "method", schema: .string, isRequired: true),
                    .init(name: "params", schema: params, isRequired: true),
                ])
            ),
        ]
    }

    private static func event(_ step: String?, _ details: EventDocument.Details) throws -> JSONSchema {
        try SchemaEncoder.schema(
            of: EventDocument(
                time: "", run: "", device: "", step: step, state: "", elapsed: .zero, nodeID: step.map { NodeID($0) },
                details))
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

    /// `NodeListResult` is `node-list`.
    static func stem(_ type: String) -> String {
        let stem = type.hasSuffix("Result") ? String(type.dropLast("Result".count)) : type
        return stem.snakeCased.replacing("_", with: "-")
    }

    private static func fileName(_ type: String) -> String { stem(type) + ".json" }

    private static func title(_ type: String) -> String {
        "What rainctl prints with --json: \(stem(type).replacing("-", with: " "))"
    }
}
