// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit

/// A tool of `rainctl mcp`: its description for the client's model, and its work.
///
/// Nothing of the description depends on boards, accounts or options, so no text of another user gets into it.
struct MCPTool: Sendable {
    enum Access: Sendable {
        /// Changes nothing.
        case reads
        /// Needs `--allow-changes`, or `--allow` with the tool's name.
        case changes
        /// Provisions or deletes: needs `--allow` with the tool's name.
        case named
    }

    let name: String
    let title: String
    let description: String
    let access: Access
    /// Whether it may replace or remove something. Otherwise it only adds.
    let isDestructive: Bool
    /// Whether a second call with the same arguments changes nothing more.
    let isIdempotent: Bool
    let arguments: [Argument]
    /// The name of the result's schema in docs/schema; nil for a tool that returns a text.
    let schema: String?
    let work: @Sendable (MCPCall) async throws -> JSONValue

    init(
        _ name: String, _ title: String, _ description: String, _ arguments: [Argument] = [], access: Access = .reads,
        isDestructive: Bool = false, isIdempotent: Bool = false, schema: String?,
        _ work: @escaping @Sendable (MCPCall) async throws -> JSONValue
    ) {
        self.name = name
        self.title = title
        self.access = access
        self.isDestructive = isDestructive
        self.isIdempotent = isIdempotent
        self.description = description
        self.arguments = arguments
        self.schema = schema
        self.work = work
    }

    struct Argument: Sendable {
        enum Kind: Sendable {
            case string, boolean, object, strings
            case integer(ClosedRange<Int64>)
        }

        let name: String
        var kind = Kind.string
        var isRequired = false
        /// The only values of a string, if they are known.
        var values: [String]?
        let help: String
    }

    static let all: [MCPTool] = accountTools + nodeTools + entryTools + groupTools + boardTools

    static func named(_ name: String) -> MCPTool? { all.first { $0.name == name } }
}

// MARK: Its description

extension MCPTool {
    /// The entry of `tools/list`.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(name)), .init("title", .string(title)), .init("description", .string(description)),
            .init("inputSchema", inputSchema),
        ]
        if let schema, let output = MCPSchemas.schema(schema) { members.append(.init("outputSchema", output)) }
        members.append(.init("annotations", annotations))
        return .object(members)
    }

    private var annotations: JSONValue {
        [
            "title": .string(title), "readOnlyHint": .bool(access == .reads), "destructiveHint": .bool(isDestructive),
            "idempotentHint": .bool(access == .reads || isIdempotent), "openWorldHint": .bool(schema != nil),
        ]
    }

    private var inputSchema: JSONValue {
        let required = arguments.filter(\.isRequired).map { JSONValue.string($0.name) }
        var members: [JSONValue.Member] = [
            .init("type", "object"), .init("properties", .object(arguments.map { .init($0.name, $0.json) })),
        ]
        // Older drafts of JSON Schema do not allow an empty list.
        if !required.isEmpty { members.append(.init("required", .array(required))) }
        return .object(members + [.init("additionalProperties", false)])
    }
}

extension MCPTool.Argument {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        switch kind {
        case .string: members = [.init("type", "string")]
        case .boolean: members = [.init("type", "boolean")]
        case .object: members = [.init("type", "object")]
        case .strings: members = [.init("type", "array"), .init("items", ["type": "string"])]
        case .integer(let range):
            members = [
                .init("type", "integer"), .init("minimum", .integer(range.lowerBound)),
                .init("maximum", .integer(range.upperBound)),
            ]
        }
        if let values { members.append(.init("enum", .array(values.map { .string($0) }))) }
        return .object(members + [.init("description", .string(help))])
    }
}

// MARK: A call

extension MCPTool {
    /// Checks the arguments of a call. A member that is `null` counts as absent.
    ///
    /// - Throws: `bad_params` for an argument that the tool does not have, for a missing one, and for a value of another type. Values are not
    ///   repeated in messages.
    func checked(_ given: [JSONValue.Member]) throws(CommandFailure) -> [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        for member in given {
            guard let argument = arguments.first(where: { $0.name == member.name }) else {
                let known = arguments.map(\.name).joined(separator: ", ")
                throw failure(
                    "has no argument \"\(member.name.onOneLine)\". \(known.isEmpty ? "It takes no arguments." : "Its arguments: \(known).")"
                )
            }
            guard let value = member.value.unlessNull else {
                values[member.name] = nil
                continue
            }
            guard argument.takes(value) else { throw failure(": \(member.name) must be \(argument.expectation).") }
            values[member.name] = value
        }
        if let missing = arguments.first(where: { $0.isRequired && values[$0.name] == nil }) {
            throw failure(" needs the argument \(missing.name): \(missing.help)")
        }
        return values
    }

    func failure(_ end: String) -> CommandFailure {
        CommandFailure(
            .usage, reason: "bad_params", message: name + (end.hasPrefix(":") ? "" : " ") + end.withoutOuterBlanks)
    }
}

extension MCPTool.Argument {
    /// The maximum length of a string in bytes.
    private static let maximumBytes = 16_384

    fileprivate func takes(_ value: JSONValue) -> Bool {
        switch (kind, value) {
        case (.string, .string(let text)):
            text.utf8.count <= Self.maximumBytes && !text.utf8.contains(0) && values?.contains(text) != false
        case (.boolean, .bool), (.object, .object): true
        case (.integer(let range), .integer(let number)): range.contains(number)
        case (.strings, .array(let elements)):
            elements.count <= 1000
                && elements.allSatisfy {
                    guard let text = $0.string else { return false }
                    return text.utf8.count <= Self.maximumBytes && !text.utf8.contains(0)
                }
        default: false
        }
    }

    fileprivate var expectation: String {
        if let values { return "one of \(values.joined(separator: ", "))" }
        return switch kind {
        case .string: "a string of at most \(Self.maximumBytes) bytes"
        case .boolean: "true or false"
        case .object: "an object"
        case .strings: "an array of strings"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        }
    }
}

/// One call of a tool.
struct MCPCall: Sendable {
    let tool: MCPTool
    let arguments: [String: JSONValue]
    let settings: MCPSettings
    let service: CommandService
    let notify: @Sendable (ServedRequest.Notice) -> Void

    subscript(name: String) -> JSONValue? { arguments[name] }

    func text(_ name: String) -> String? { arguments[name]?.string }
    func isOn(_ name: String) -> Bool { arguments[name]?.bool == true }

    /// The parts of a list such as `name,status`; nil if the argument is absent.
    func list(_ name: String) -> [String]? {
        if let elements = arguments[name]?.array { return elements.compactMap(\.string) }
        return text(name)?.split(separator: ",").map { String($0).withoutOuterBlanks }
    }

    func failure(_ end: String) -> CommandFailure { tool.failure(end) }

    /// Runs a command, and returns its document. A member that is nil is left out.
    /// - Parameter files: the contents of files, by the command's options.
    func command(
        _ method: String, _ params: KeyValuePairs<String, JSONValue?>, files: [String: String] = [:]
    ) async throws -> JSONValue {
        let given = params.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
        let outcome = await service.run(method, given, files: files.mapValues { Secret($0) }, notify)
        return try JSONValue(parsing: Array(try outcome.get().utf8))
    }

    /// Asks the cloud as the user, and returns the document of the result.
    func ask(
        within limit: Duration = .seconds(60),
        _ question: @escaping @Sendable (CloudScene) async throws -> any CommandResult
    ) async throws -> JSONValue {
        try JSONValue(parsing: Array(try await service.ask(within: limit, notify, question).get().utf8))
    }
}
