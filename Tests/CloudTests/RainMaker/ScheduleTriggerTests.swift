// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker
import Testing

@Suite("The time of a schedule")
struct ScheduleTriggerTests {
    @Test(
        "a change keeps unknown members of a trigger of the same kind",
        arguments: [
            (.weekly(minutes: 1, days: 2), ["m": 5, "d": 6, "x": 1], ["m": 1, "d": 2, "x": 1]),
            (.weekly(minutes: 1, days: 2), nil, ["m": 1, "d": 2]),
            (.weekly(minutes: 1, days: 2), ["rsec": 5, "x": 1], ["m": 1, "d": 2]),
            // The time of the action that the old delay led to.
            (.after(seconds: 9), ["rsec": 5, "ts": 1_700_000_000, "x": 1], ["rsec": 9, "x": 1]),
            // A year that the new date does not have.
            (
                .date(minutes: 1, day: 2, months: 4, year: nil, isEveryYear: true),
                ["m": 5, "dd": 6, "mm": 8, "yy": 2030, "x": "y"], ["m": 1, "dd": 2, "mm": 4, "r": true, "x": "y"]
            ),
            (.other(["sun": 1]), ["sun": 2, "x": 1], ["sun": 1]),
        ] as [(ScheduleTrigger, JSONValue?, JSONValue)])
    func replaced(trigger: ScheduleTrigger, old: JSONValue?, wanted: JSONValue) {
        var change = ServiceEntryChange(trigger: trigger)
        change.replacedTrigger = old
        let sent = change.change(.edit, "A1", at: ParameterPath(component: "Schedule", parameter: "Schedules"))
        #expect(sent.value.array?.first?["triggers"] == [wanted], "\(sent.value)")
    }
}
