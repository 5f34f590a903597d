// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import RainMaker
@testable import rainctl

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
            let list = try await scene.done("node", "command", "list", "nodelight", "--count", "1", "--json")
            let commands = list.document?["commands"]?.array
            #expect(commands?.map { $0["command"] } == [4096] && commands?.first?["status"] == "success")
            let all = try await scene.done("node", "command", "list", "nodelight")
            #expect(all.standardOutput.contains("\(request)  command 4096  success  {\"level\":3}\n"))
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
                "node", "command", "send", "nodelight", "4096", "--timeout", "60", "--keep", "1s", "--json")
            // The cloud has given it up: there are no later answers.
            late.expectFailure(16, "deadline", says: "longer --keep")
            #expect(late.failure?["message"]?.string?.contains("later answers") == false)
            #expect(late.document?["nodes"]?.array?.first?["status"] == "timed_out")
            let open = try await scene.rainctl(
                "node", "command", "send", "nodelight", "4096", "--timeout", "10", "--keep", "2h", "--json")
            open.expectFailure(16, "deadline", says: "rainctl node command result")
            let request = try #require(open.document?["request_id"]?.string)
            let shown = try await scene.done("node", "command", "result", request)
            #expect(shown.standardOutput == "nodelight  has not answered yet\n", "without --wait it is a result")
            let waited = try await scene.rainctl(
                "node", "command", "result", request, "--wait", "--timeout", "10", "--json")
            waited.expectFailure(16, "deadline", says: "(--timeout) from Light")
            let sent = try await scene.done("node", "command", "send", "nodelight", "4096", "--no-wait", "--json")
            #expect(sent.document?["nodes"]?.array?.first?["status"] == "requested")
        }
    }

    @Test("of two boards one answers, and is shown to people, too")
    func oneSilent() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.boards[1].process.terminate()
            let outcome = try await scene.rainctl(
                "node", "command", "send", "nodelight,nodefan", "4096", "--data", "[7]", "--timeout", "15", "--keep",
                "30d")
            #expect(outcome.status == 20, "\(outcome.standardError)")
            #expect(outcome.standardOutput.contains("nodelight  [7]\n"), "\(outcome.standardOutput)")
            #expect(outcome.standardOutput.contains("nodefan  has not answered yet\n"))
            #expect(outcome.standardError.contains("from nodefan"))
        }
    }

    @Test("a request that the cloud does not know is no mapping request")
    func unknownRequest() async throws {
        let answers = ["GET /v1/user/nodes/cmd?request_id=nope": [CannedCloud.refusal(103_018, status: 404)]]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            for more in [[], ["--wait"]] {
                let outcome = try await maker.rainctl(["node", "command", "result", "nope", "--json"] + more)
                outcome.expectFailure(1, "other", says: "request id nope")
                #expect(outcome.failure?["reason"] == "no_such_request")
                #expect(outcome.failure?["message"]?.string?.contains("mapping") == false)
            }
        }
    }

    @Test("a board that the cloud refuses was not sent it, also where nobody waits for answers")
    func refused() async throws {
        let node = { (id: String) in (200, #"{"node_details":[{"id":"\#(id)","role":"primary"}]}"#) }
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": [node("n1")],
            "GET /v1/user/nodes?node_id=n2&node_details=true": [node("n2")],
            "POST /v1/user/nodes/cmd": [
                (
                    207,
                    #"{"request_id":"r1","responses":[{"node_id":"n1","status":"success"},{"node_id":"n2","status":"failure","description":"no"}]}"#
                )
            ],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let command = ["node", "command", "send", "n1,n2", "7", "--no-wait"]
            let json = try await maker.rainctl(command + ["--json"])
            json.expectFailure(20, "batch_partial", says: "n2: no")
            #expect(json.failure?["reason"] == "some_failed")
            #expect(json.document?["nodes"]?.array?.compactMap { $0["status"]?.string } == ["requested", "refused"])
            let text = try await maker.rainctl(command)
            #expect(text.status == 20)
            #expect(
                text.standardOutput
                    == "n2  did not get the command: no\nsent; see the answers with: rainctl node command result r1\n")
        }
    }

    @Test("if the cloud does not report a command's result, that is the failure, and the command is not lost")
    func untold() async throws {
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": [
                (200, #"{"node_details":[{"id":"n1","role":"primary"}]}"#)
            ],
            "POST /v1/user/nodes/cmd": [(200, #"{"request_id":"r1","responses":[]}"#)],
            "GET /v1/user/nodes/cmd?request_id=r1": [(502, #"{"message":"Internal server error"}"#)],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let send = ["node", "command", "send", "n1", "7", "--timeout", "10", "--json"]
            for command in [send, ["node", "command", "result", "r1", "--wait", "--timeout", "10", "--json"]] {
                let outcome = try await maker.rainctl(command)
                #expect(outcome.status != 0 && outcome.status != 16, "\(outcome.standardOutput)")
                let message = outcome.failure?["message"]?.string ?? ""
                #expect(message.contains("HTTP 502") && message.contains("command result r1"), "\(message)")
            }
        }
    }

    @Test("a list that has one board before the other is asked for again")
    func oneBeforeTheOther() async throws {
        let both = #"{"node_id":"n1","status":"success"},{"node_id":"n2","status":"success"}"#
        let answers = Self.sent(["n1", "n2"]).merging([
            Self.records: [
                (200, #"{"requests":[{"node_id":"n1","status":"success"}]}"#), (200, #"{"requests":[\#(both)]}"#),
            ]
        ]) { $1 }
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            let outcome = try await maker.rainctl("node", "command", "send", "n1,n2", "7", "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let statuses = outcome.document?["nodes"]?.array?.compactMap { $0["status"]?.string }
            #expect(statuses == ["success", "success"])
            #expect(cloud.calls.count { $0 == Self.records } == 2)
        }
    }

    @Test(
        "who was refused is not waited for", arguments: [(["n1"], 1, "rejected"), (["n1", "n2"], 20, "all_failed")])
    func nobodyLeft(nodes: [String], status: Int, reason: String) async throws {
        let refused = nodes.map { #"{"node_id":"\#($0)","status":"failure","description":"no"}"# }
        let answers = Self.sent(nodes, responses: refused).merging([Self.records: [(200, #"{"requests":[]}"#)]]) { $1 }
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            let command = ["node", "command", "send", nodes.joined(separator: ","), "7", "--timeout", "120", "--json"]
            let outcome = try await maker.rainctl(command)
            #expect(outcome.status == status, "\(outcome.standardOutput)")
            #expect(outcome.failure?["reason"]?.string == reason)
            #expect(!cloud.calls.contains(Self.records))
        }
    }

    @Test("a cloud that falls silent keeps nobody beyond --timeout, and takes back no answer that was there")
    func silentCloud() async throws {
        let first = (status: 200, body: #"{"requests":[{"node_id":"n1","status":"success"}]}"#)
        let silences = ["GET /v1/user/nodes/cmd?request_id=r2": [CannedCloud.silence]]
        let answers = Self.sent(["n1", "n2"]).merging([Self.records: [first, CannedCloud.silence]]) { $1 }
            .merging(silences) { $1 }
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            // A call would be given up by itself after ten seconds.
            let start = ContinuousClock.now
            let nothing = try await maker.rainctl(
                "node", "command", "result", "r2", "--wait", "--timeout", "5", "--json")
            #expect(start.duration(to: .now) < Timings.limit(.seconds(8)))
            nothing.expectFailure(75, "temporary", says: "To see the answers, run: rainctl node command result r2")
            #expect(nothing.failure?["reason"] == "timeout")
            let again = ContinuousClock.now
            let one = try await maker.rainctl("node", "command", "send", "n1,n2", "7", "--timeout", "15", "--json")
            #expect(again.duration(to: .now) < Timings.limit(.seconds(20)))
            one.expectFailure(20, "batch_partial", says: "(--timeout) from n2")
            let statuses = one.document?["nodes"]?.array?.compactMap { $0["status"]?.string }
            #expect(statuses == ["success", "requested"], "\(one.standardOutput)")
        }
    }

    private static let records = "GET /v1/user/nodes/cmd?request_id=r1"

    /// A cloud that has those boards, and takes a command for them.
    private static func sent(
        _ nodes: [String], responses: [String] = []
    ) -> [String: [(status: Int, body: String)]] {
        var answers: [String: [(status: Int, body: String)]] = [
            "POST /v1/user/nodes/cmd": [
                (207, #"{"request_id":"r1","responses":[\#(responses.joined(separator: ","))]}"#)
            ]
        ]
        for node in nodes {
            answers["GET /v1/user/nodes?node_id=\(node)&node_details=true"] = [
                (200, #"{"node_details":[{"id":"\#(node)","role":"primary"}]}"#)
            ]
        }
        return answers
    }
}
