// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@Suite("The document of values that were set, and its failure")
struct ParameterDocumentsTests {
    private static func outcome(
        _ id: String, failure: String? = nil, isReported: Bool? = nil, unknown: AccountError? = nil,
        isSendingUnknown: Bool = false
    ) -> ParameterSetOutcome {
        ParameterSetOutcome(
            node: NodeID(id), failure: failure, isReported: isReported, unknown: unknown,
            isSendingUnknown: isSendingUnknown)
    }

    private static let lost = AccountError(.timeout, message: "the cloud has not answered")

    @Test("a failure has a code, a reason and a message, and names no option or command of a program")
    func failures() throws {
        let silent = try #require(ParamsSetResult([Self.outcome("n1", isReported: false)]).failure)
        #expect(silent.code == .deadline && silent.reason == "deadline")
        #expect(silent.message == "n1 has not reported the values in time, although the cloud has sent them.")

        let some = [Self.outcome("n1", isReported: true), Self.outcome("n2", isReported: false)]
        let someSilent = try #require(ParamsSetResult(some).failure)
        #expect(someSilent.code == .batchPartial && someSilent.reason == "some_silent")
        #expect(
            someSilent.message
                == "The cloud has sent the values, but these boards have not reported them in time: n2.")

        let untold = try #require(
            ParamsSetResult([Self.outcome("n1", unknown: Self.lost, isSendingUnknown: true)]).failure)
        #expect(untold.code == .temporary && untold.reason == "timeout")
        #expect(
            untold.message
                == "The cloud has not answered. It is not known whether the cloud has sent the values to n1.")

        let mixed = ParamsSetResult([
            Self.outcome("n1", failure: "no"), Self.outcome("n2", unknown: Self.lost),
            Self.outcome("n3", isReported: false),
        ])
        let failed = try #require(mixed.failure)
        #expect(failed.code == .batchPartial && failed.reason == "some_failed")
        #expect(
            failed.message == """
                The values were not set on 1 of 3 boards: n1: no. The cloud has sent the values, but did not show whether these boards \
                have reported them: n2. These boards have not reported the values in time: n3.
                """)
        #expect(ParamsSetResult([Self.outcome("n1", isReported: true), Self.outcome("n2")]).failure == nil)
    }
}
