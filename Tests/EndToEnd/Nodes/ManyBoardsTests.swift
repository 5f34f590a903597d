// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// More boards than one call may set: the outcome of the second call is reported for its boards only.
@Suite("rainctl node params set: 30 boards")
struct ManyBoardsTests {
    private static let ids = (0..<30).map { "n\($0)" }
    private static let put = "PUT /v1/user/nodes/params"
    private static let set = ["node", "params", "set", ids.joined(separator: ","), "Light.Power=on", "--json"]

    private static func with(
        _ second: (status: Int, body: String), _ body: (Maker, CannedCloud) async throws -> Void
    ) async throws {
        let first = ids.prefix(25).map { #"{"node_id":"\#($0)","status":"success"}"# }
        var answers = [put: [(status: 200, body: "[\(first.joined(separator: ","))]"), second]]
        for id in ids {
            let node = #"""
                {"id":"\#(id)","role":"primary","status":{"connectivity":{"connected":true,"timestamp":1}},
                "config":{"node_id":"\#(id)","devices":[{"name":"Light","params":[
                {"name":"Power","data_type":"bool","properties":["read","write"]}]}]},"params":{"Light":{"Power":true}}}
                """#
            answers["GET /v1/user/nodes?node_id=\(id)&node_details=true"] = [
                (status: 200, body: "{\"node_details\":[\(node)]}")
            ]
        }
        try await AccountScene.run(answers, signedIn: true, body)
    }

    private static func states(_ outcome: Maker.Outcome) -> [String?]? {
        outcome.document?["nodes"]?.array?.map { $0["state"]?.string }
    }

    @Test("where the second answer is lost, nobody says that its boards were not set")
    func lost() async throws {
        try await Self.with((502, #"{"message":"Internal server error"}"#)) { maker, _ in
            let outcome = try await maker.rainctl(Self.set)
            outcome.expectFailure(
                75, "temporary", says: "not known whether the cloud has sent the values to n25, n26, n27, n28, n29: ")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(message.contains("HTTP 502") && message.contains("rainctl node params get n25 shows the values."))
            #expect(!message.contains("were not set"))
            let expected = [String](repeating: "sent", count: 25) + [String](repeating: "unknown", count: 5)
            #expect(Self.states(outcome) == expected, "\(outcome.standardOutput)")
        }
    }

    @Test("a board that reports the values has them, whatever the result of sending them")
    func lostAndReported() async throws {
        try await Self.with((502, #"{"message":"Internal server error"}"#)) { maker, _ in
            let waited = try await maker.rainctl(Self.set + ["--wait"])
            #expect(waited.status == 0, "\(waited.standardOutput)")
            #expect(Self.states(waited)?.allSatisfy { $0 == "reported" } == true)
        }
    }

    @Test("a refusal is one: its boards were not set")
    func refused() async throws {
        try await Self.with(CannedCloud.refusal(100_070, status: 429)) { maker, _ in
            let outcome = try await maker.rainctl(Self.set)
            outcome.expectFailure(20, "batch_partial", says: "were not set on 5 of 30 boards")
            #expect(outcome.failure?["reason"] == "some_failed")
            #expect(Self.states(outcome)?.suffix(5).allSatisfy { $0 == "failed" } == true)
        }
    }

    @Test("Ctrl-C, and the end of --timeout, during the second call are what they are", arguments: [true, false])
    func ended(isInterrupted: Bool) async throws {
        try await Self.with(CannedCloud.silence) { maker, cloud in
            // The first call has to have its answer by then: thirty boards are asked for before it. The second call ends by itself after 10 s.
            let child = try await maker.start(Self.set + ["--timeout", isInterrupted ? "240s" : "9s"])
            defer { child.kill() }
            if isInterrupted {
                let end = ContinuousClock.now + .waitLimit
                while cloud.calls.count(where: { $0 == Self.put }) < 2, ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(20))
                }
                child.signal(SIGINT)
            }
            #expect(try await child.wait() == .exited(isInterrupted ? 130 : 16))
            #expect(cloud.calls.count { $0 == Self.put } == 2)
        }
    }
}
