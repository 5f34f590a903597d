// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainJSON
import RainKit
import Synchronization
import TestSupport
import Testing

@testable import rainctl

@Suite("The requests of rainctl serve")
struct DispatcherTests {
    /// A client, and commands that wait until the test lets them go on.
    private final class Bench: Sendable {
        private let sent = Mutex<[JSONValue]>([])
        private let gates = Mutex<[String: Waiter<Void>]>([:])
        let limit: RunLimit
        private let holder = Mutex<Dispatcher?>(nil)
        var dispatcher: Dispatcher { holder.withLock { $0! } }

        init(limit: Int = 8, rules: RPCRules = .ofServe) {
            self.limit = RunLimit(limit)
            let dispatcher = Dispatcher(
                limit: self.limit, rules: rules, isEndless: { $0.method == "endless" },
                work: { [weak self] call, notify in await self?.work(call, notify) ?? .success("{}") },
                send: { [weak self] line in self?.take(line) })
            holder.withLock { $0 = dispatcher }
        }

        private func take(_ line: String) {
            #expect(!line.contains("\n"))
            let value = try? JSONValue(parsing: Array(line.utf8))
            #expect(value != nil, "\(line)")
            sent.withLock { $0.append(value ?? .null) }
        }

        private func gate(_ name: String) -> Waiter<Void> {
            gates.withLock { gates in
                if let gate = gates[name] { return gate }
                let gate = Waiter<Void>()
                gates[name] = gate
                return gate
            }
        }

        func open(_ name: String) { gate(name).resume() }

        private func work(
            _ call: RPCCall, _ notify: @Sendable (ServedRequest.Notice) -> Void
        ) async -> Result<String, RPCError> {
            switch call.method {
            case "hold", "endless":
                notify(.event("{\"state\":\"started\"}"))
                let gate = gate(call.id?.text ?? "")
                await gate.value { gate.resume() }
                guard !Task.isCancelled else {
                    return .failure(RPCError(CommandFailure(.cancelled, message: "Cancelled.")))
                }
            case "fail": return .failure(RPCError(CommandFailure(.temporary, message: "Not now.")))
            default: break
            }
            return .success("{\"method\":\(RPCText.json(.string(call.method)))}")
        }

        func send(_ lines: String...) { for line in lines { dispatcher.take(Array((line + "\n").utf8)) } }

        func call(_ method: String, _ id: String, _ params: String = "{}") {
            send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
        }

        var lines: [JSONValue] { sent.withLock { $0 } }
        /// Waits for a line.
        func line(_ isMeant: (JSONValue) -> Bool) async throws -> JSONValue {
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                if let line = lines.first(where: isMeant) { return line }
                try await Task.sleep(for: .milliseconds(1))
            }
            throw ProcessError("no such line: \(lines)")
        }

        func answer(to id: JSONValue) async throws -> JSONValue { try await line { $0["id"] == id } }
    }

    @Test("requests run at the same time, and each answer has its id")
    func concurrent() async throws {
        let bench = Bench()
        for id in 1...4 { bench.call("hold", "\(id)") }
        bench.call("quick", "\"q\"")
        #expect(try await bench.answer(to: "q")["result"]?["method"] == "quick")
        #expect(bench.lines.allSatisfy { $0["result"] == nil || $0["id"] == "q" })
        for id in [3, 1, 4, 2] { bench.open("\(id)") }
        await bench.dispatcher.drained()
        for id in 1...4 { #expect(try await bench.answer(to: .integer(Int64(id)))["result"]?["method"] == "hold") }
        // The event of a request comes before its answer.
        let ofThird = bench.lines.filter { $0["params"]?["id"] == 3 || $0["id"] == 3 }
        #expect(
            ofThird.count == 2 && ofThird[0]["method"] == "event"
                && ofThird[0]["params"]?["event"]?["state"] == "started")
    }

    @Test("more requests than the limit are an error, until one has ended")
    func bound() async throws {
        let bench = Bench(limit: 2)
        bench.call("hold", "1")
        bench.call("hold", "2")
        bench.call("hold", "3")
        let refused = try await bench.answer(to: 3)
        #expect(refused["error"]?["code"] == 75)
        #expect(refused["error"]?["data"]?["error"]?["reason"] == "too_many_requests")
        bench.open("1")
        _ = try await bench.answer(to: 1)
        bench.call("quick", "3")
        _ = try await bench.line { $0["id"] == 3 && $0["result"] != nil }
        bench.open("2")
        await bench.dispatcher.drained()
        #expect(bench.limit.enter())
    }

    @Test("cancel ends a running request with an error, and reports whether there was one")
    func cancel() async throws {
        let bench = Bench()
        bench.call("hold", "\"a\"")
        bench.call("hold", "7")
        bench.call("cancel", "1", #"{"id":"a"}"#)
        #expect(try await bench.answer(to: 1)["result"]?["cancelled"] == true)
        #expect(try await bench.answer(to: "a")["error"]?["data"]?["error"]?["code"] == "cancelled")
        bench.call("cancel", "2", #"{"id":"a"}"#)
        #expect(try await bench.answer(to: 2)["result"]?["cancelled"] == false)
        for (id, params) in [("3", "{}"), ("4", #"{"id":[]}"#), ("5", #"{"id":7,"x":1}"#), ("6", #"{"id":null}"#)] {
            bench.call("cancel", id, params)
            let answer = try await bench.answer(to: JSONValue(parsing: Array(id.utf8)))
            #expect(answer["error"]?["code"] == -32602, "\(params)")
        }
        bench.open("7")
        await bench.dispatcher.drained()
        #expect(try await bench.answer(to: 7)["result"] != nil)
    }

    @Test("an id is used once at a time; null and a missing id name no request")
    func identifiers() async throws {
        let bench = Bench()
        bench.call("hold", "1")
        bench.call("quick", "1")
        let refused = try await bench.line { $0["error"] != nil }
        #expect(refused["error"]?["data"]?["error"]?["reason"] == "id_in_use")
        bench.call("quick", "null")
        bench.call("quick", "null")
        _ = try await bench.line { $0["id"] == JSONValue.null && $0["result"] != nil }
        // A notification gets no answer, not even an error.
        bench.send(#"{"jsonrpc":"2.0","method":"quick"}"#, #"{"jsonrpc":"2.0","method":"fail"}"#)
        bench.send(#"{"jsonrpc":"2.0","method":"cancel","params":{"id":1}}"#)
        await bench.dispatcher.drained()
        #expect(bench.lines.count { $0["id"] == JSONValue.null } == 2)
        #expect(bench.lines.count { $0["method"] == nil } == 4, "\(bench.lines)")
    }

    @Test("the answers of a batch are one array, without those of notifications")
    func batch() async throws {
        let bench = Bench()
        bench.send(
            #"[{"jsonrpc":"2.0","id":1,"method":"quick"},{"jsonrpc":"2.0","method":"quick"},1,{"jsonrpc":"2.0","id":2,"method":"fail"}]"#
        )
        let answers = try await bench.line { $0.array != nil }.array ?? []
        #expect(answers.count == 3)
        #expect(answers.contains { $0["id"] == 1 && $0["result"] != nil })
        #expect(answers.contains { $0["id"] == 2 && $0["error"]?["code"] == 75 })
        #expect(answers.contains { $0["id"] == JSONValue.null && $0["error"]?["code"] == -32600 })
        bench.send(#"[{"jsonrpc":"2.0","method":"quick"}]"#, "[]")
        #expect(try await bench.line { $0["error"] != nil }["error"]?["code"] == -32600)
        await bench.dispatcher.drained()
        #expect(bench.lines.count == 2)
    }

    @Test("a batch of too many requests is refused as a whole, so that its answers cannot fill the memory")
    func longBatch() async throws {
        let bench = Bench()
        let request = #"{"jsonrpc":"2.0","id":1,"method":"quick"}"#
        bench.send("[\(Array(repeating: request, count: Dispatcher.maximumBatch + 1).joined(separator: ","))]")
        await bench.dispatcher.drained()
        #expect(bench.lines.map { $0["error"]?["code"] } == [-32600])
        bench.send("[\(Array(repeating: "1", count: Dispatcher.maximumBatch).joined(separator: ","))]")
        #expect(bench.lines.last?.array?.count == Dispatcher.maximumBatch)
    }

    @Test("a line that is not JSON, or too long, is an error, and the next one is read")
    func badLines() async throws {
        let bench = Bench()
        bench.send("{", "\u{FEFF}{}", String(repeating: "x", count: Dispatcher.maximumLine + 2))
        bench.send(#"{"jsonrpc":"2.0","id":1,"method":"quick"}"#)
        _ = try await bench.answer(to: 1)
        let codes = bench.lines.compactMap { $0["error"]?["code"] }
        #expect(codes == [-32700, -32700, -32600])
        #expect(bench.lines.compactMap { $0["error"]?["data"]?["error"]?["reason"]?.string }.last == "line_too_long")
    }

    @Test("at the end of the input, requests without an end are cancelled and the others finish")
    func endOfInput() async throws {
        let bench = Bench()
        bench.call("endless", "1")
        bench.call("hold", "2")
        bench.dispatcher.take(Array(#"{"jsonrpc":"2.0","id":3,"method":"quick"}"#.utf8))
        bench.dispatcher.endInput()
        #expect(try await bench.answer(to: 1)["error"]?["code"] == 130)
        bench.open("2")
        await bench.dispatcher.drained()
        #expect(try await bench.answer(to: 2)["result"] != nil)
        #expect(try await bench.answer(to: 3)["result"] != nil)
        bench.call("quick", "4")
        #expect(try await bench.answer(to: 4)["error"]?["code"] == 130)
    }

    /// As of the Model Context Protocol.
    private static let rulesForModels = RPCRules(isForModels: true) { call in
        guard call.id == nil else { return .run }
        guard call.method == "notifications/cancelled",
            let id = call.params.first(where: { $0.name == "requestId" }).flatMap({ RPCID($0.value) })
        else { return .ignore }
        return .cancel(id)
    }

    @Test("for models, a cancelled request gets no answer, and its id is free again")
    func withdrawn() async throws {
        let bench = Bench(rules: Self.rulesForModels)
        bench.call("hold", "1")
        bench.call("hold", "2")
        _ = try await bench.line { $0["params"]?["id"] == 1 }
        bench.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}"#)
        bench.open("2")
        await bench.dispatcher.drained()
        #expect(try await bench.answer(to: 2)["result"] != nil)
        #expect(!bench.lines.contains { $0["id"] == 1 })
        bench.call("quick", "1")
        #expect(try await bench.answer(to: 1)["result"] != nil)
    }

    @Test(
        "for models, batches are refused, answers and unknown notifications are ignored, and numbers are those of JSON-RPC"
    )
    func forModels() async throws {
        let bench = Bench(limit: 1, rules: Self.rulesForModels)
        bench.send("[]", #"[{"jsonrpc":"2.0","id":1,"method":"quick"}]"#)
        bench.send(#"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#)
        bench.send(#"{"jsonrpc":"2.0","method":"quick"}"#, #"{"jsonrpc":"2.0","method":"notifications/x"}"#)
        #expect(bench.lines.map { $0["error"]?["code"] } == [-32600, -32600])
        bench.call("hold", "2")
        bench.call("quick", "3")
        let refused = try await bench.answer(to: 3)
        #expect(refused["error"]?["code"] == -32000)
        #expect(refused["error"]?["data"]?["error"]?["reason"] == "too_many_requests")
        bench.dispatcher.cancelAll()
        #expect(try await bench.answer(to: 2)["error"]?["code"] == -32000, "the server has ended it, not the client")
        await bench.dispatcher.drained()
    }

    @Test("mutated lines get answers that are JSON, and no request is left behind")
    func mutated() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                #"{"jsonrpc":"2.0","id":1,"method":"quick","params":{"a":[1,2.5,null,true,"x"]}}"#,
                #"[{"jsonrpc":"2.0","id":"b","method":"fail"},{"jsonrpc":"2.0","method":"quick"}]"#,
                #"{"jsonrpc":"2.0","id":3,"method":"cancel","params":{"id":1}}"#, "[]", "\r\n",
            ].map { Array($0.utf8) }
            let bench = Bench()
            let report = await fuzz("requests", from: examples, seed: 81) { input in
                bench.dispatcher.take(input + [0x0A])
                await bench.dispatcher.drained()
            }
            #expect(report.failures == [], "\(report.complaint)")
            #expect(bench.lines.count > fuzzRounds / 4)
            #expect(bench.lines.flatMap { $0.array ?? [$0] }.allSatisfy { $0["jsonrpc"] == "2.0" })
        }
    }
}
