// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import RainMaker
@testable import rainctl

@Suite("rainctl node command")
struct NodeCommandTests {
    @Test(
        "what a script learns about boards that did not execute the command",
        arguments: [
            (["success"], nil, nil), (["requested"], rainctl.ExitStatus.deadline, "(--timeout) from N0"),
            (["timed_out"], .deadline, "--keep"), (["timed_out", "requested"], .deadline, "(--timeout) from N1"),
            (["success", "in_progress"], .batchPartial, "from N1"), (["failure"], .other, "N0: failure"),
            (["failure", "success"], .batchPartial, "N0: failure"), ([], .deadline, "later answers"),
            (["failure", "requested"], .batchPartial, "(--timeout) from N1"),
            (
                ["timed_out", "requested", "success"], .batchPartial,
                "from N0 within the command's --keep time. The cloud no longer keeps the command"
            ),
            (["timed_out", "requested", "success"], .batchPartial, "(--timeout) from N1"),
        ])
    func failure(statuses: [String], status: rainctl.ExitStatus?, words: String?) {
        let records = statuses.enumerated().map {
            NodeCommandRecord(["node_id": .string("N\($0.offset)"), "status": .string($0.element)])!
        }
        let failure = Self.result(records).failure
        #expect(failure?.status == status)
        #expect(failure.map { $0.message.contains(words ?? "?") } ?? (words == nil), "\(failure?.message ?? "")")
        // All of several is another matter than the only one.
        if statuses == ["failure"] { #expect(failure?.reason == "rejected") }
    }

    @Test("a board that was offline is described so")
    func away() {
        let asked = [NodeID("N0"), NodeID("N1")]
        let failure = CommandRecordsResult(
            NodeCommandAnswers(request: NodeCommandRequest(id: RequestID("R"), nodes: asked), records: []),
            away: [NodeID("N1")]
        ).failure
        #expect(failure?.message.contains("from N0, N1 (it is offline).") == true, "\(failure?.message ?? "")")
    }

    private static func result(_ records: [NodeCommandRecord]) -> CommandRecordsResult {
        CommandRecordsResult(NodeCommandAnswers(request: NodeCommandRequest(id: RequestID("R")), records: records))
    }

    @Test("of two boards both fail")
    func allFailed() {
        let records = ["N0", "N1"].map { NodeCommandRecord(["node_id": .string($0), "status": "failure"])! }
        let failure = Self.result(records).failure
        #expect(failure?.status == .batchPartial && failure?.reason == "all_failed")
    }
}
