// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import RainMaker
@testable import rainctl

@Suite("rainctl node command")
struct NodeCommandTests {
    @Test(
        "what a script is told of boards that have not done it",
        arguments: [
            (["success"], nil, nil), (["requested"], rainctl.ExitStatus.deadline, "(--timeout) by N0"),
            (["timed_out"], .deadline, "--keep"), (["timed_out", "requested"], .deadline, "(--timeout) by N1"),
            (["success", "in_progress"], .batchPartial, "by N1"), (["failure"], .other, "N0: failure"),
            (["failure", "success"], .batchPartial, "N0: failure"), ([], .deadline, "comes later"),
            (["failure", "requested"], .batchPartial, "(--timeout) by N1"),
            (["timed_out", "requested", "success"], .batchPartial, "by N0: send it again"),
            (["timed_out", "requested", "success"], .batchPartial, "(--timeout) by N1"),
        ])
    func failure(statuses: [String], status: rainctl.ExitStatus?, words: String?) {
        let records = statuses.enumerated().map {
            NodeCommandRecord(["node_id": .string("N\($0.offset)"), "status": .string($0.element)])!
        }
        let failure = CommandRecordsResult(RequestID("R"), records).failure
        #expect(failure?.status == status)
        #expect(failure.map { $0.message.contains(words ?? "?") } ?? (words == nil), "\(failure?.message ?? "")")
        // All of several is another matter than the only one.
        if statuses == ["failure"] { #expect(failure?.reason == "rejected") }
    }

    @Test("of two boards both fail")
    func allFailed() {
        let records = ["N0", "N1"].map { NodeCommandRecord(["node_id": .string($0), "status": "failure"])! }
        let failure = CommandRecordsResult(RequestID("R"), records).failure
        #expect(failure?.status == .batchPartial && failure?.reason == "all_failed")
    }
}
