// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainIO
import RainJSON
import RainKit
import Synchronization
import TestSupport
import Testing

@testable import rainctl

@Suite("The lines of rainctl mcp")
struct MCPSessionTests {
    /// A session whose output is kept. Its tools reach no cloud.
    private final class Bench: Sendable {
        let dispatcher: Dispatcher

        init(_ settings: MCPSettings = MCPSettings(), limit: Int = 16) {
            let resources = ServedResources(
                environment: ["HOME": "/nonexistent"], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let lines = Lines()
            let session = MCPSession(
                service: CommandService(resources: resources, defaults: []), settings: settings,
                send: { lines.take($0) })
            dispatcher = session.dispatcher(RunLimit(limit))
            self.lines = lines
        }

        final class Lines: Sendable {
            private let all = Mutex<[String]>([])
            func take(_ line: String) { all.withLock { $0.append(line) } }
            var texts: [String] { all.withLock { $0 } }
        }

        private let lines: Lines
        var texts: [String] { lines.texts }
        var messages: [JSONValue] { texts.map { (try? JSONValue(parsing: Array($0.utf8))) ?? .null } }

        func send(_ lines: String...) { for line in lines { dispatcher.take(Array((line + "\n").utf8)) } }

        func answer(to id: JSONValue) async -> JSONValue? {
            await dispatcher.drained()
            return messages.last { $0["id"] == id }
        }
    }

    private static let initialize =
        #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#
    private static let initialized = #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#

    private static func call(_ id: String, _ tool: String, _ arguments: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }

    /// A whole session. Its answers come in any order.
    private static let example = Array(
        ([
            initialize, initialized, #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#, call("2", "login_instructions"),
            call("3", "no_such_tool"), call("4", "set_params", #"{"node_id":"é","params_dict":{}}"#), "junk",
            #"{"jsonrpc":"2.0","id":5,"method":"resources/list"}"#,
        ].joined(separator: "\n") + "\r\n").utf8)

    @Test("the answers of a session are the same however its bytes are split")
    func splits() async {
        let whole = Bench()
        whole.dispatcher.take(Self.example)
        await whole.dispatcher.drained()
        let expected = whole.texts.sorted()
        #expect(expected.count == 7)
        for split in 0...Self.example.count {
            let bench = Bench()
            bench.dispatcher.take(Self.example[..<split])
            bench.dispatcher.take(Self.example[split...])
            await bench.dispatcher.drained()
            #expect(bench.texts.sorted() == expected, "split at \(split)")
        }
        let slow = Bench()
        for byte in Self.example { slow.dispatcher.take([byte]) }
        await slow.dispatcher.drained()
        #expect(slow.texts.sorted() == expected)
    }

    @Test("a session that is cut off has the answers of its whole lines, and one for the last")
    func truncations() async {
        let whole = Bench()
        whole.dispatcher.take(Self.example)
        await whole.dispatcher.drained()
        let expected = Set(whole.texts)
        for length in 0...Self.example.count {
            let bench = Bench()
            bench.dispatcher.take(Self.example[..<length])
            bench.dispatcher.endInput()
            await bench.dispatcher.drained()
            let lines = Self.example[..<length].split(separator: 0x0A).count
            // Each whole line has an answer, except for the notification.
            let whole = Self.example[..<length].count { $0 == 0x0A }
            #expect(bench.texts.count <= lines && bench.texts.count >= whole - 1, "\(length)")
            // Half a line is not JSON, and its error is different.
            let odd = bench.texts.filter { !expected.contains($0) }
            #expect(odd.count <= 1 && odd.allSatisfy { $0.contains("-32700") }, "\(length): \(odd)")
        }
    }

    @Test("junk, deep nesting and a line of 10 MB are errors, and the next line is read")
    func junk() async throws {
        let bench = Bench()
        bench.send(Self.initialize)
        bench.dispatcher.take([0xFF, 0xFE, 0x00, 0x0A])
        bench.send(String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 50_000))
        bench.send("[\(Self.initialize)]", "[]", "1", "\"x\"", "{}", "null")
        let long = #"{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":""#
        bench.dispatcher.take(Array(long.utf8))
        for _ in 0..<160 { bench.dispatcher.take([UInt8](repeating: UInt8(ascii: "x"), count: 65_536)) }
        bench.send(#""}}"#, #"{"jsonrpc":"2.0","id":10,"method":"ping"}"#)
        #expect(await bench.answer(to: 10)?["result"] == [:])
        let codes = bench.messages.compactMap { $0["error"]?["code"]?.integer }
        #expect(codes == [-32700, -32700, -32700, -32600, -32600, -32600, -32600, -32600, -32600, -32600])
        #expect(bench.texts.filter { $0.contains("line_too_long") }.count == 1)
        #expect(bench.messages.allSatisfy { $0["jsonrpc"] == "2.0" })
    }

    @Test("before initialize, only ping is answered; initialize is done once")
    func order() async throws {
        let bench = Bench()
        bench.send(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, Self.call("2", "login_instructions"))
        bench.send(
            #"{"jsonrpc":"2.0","id":3,"method":"ping"}"#, #"{"jsonrpc":"2.0","id":4,"method":"server/discover"}"#)
        bench.send(#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{}}"#)
        for id in [1, 2] as [JSONValue] {
            #expect(await bench.answer(to: id)?["error"]?["data"]?["error"]?["reason"] == "not_initialized")
        }
        #expect(await bench.answer(to: 3)?["result"] == [:])
        #expect(await bench.answer(to: 4)?["error"]?["code"] == -32601)
        #expect(await bench.answer(to: 5)?["error"]?["code"] == -32602)
        bench.send(Self.initialize)
        let result = try #require(await bench.answer(to: 0)?["result"])
        #expect(result["protocolVersion"] == "2025-06-18" && result["capabilities"] == ["tools": [:]])
        #expect(result["serverInfo"]?["version"]?.string == RainKitVersion.current)
        bench.send(Self.initialize, #"{"jsonrpc":"2.0","id":null,"method":"ping"}"#)
        #expect(await bench.answer(to: 0)?["error"]?["code"] == -32600)
        #expect(await bench.answer(to: .null)?["error"]?["code"] == -32600)
        let count = bench.texts.count
        // Answers, unknown notifications, and requests without an id.
        bench.send(#"{"jsonrpc":"2.0","id":7,"result":{}}"#, #"{"jsonrpc":"2.0","method":"notifications/other"}"#)
        bench.send(#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"login_instructions"}}"#)
        bench.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#)
        await bench.dispatcher.drained()
        #expect(bench.texts.count == count)
        bench.send(#"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"x"}}"#)
        #expect(await bench.answer(to: 8)?["error"]?["code"] == -32602)
    }

    @Test(
        "the version is the client's if this server has it, else the nearest",
        arguments: [
            ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2025-03-26", "2024-11-05"),
            ("2025-11-25", "2025-06-18"), ("2026-07-28", "2025-06-18"), ("", "2024-11-05"),
        ])
    func version(of pair: (String, String)) { #expect(MCPSession.version(for: pair.0) == pair.1) }

    @Test(
        "the failure of a tool is a result with the document of rainctl's error; a wrong call is an error of JSON-RPC")
    func failures() async throws {
        let bench = Bench()
        bench.send(Self.initialize, Self.call("1", "get_nodes"), Self.call("2", "get_params"), Self.call("3", "x"))
        bench.send(Self.call("4", "remove_node", #"{"node_id":"n1"}"#), Self.call("5", "get_nodes", "[]"))
        bench.send(#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{}}"#)
        for (id, reason) in [(1, "not_signed_in"), (2, "bad_params"), (4, "tool_not_allowed")] as [(JSONValue, String)]
        {
            let result = try #require(await bench.answer(to: id)?["result"])
            #expect(result["isError"] == true && result["structuredContent"] == nil)
            let text = try #require(result["content"]?.array?.first?["text"]?.string)
            let document = try JSONValue(parsing: Array(text.utf8))
            #expect(document["error"]?["reason"]?.string == reason, "\(text)")
            #expect(document["error"]?["exit"]?.integer != nil && document["schema_version"] == 1)
        }
        for id in [3, 5, 6] as [JSONValue] { #expect(await bench.answer(to: id)?["error"]?["code"] == -32602) }
    }

    @Test("the permission for a call is checked before its arguments")
    func refusedFirst() async throws {
        let bench = Bench()
        bench.send(Self.initialize, Self.call("1", "set_params", #"{"planted":1}"#), Self.call("2", "remove_node"))
        bench.send(Self.call("3", "set_schedule", #"{"operation":"remove","operation":7}"#))
        for id in [1, 2, 3] as [JSONValue] {
            let text = try #require(await bench.answer(to: id)?["result"]?["content"]?.array?.first?["text"]?.string)
            #expect(text.contains("tool_not_allowed"), "\(text)")
        }
    }

    @Test("no message of a failing call has an option or a method of rainctl, whatever its arguments are")
    func plainMessages() async throws {
        let settings = MCPSettings(
            allowsChanges: true, allowed: Set(MCPTool.all.map(\.name)), ssid: "Home", passphraseFile: "/nonexistent")
        let bench = Bench(settings)
        bench.send(Self.initialize)
        let odd: [JSONValue] = [
            "", "yesterday", "-1", "a,b", "../x", 3, true, [:], ["Light": ["Power": 1]], ["a", ""],
        ]
        var number: Int64 = 0
        for tool in MCPTool.all where !["discover_boards", "provision_board"].contains(tool.name) {
            var calls: [JSONValue] = [[:]]
            for argument in tool.arguments {
                for value in odd {
                    let others = tool.arguments.filter { $0.isRequired && $0.name != argument.name }.map { other in
                        JSONValue.Member(other.name, Self.usual(other))
                    }
                    calls.append(.object(others + [.init(argument.name, value)]))
                }
            }
            for arguments in calls {
                number += 1
                bench.send(Self.call("\(number)", tool.name, RPCText.json(arguments)))
                let result = try #require(await bench.answer(to: .integer(number))?["result"])
                let text = try #require(result["content"]?.array?.first?["text"]?.string)
                guard result["isError"] == true else { continue }
                let message = try #require(try JSONValue(parsing: Array(text.utf8))["error"]?["message"]?.string)
                for match in message.matches(of: /--([a-z][a-z-]*)/) {
                    #expect(MCPWording.startOptions.contains(String(match.output.1)), "\(tool.name): \(message)")
                }
                #expect(!ServedMethod.commandNames.contains { $0.contains(".") && message.contains($0) }, "\(message)")
            }
        }
        #expect(number > 300)
    }

    /// A value that an argument takes.
    private static func usual(_ argument: MCPTool.Argument) -> JSONValue {
        if let value = argument.values?.first { return .string(value) }
        return switch argument.kind {
        case .string: "x"
        case .boolean: true
        case .object: ["Light": ["Power": true]]
        case .strings: ["Light.Power"]
        case .integer(let range): .integer(range.lowerBound)
        }
    }

    @Test("mutated lines get answers that are JSON, and no request is left behind")
    func mutated() async throws {
        try await withOwnProcessInSoak {
            let examples = [Self.initialize, Self.call("1", "login_instructions"), Self.initialized, "[]"]
                .map { Array($0.utf8) }
            let bench = Bench()
            let report = await fuzz("mcp", from: examples, seed: 82) { input in
                bench.dispatcher.take(input + [0x0A])
                await bench.dispatcher.drained()
            }
            #expect(report.failures == [], "\(report.complaint)")
            #expect(bench.messages.allSatisfy { $0["jsonrpc"] == "2.0" })
        }
    }
}
