// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("The lines about a board that is lost while it joins")
struct LostBoardLinesTests {
    @Test("a person reads once that the cloud is asked about it")
    func once() {
        var lines = LostBoardLines()
        let asking = OnboardingEvent.State.deferred("the board stopped answering; asking the cloud")
        let told = [
            lines.hasLine(.connect, .progress(.wifi(.unreachable))), lines.hasLine(.join, asking),
            lines.hasLine(.connect, asking), lines.hasLine(.confirm, .progress(.waitingForNode)),
        ]
        #expect(told == [false, true, false, false])
    }

    @Test("other lines stay")
    func others() {
        var lines = LostBoardLines()
        let told = [
            lines.hasLine(.confirm, .progress(.waitingForNode)), lines.hasLine(.resume, .deferred("no answer")),
            lines.hasLine(.resume, .deferred("no answer")), lines.hasLine(.connect, .started),
            lines.hasLine(.connect, .finished),
        ]
        #expect(told == [true, true, true, true, true])
    }
}
