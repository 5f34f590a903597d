// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("A change of a board that is offline")
struct OfflineBoardTests {
    private func outcome(_ seen: String?) -> ParameterSetOutcome {
        ParameterSetOutcome(node: NodeID("N1"), seen: seen)
    }

    @Test("is not confirmed: the line says that the board is offline")
    func values() {
        let result = ParamsSetResult([outcome("is offline")], names: ["N1": "Kitchen lamp"])
        #expect(
            result.text
                == "Kitchen lamp is offline: the cloud has sent the values, but the board may not get them")
        #expect(result.confirmedLines.isEmpty && result.nodes[0].state == "sent")
        #expect(result.nodes[0].message == "is offline")
        let name = ParamsSetResult([outcome("is offline")], names: ["N1": "Kitchen lamp"], newName: "Foo")
        #expect(
            name.text == "Kitchen lamp is offline: the cloud has sent the name Foo, but the board may not get it")
        let online = ParamsSetResult([outcome(nil)], names: ["N1": "Kitchen lamp"])
        #expect(online.confirmedLines == [0] && !online.text.contains("offline"))
    }

    @Test("of its schedules and scenes is not confirmed either", arguments: [ServiceOperation.add, .edit, .activate])
    func entries(operation: ServiceOperation) {
        let outcome = EntryOutcome(
            node: NodeID("N1"), id: "A1", name: "Evening", operation: operation, seen: "is offline")
        let result = EntryResult(outcome, noun: "schedule", of: "Lamp")
        #expect(result.confirmedLines.isEmpty && result.message == "is offline")
        #expect(result.text.hasPrefix("Lamp is offline: "))
    }

    @Test("the line about a board that is waited for has the time limit")
    func note() {
        #expect(
            ReportWait.note(offline: ["Lamp"], TimeBudget(DurationArgument(.seconds(15))).total).contains("up to 15s"))
        #expect(ReportWait.note(offline: ["Lamp", "Fan"], "2s").hasPrefix("note: Lamp, Fan are offline: "))
    }

    @Test("--wait waits the whole time, a person a few seconds for boards that are online, and a script not at all")
    func limits() {
        let left = Duration.seconds(20)
        for isAtTerminal in [true, false] {
            #expect(
                ReportWait.limit(isRequired: true, isAtTerminal: isAtTerminal, hasOfflineBoards: true, left) == left)
        }
        #expect(
            ReportWait.limit(isRequired: false, isAtTerminal: true, hasOfflineBoards: false, left)
                == ReportWait.patience)
        #expect(ReportWait.limit(isRequired: false, isAtTerminal: true, hasOfflineBoards: true, left) == nil)
        #expect(ReportWait.limit(isRequired: false, isAtTerminal: false, hasOfflineBoards: false, left) == nil)
        #expect(
            ReportWait.limit(isRequired: false, isAtTerminal: true, hasOfflineBoards: false, .seconds(1)) == .seconds(1)
        )
    }
}
