// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Logging
import RainCore
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("The tools of rainctl mcp")
struct MCPToolTests {
    /// The tools of Espressif's server 0.2.0, and their arguments. A question mark is behind the name of one that may be absent.
    private static let espressif: [String: [String]] = [
        "login_instructions": [], "check_login_status": [], "get_nodes": [], "get_node_status": ["node_id"],
        "get_params": ["node_id"], "set_params": ["node_id", "params_dict"],
        "get_node_details": ["node_id?", "fields?", "name?", "type_?"], "get_schedules": ["node_id"],
        "set_schedule": [
            "node_id", "operation", "schedule_id?", "name?", "trigger?", "action?", "info?", "flags?",
        ],
        "create_group": [
            "name", "group_type?", "description?", "mutually_exclusive?", "parent_group_id?", "nodes?", "custom_data?",
        ],
        "add_device_to_room": ["device_node_id", "room_group_id"],
        "update_group": ["group_id", "name?", "description?", "custom_data?", "add_nodes?", "remove_nodes?"],
        "get_group_details": ["group_id?", "include_nodes?", "fields?", "node_fields?"],
    ]

    @Test("each tool of Espressif's server is here, with its arguments")
    func names() throws {
        for (name, arguments) in Self.espressif {
            let tool = try #require(MCPTool.named(name), "\(name)")
            for argument in arguments {
                let isOptional = argument.hasSuffix("?")
                let own = tool.arguments.first { $0.name == (isOptional ? String(argument.dropLast()) : argument) }
                #expect(own?.isRequired == !isOptional, "\(name): \(argument)")
            }
            // More arguments are optional.
            let needed = Set(tool.arguments.filter(\.isRequired).map(\.name))
            #expect(needed.isSubset(of: arguments), "\(name)")
        }
        #expect(Set(MCPTool.all.map(\.name)).count == MCPTool.all.count)
    }

    @Test("the embedded schemas are those of docs/schema, and each tool has one but login_instructions")
    func schemas() throws {
        var text = """
            // SPDX-License-Identifier: Apache-2.0
            import RainJSON

            /// The schemas of docs/schema that tools have as output schemas. Nobody edits this file: with `RAINKIT_RECORD=1`, `MCPToolTests`
            /// writes it.
            enum MCPSchemas {
                /// Returns a schema, without its title; nil for a name that no tool has.
                static func schema(_ name: String) -> JSONValue? { all[name] }

                private static let all: [String: JSONValue] = texts.mapValues {
                    guard let schema = try? JSONValue(parsing: Array($0.utf8)) else { preconditionFailure("not JSON: \\($0)") }
                    return schema
                }

                private static let texts: [String: String] = [

            """
        for name in Set(MCPTool.all.compactMap(\.schema)).sorted() {
            let schema = try JSONValue(parsing: Array(readFile(Repository.path("docs/schema/\(name).json")).utf8))
            #expect(schema["type"] == "object")
            // A schema is complete in itself.
            #expect(!"\(schema)".contains("$ref"), "\(name)")
            let own = JSONValue.object((schema.members ?? []).filter { $0.name != "title" })
            if !RecordedOutput.isRecording { #expect(MCPSchemas.schema(name) == own, "\(name)") }
            text += "        \"\(name)\": #\"\"\"\n"
            text += Self.lines(of: String(decoding: own.serialized(), as: UTF8.self)).map { "        \($0)\n" }.joined()
            text += "        \"\"\"#,\n"
        }
        text += "    ]\n}\n"
        try RecordedOutput.expect(text, in: "Sources/rainctl/Commands/MCP/MCPSchemas.swift")
        #expect(MCPTool.all.filter { $0.schema == nil }.map(\.name) == ["login_instructions"])
    }

    /// JSON may have a line end after each comma.
    private static func lines(of json: String) -> [String] {
        var lines = [""]
        for piece in json.split(separator: ",", omittingEmptySubsequences: false) {
            let piece = piece + ","
            if let last = lines.last, !last.isEmpty, last.count + piece.count > 100 { lines.append("") }
            lines[lines.count - 1] += piece
        }
        lines[lines.count - 1].removeLast()
        return lines
    }

    @Test("the annotations are those of the tool's access, and the schema of its arguments is closed")
    func descriptions() throws {
        for tool in MCPTool.all {
            let json = tool.json
            let hints = json["annotations"]
            #expect(hints?["readOnlyHint"] == .bool(tool.access == .reads), "\(tool.name)")
            #expect(tool.access != .reads || hints?["destructiveHint"] == false, "\(tool.name)")
            #expect(tool.access != .named || hints?["destructiveHint"] == true, "\(tool.name)")
            #expect(json["inputSchema"]?["type"] == "object" && json["inputSchema"]?["additionalProperties"] == false)
            #expect(json["description"]?.string?.isEmpty == false)
            let secrets = ["pass", "pop", "token", "secret", "code"]
            #expect(!tool.arguments.contains { argument in secrets.contains { argument.name.contains($0) } })
        }
    }

    @Test("docs/mcp.md names each tool and how it is allowed")
    func page() throws {
        let page = try readFile(Repository.path("docs/mcp.md"))
        for tool in MCPTool.all {
            let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(tool.name)` ") }
            let needs =
                switch tool.access {
                case .reads: "| – |"
                case .changes: "| `--allow-changes` |"
                case .named: "| `--allow \(tool.name)` |"
                }
            #expect(row?.contains(needs) == true, "\(tool.name): \(row ?? "no row")")
        }
    }

    static let refused: [(tool: String, arguments: JSONValue, words: String)] = [
        ("get_nodes", ["planted": 1], "has no argument \"planted\". It takes no arguments."),
        ("get_node_status", [:], "get_node_status needs the argument node_id"),
        ("get_node_status", ["node_id": nil], "needs the argument node_id"),
        ("get_node_status", ["node_id": 7], "get_node_status: node_id must be a string"),
        ("get_node_status", ["node_id": "a\u{0}"], "node_id must be a string"),
        ("set_params", ["node_id": "n", "params_dict": "{}"], "params_dict must be an object"),
        ("set_schedule", ["node_id": "n", "operation": "drop"], "operation must be one of add, edit"),
        ("discover_boards", ["seconds": 61], "seconds must be a whole number from 1 to 60"),
        ("discover_boards", ["seconds": 1.5], "seconds must be a whole number"),
        ("get_history", ["node_id": "n", "params": ["a", 1]], "params must be an array of strings"),
        ("get_sharing_requests", ["sent": "yes"], "sent must be true or false"),
    ]

    @Test("arguments that do not fit are refused", arguments: refused)
    func refusal(of case: (tool: String, arguments: JSONValue, words: String)) throws {
        let tool = try #require(MCPTool.named(`case`.tool))
        let failure = try #require(throws: CommandFailure.self) { try tool.checked(`case`.arguments.members ?? []) }
        #expect(failure.reason == "bad_params" && failure.message.contains(`case`.words), "\(failure.message)")
    }

    @Test("options allow all changes, or single tools; provisioning and deleting only by name")
    func access() throws {
        for tool in MCPTool.all {
            func isAllowed(_ settings: MCPSettings, _ arguments: [String: JSONValue] = [:]) -> Bool {
                do { try settings.check(tool, arguments) } catch { return false }
                return true
            }
            #expect(isAllowed(MCPSettings()) == (tool.access == .reads), "\(tool.name)")
            #expect(isAllowed(MCPSettings(allowsChanges: true)) == (tool.access != .named), "\(tool.name)")
            #expect(isAllowed(MCPSettings(allowed: [tool.name])), "\(tool.name)")
            #expect(!isAllowed(MCPSettings(allowed: ["other"])) || tool.access == .reads, "\(tool.name)")
            guard tool.arguments.contains(where: { $0.name == "operation" }) else { continue }
            #expect(!isAllowed(MCPSettings(allowsChanges: true), ["operation": "remove"]), "\(tool.name)")
            #expect(isAllowed(MCPSettings(allowed: [tool.name]), ["operation": "remove"]), "\(tool.name)")
        }
    }

    @Test("values that remove a schedule are a removal")
    func hiddenRemoval() throws {
        let tool = try #require(MCPTool.named("set_params"))
        let settings = MCPSettings(allowsChanges: true)
        let removal: JSONValue = ["Schedule": ["Schedules": [["id": "A1", "operation": "remove"]]]]
        #expect(throws: CommandFailure.self) {
            try settings.check(tool, ["node_id": "n1", "params_dict": removal])
        }
        try settings.check(tool, ["node_id": "n1", "params_dict": ["Light": ["Power": true]]])
        try settings.check(
            tool, ["node_id": "n1", "params_dict": ["Schedule": ["Schedules": [["id": "A1", "operation": "enable"]]]]])
        try MCPSettings(allowed: ["set_params"]).check(tool, ["params_dict": removal])
    }

    // MARK: Messages

    @Test("messages have the names of the tool and its arguments, for each option of each command")
    func optionNames() throws {
        #expect(MCPWording.options.contains("since") && MCPWording.options.count > 50)
        for tool in MCPTool.all {
            let wording = MCPWording(tool)
            for option in MCPWording.options where !MCPWording.startOptions.contains(option) {
                for message in [
                    "node.history: The value 'x' is invalid for '--\(option) <value>'. Give --\(option).",
                    "--\(option) and --json exclude each other.", "Nothing happened. Use --\(option)=x (--\(option)).",
                ] {
                    let own = wording.translated(message)
                    #expect(!own.contains("--\(option)") && !own.contains("--json"), "\(tool.name): \(own)")
                    #expect(!own.isEmpty && !own.contains("node.history"), "\(tool.name): \(own)")
                }
            }
            for method in ServedMethod.commandNames where method.contains(".") {
                #expect(wording.translated("\(method): wrong.") == "\(tool.name): wrong.")
            }
        }
    }

    @Test(
        "a message keeps its sense",
        arguments: [
            (
                "rename_node", "node.rename: A name must have 1 to 32 bytes.",
                "rename_node: A name must have 1 to 32 bytes."
            ),
            (
                "get_history", "node.history: The value 'yesterday' is invalid for '--since <time>'",
                "get_history: The value 'yesterday' is invalid for 'since'"
            ),
            (
                "get_history", "Missing expected argument '<node>'. See rainctl node list.",
                "Missing expected argument 'node_id'. See get_nodes."
            ),
            ("create_group", "The value of --parent is a room. Use --wait.", "The value of parent_group_id is a room."),
            ("discover_boards", "Give --timeout more time.", "Give seconds more time."),
            (
                "provision_board", "Give --ssid, or start with --allow provision_board.",
                "Give --ssid, or start with --allow provision_board."
            ),
            (
                "get_nodes", "The board is a--wait, my.node.list.x and --planted.",
                "The board is a--wait, my.node.list.x and --planted."
            ),
            (
                "get_nodes", "Nobody is signed in. Run: rainctl login USER",
                "Nobody is signed in. Run: rainctl login USER"
            ),
        ])
    func wording(tool: String, message: String, expected: String) throws {
        #expect(MCPWording(try #require(MCPTool.named(tool))).translated(message) == expected)
    }

    @Test("only sentences of rainctl are changed: names and values stay")
    func documents() throws {
        let wording = MCPWording(try #require(MCPTool.named("get_params")))
        let document: JSONValue = [
            "name": "node.rename", "params": ["message": "--since"], "warnings": [["message": "node.list: --planted."]],
            "error": ["message": "Wrong.", "reason": "bad_params"],
        ]
        #expect(
            wording.translated(document) == [
                "name": "node.rename", "params": ["message": "--since"],
                "warnings": [["message": "get_params: --planted."]],
                "error": ["message": "Wrong.", "reason": "bad_params"],
            ])
    }

    // MARK: The start

    private func starts(_ arguments: [String], _ environment: [String: String]) throws {
        let resources = ServedResources(
            environment: environment, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let request = ServedRequest(secrets: [:], server: resources, notify: { _ in })
        try Invocation.$current.withValue(Invocation(arguments: arguments, request: request)) {
            let command = try MCPCommand.parse(arguments)
            try command.check(try Context(command.options))
        }
    }

    @Test("wrong options end the server at its start; a missing sign-in does not")
    func start() async throws {
        try await withTemporaryFolder { folder in
            let environment = ["HOME": folder.path]
            let password = folder.file("password")
            try folder.write("secret-Wi-Fi", to: "password")
            try folder.write("", to: "empty")
            func failure(_ arguments: String...) -> CommandFailure? {
                do {
                    try starts(arguments, environment)
                    return nil
                } catch {
                    return CommandFailure(error)
                }
            }
            #expect(failure() == nil && failure("--account", "ada") == nil)
            #expect(failure("--ssid", "Home", "--passphrase-file", password) == nil)
            #expect(failure("--ssid", "Home", "--open") == nil)
            #expect(failure("--ssid", "Home")?.status == .usage)
            #expect(failure("--ssid", "Home", "--passphrase-file", folder.file("empty"))?.status == .usage)
            #expect(failure("--ssid", "Home", "--passphrase-file", folder.file("absent"))?.status == .badData)
            #expect(failure("--pop-file", folder.file("absent"))?.status == .badData)
            #expect(failure("--ca-file", folder.file("absent"))?.status == .config)
            #expect(failure("--profile", "absent") != nil)
            try starts(["--ssid", "Home"], environment.merging(["RAINKIT_PASSPHRASE": "secret-Wi-Fi"]) { $1 })
        }
    }

    @Test("the options that do not fit together are refused")
    func options() {
        for arguments in [
            ["--allow", "get_nodes"], ["--allow", "x"], ["--open"], ["--passphrase-file", "f"],
            ["--ssid", "Home", "--open", "--passphrase-file", "f"],
        ] {
            #expect(throws: (any Error).self, "\(arguments)") { try MCPCommand.parse(arguments) }
        }
        for arguments in [[], ["--ssid", "Home", "--open"], ["--allow", "remove_node", "--allow-changes"]] {
            #expect(throws: Never.self) { try MCPCommand.parse(arguments) }
        }
    }
}

@Suite("Texts for a language model")
struct ForeignTextTests {
    static let cases: [(String, String)] = [
        ("Kitchen lamp", "Kitchen lamp"), ("a\u{1B}[31mb\r\n\t", "a [31mb   "), ("x\u{202E}y\u{2066}z\u{200F}", "xyz"),
        ("a\u{2028}b\u{2029}c\u{85}d", "a b c d"), ("\u{E0069}\u{E0067}n\u{E007F}", "n"),
        ("\u{FEFF}\u{200B}q\u{00AD}", "q"),
        ("👩\u{200D}🔧 ❤\u{FE0F}", "👩\u{200D}🔧 ❤\u{FE0F}"), ("v\u{E0100}\u{E01EF}", "v"), ("\u{E000}", "\u{FFFD}"),
        ("مطبخ", "مطبخ"), (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
        (String(repeating: "é", count: 300), String(repeating: "é", count: 63) + "…"),
        (String(repeating: "\u{202E}", count: 300) + "x", "x"),
    ]

    @Test("a text has at most 64 characters and none that nobody sees", arguments: cases)
    func cleaned(_ pair: (String, String)) {
        #expect(Array(ForeignText.cleaned(pair.0).unicodeScalars) == Array(pair.1.unicodeScalars))
    }

    @Test("in a document, texts and names of members are cleaned, and its own sentences are not cut")
    func document() {
        let long = String(repeating: "b", count: 100)
        let cut = String(repeating: "b", count: 63) + "…"
        let second = String(repeating: "b", count: 62) + "~2"
        let document: JSONValue = [
            "schema_version": 1, "message": .string(long),
            "nodes": [["message": .string(long), "params": ["message": .string(long), "n": 1.5, "x": nil]]],
            "metadata": .object([.init(long, true), .init(long + "c", [.string(long)])]),
        ]
        let expected: JSONValue = [
            "schema_version": 1, "message": .string(long),
            "nodes": [["message": .string(long), "params": ["message": .string(cut), "n": 1.5, "x": nil]]],
            "metadata": .object([.init(cut, true), .init(second, [.string(cut)])]),
        ]
        #expect(MCPDocument.cleaned(document) == expected)
    }

    @Test("while a tool works, names in messages are short")
    func messages() {
        let name = "Lamp \u{202E}" + String(repeating: "c", count: 100)
        #expect(name.onOneLine.unicodeScalars.count > 100)
        ForeignText.$limit.withValue(ForeignText.maximumLength) {
            #expect(name.onOneLine == "Lamp " + String(repeating: "c", count: 58) + "…")
        }
    }
}
