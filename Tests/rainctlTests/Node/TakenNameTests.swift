// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

@Suite("A schedule, scene, group or automation with a name that exists already")
struct TakenNameTests {
    private let all = [(id: "A1", name: "Evening"), (id: "B2", name: "Night")]

    @Test("is created with a warning that has the other's id")
    func new() throws {
        let warning = try #require(TakenName.warning("schedule", "evening", among: all, own: nil))
        #expect(warning.hasPrefix("There is already a schedule called Evening (A1)"))
        #expect(TakenName.warning("schedule", "Morning", among: all, own: nil) == nil)
        let automation = TakenName.warning("automation", "Night", among: all, own: nil)
        #expect(automation?.hasPrefix("There is already an automation") == true)
    }

    @Test("keeps its own name without a warning", arguments: ["A1", "EVENING"])
    func own(own: String) {
        #expect(TakenName.warning("scene", "Evening", among: all, own: own) == nil)
        #expect(TakenName.warning("scene", "Night", among: all, own: own) != nil)
    }
}
