// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

/// More boards than one call may set: the outcome of the second call is reported for its boards only.
@Suite("rainctl node params set: 30 boards")
struct ManyBoardsTests {
    @Test("one board was refused and another one's result is unknown: both are reported")
    func both() {
        let lost = AccountError(.timeout, message: "no answer")
        let outcomes = [
            ParameterSetOutcome(node: NodeID("n1"), failure: "no"),
            ParameterSetOutcome(node: NodeID("n2"), unknown: lost, isSendingUnknown: true),
        ]
        let failure = #expect(throws: CommandFailure.self) {
            try ParamsSetResult(outcomes).tell(Output(.json, isQuiet: true))
        }
        #expect(failure?.reason == "some_failed")
        #expect(failure?.message.contains("were not set on 1 of 2 boards: n1: no.") == true)
        #expect(failure?.message.contains("not known whether the cloud has sent the values to n2: ") == true)
        #expect(
            ParamsSetResult(outcomes).text
                == "n1 failed: no\nn2: it is not known whether the cloud has sent the values")
    }

    @Test("the failure names the option for more time, and the command that shows the values")
    func advice() {
        let silent = ParamsSetResult([ParameterSetOutcome(node: NodeID("n1"), isReported: false)]).commandFailure
        #expect(silent?.status == .deadline && silent?.reason == "deadline")
        #expect(
            silent?.message == "n1 has not reported the values in time (--timeout), although the cloud has sent them.")
        let untold = ParamsSetResult([
            ParameterSetOutcome(
                node: NodeID("n1"), unknown: AccountError(.timeout, message: "no answer"), isSendingUnknown: true),
            ParameterSetOutcome(node: NodeID("n2"), isReported: false),
        ]).commandFailure
        #expect(untold?.status == .temporary && untold?.reason == "timeout")
        #expect(
            untold?.message == """
                No answer. It is not known whether the cloud has sent the values to n1: rainctl node params get n1 shows the values. \
                These boards have not reported the values in time: n2.
                """)
    }
}
