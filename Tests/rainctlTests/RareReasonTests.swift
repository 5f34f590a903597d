// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

/// Reasons that take a machine, a board or a cloud which is hard to come by.
@Suite("rainctl: rare reasons")
struct RareReasonTests {
    @Test("boards that a cloud refuses, some of several or all")
    func refusedBoards() {
        func reason(_ failures: [String?]) -> String? {
            let outcomes = failures.enumerated().map {
                ParameterSetOutcome(node: NodeID("node-\($0.offset)"), failure: $0.element)
            }
            do throws(CommandFailure) {
                try ParamsSetResult(outcomes).tell(Output(.json, isQuiet: true))
                return nil
            } catch {
                #expect(error.status == .batchPartial)
                return error.reason
            }
        }
        #expect(reason(["no", "no"]) == "all_failed")
        #expect(reason(["no", nil]) == "some_failed")
    }
}
