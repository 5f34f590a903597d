// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl node command")
struct NodeCommandTests {
    @Test("a command reaches the firmware, and its answer comes back, JSON and bytes")
    func answers() async throws {
        try await OnlineBoards.with { scene in
            let json = try await scene.done(
                "node", "command", "send", "nodelight", "4096", "--data", #"{"level":3}"#, "--json")
            let entry = try #require(json.document?["nodes"]?.array?.first)
            #expect(entry["status"] == "success" && entry["response"] == ["level": 3])
            let request = try #require(json.document?["request_id"]?.string)
            let again = try await scene.done("node", "command", "result", request)
            #expect(again.standardOutput == "nodelight  {\"level\":3}\n")
            // More than one element of the message's format.
            let long = String(repeating: "00ff", count: 300)
            let bytes = try await scene.done("node", "command", "send", "nodelight", "0x1000", "--hex", long, "--json")
            let text = try #require(bytes.document?["nodes"]?.array?.first?["response"]?.string)
            #expect(text.count == 800 && text.hasPrefix("AP8A/wD/"))
        }
    }

    @Test("a command that the firmware lacks, one that nobody answers, and boards of which one is another's")
    func failures() async throws {
        try await OnlineBoards.with { scene in
            let unknown = try await scene.rainctl("node", "command", "send", "nodelight", "77", "--json")
            unknown.expectFailure(1, "other", says: "command not found")
            #expect(unknown.document?["nodes"]?.array?.first?["status"] == "failure")
            for wrong in ["0", "65536", "-1", "x", "0x", "0x10000"] {
                let outcome = try await scene.rainctl("node", "command", "send", "nodelight", "--json", "--", wrong)
                #expect(outcome.status == 64, "\(wrong)")
            }
            try await scene.boards[0].process.terminate()
            let late = try await scene.rainctl(
                "node", "command", "send", "nodelight", "4096", "--timeout", "2", "--keep", "1s", "--json")
            late.expectFailure(16, "deadline", says: "--keep")
            #expect(late.document?["nodes"]?.array?.first?["status"] == "timed_out")
            let request = try #require(late.document?["request_id"]?.string)
            let waited = try await scene.rainctl(
                "node", "command", "result", request, "--wait", "--timeout", "2", "--json")
            waited.expectFailure(16, "deadline", says: "--keep")
        }
    }

    @Test("a board that the cloud refuses is told, also where nobody waits, and beside it what the other has answered")
    func refused() async throws {
        try await OnlineBoards.with { scene in
            try await scene.cloud.control(
                "faults",
                [
                    "rules": [
                        [
                            "method": "POST", "path": "/v1/user/nodes/cmd", "action": "status", "status": 207,
                            "count": 1,
                            "body": [
                                "request_id": "R1",
                                "responses": [
                                    ["node_id": "nodelight", "status": "failure", "error_code": 100010]
                                ],
                            ],
                        ]
                    ]
                ])
            let sent = try await scene.rainctl("node", "command", "send", "nodelight", "4096", "--no-wait", "--json")
            sent.expectFailure(1, "other", says: "nodelight")
            #expect(sent.document?["nodes"]?.array?.first?["status"] == "refused", "\(sent.standardOutput)")
        }
        try await OnlineBoards.with(["nodelight", "nodelamp"]) { scene in
            try await scene.boards[1].process.terminate()
            let some = try await scene.rainctl(
                "node", "command", "send", "nodelight,nodelamp", "4096", "--data", "{\"level\":3}", "--timeout", "3")
            #expect(some.status == 20, "\(some.standardError)")
            #expect(some.standardOutput.contains("nodelight  {\"level\":3}\n"), "\(some.standardOutput)")
        }
    }
}
