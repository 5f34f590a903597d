// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("rainctl node schedule, node scene")
struct NodeScheduleTests {
    @Test("a schedule is added, edited, switched off and on and removed, each time as the board reports it")
    func journey() async throws {
        try await OnlineBoards.with { scene in
            let added = try await scene.done(
                "node", "schedule", "add", "nodelight", "--name", "Evening", "--at", "19:30", "--days", "mon-fri",
                "Light.Power=on", "--wait", "--json")
            #expect(added.document?["state"] == "reported" && added.standardError.contains("no time zone"))
            let id = try #require(added.document?["id"]?.string)
            try await scene.done(
                "node", "schedule", "edit", "nodelight", "evening", "--at", "6:05", "--days", "sat,sun", "--wait")
            try await scene.done("node", "schedule", "disable", "nodelight", id, "--wait")
            let list = try await scene.done("node", "schedule", "list", "nodelight", "--json")
            let entry = try #require(list.document?["schedules"]?.array?.first)
            #expect(entry["enabled"] == false && entry["name"] == "Evening")
            #expect(entry["triggers"] == [["m": 365, "d": 96]])
            #expect(entry["action"] == ["Light": ["Power": true]], "an edit that names no values keeps them")
            try await scene.done("node", "schedule", "enable", "nodelight", "Evening", "--wait")
            let text = try await scene.done("node", "schedule", "list", "nodelight")
            #expect(text.standardOutput == "\(id)  on   Evening  at 06:05 sat,sun  Light.Power=true\n")
            try await scene.done("node", "schedule", "remove", "nodelight", "Evening", "--wait")
            #expect(
                try await scene.done("node", "schedule", "list", "nodelight").standardOutput
                    == "There are no schedules.\n")
        }
    }

    @Test("the board acts when it is time, and a scene when it is activated")
    func acts() async throws {
        try await OnlineBoards.with { scene in
            let added = try await scene.done(
                "node", "schedule", "add", "nodelight", "--name", "Soon", "--in", "1s", "Light.Power=off", "--wait")
            #expect(!added.standardError.contains("time zone"), "seconds need none")
            #expect(try await scene.value("Light.Power", becomes: "false"))
            let list = try await scene.done("node", "schedule", "list", "nodelight", "--json")
            #expect(list.document?["schedules"]?.array?.first?["enabled"] == false, "it does not repeat")
            try await scene.done("node", "scene", "add", "nodelight", "--name", "Day", "Light.Power=on", "--wait")
            try await scene.done("node", "scene", "activate", "nodelight", "day")
            #expect(try await scene.value("Light.Power", becomes: "true"))
            try await scene.done("node", "scene", "edit", "nodelight", "Day", "--name", "Noon", "--wait")
            let scenes = try await scene.done("node", "scene", "list", "nodelight", "--json")
            #expect(scenes.document?["scenes"]?.array?.first?["name"] == "Noon")
            try await scene.done("node", "scene", "remove", "nodelight", "Noon", "--wait")
        }
    }

    @Test("what a board does not take is told before anything is sent")
    func refused() async throws {
        try await OnlineBoards.with(options: ["--services", "scenes"]) { scene in
            let absent = try await scene.rainctl(
                "node", "schedule", "add", "nodelight", "--name", "E", "--at", "10:00", "Light.Power=on", "--json")
            absent.expectFailure(65, "bad_data", says: "esp.service.schedule")
            #expect(absent.failure?["reason"] == "no_service")
            let wrong = try await scene.rainctl(
                "node", "scene", "add", "nodelight", "--name", "E", "Light.Power=bright", "--json")
            wrong.expectFailure(65, "bad_data", says: "true or false")
            let long = try await scene.rainctl(
                "node", "scene", "add", "nodelight", "--name", String(repeating: "x", count: 33), "Light.Power=on",
                "--json")
            long.expectFailure(65, "bad_data", says: "32 bytes")
            let unknown = try await scene.rainctl("node", "scene", "activate", "nodelight", "Night", "--json")
            unknown.expectFailure(65, "bad_data", says: "it has none")
            let sent = try scene.cloud.journal.entries(where: ["event": "request", "method": "PUT"]).filter {
                $0["path"]?.string?.hasSuffix("user/nodes/params") == true
            }
            #expect(sent.isEmpty)
        }
    }

    @Test("a board whose list is full is not sent another one")
    func full() async throws {
        try await OnlineBoards.with { scene in
            for number in 1...10 {
                try await scene.done(
                    "node", "scene", "add", "nodelight", "--name", "S\(number)", "Light.Power=on", "--wait")
            }
            let more = try await scene.rainctl(
                "node", "scene", "add", "nodelight", "--name", "S11", "Light.Power=on", "--json")
            more.expectFailure(65, "bad_data", says: "keeps 10 scenes")
            #expect(more.failure?["reason"] == "list_full")
        }
    }

    private static let today = CalendarDay("2026-11-23")!

    @Test(
        "times that a person writes",
        arguments: [
            (TriggerWords(at: "07:30"), ScheduleTrigger.weekly(minutes: 450, days: 0), "at 07:30 once"),
            (TriggerWords(at: "7:30", days: "daily"), .weekly(minutes: 450, days: 127), "at 07:30 daily"),
            (
                TriggerWords(at: "23:59", days: "fri-mon"), .weekly(minutes: 1439, days: 0b111_0001),
                "at 23:59 mon,fri,sat,sun"
            ),
            (TriggerWords(at: "0:00", days: "Monday,wed"), .weekly(minutes: 0, days: 0b101), "at 00:00 mon,wed"),
            (TriggerWords(at: "8:00", days: "weekends"), .weekly(minutes: 480, days: 0b110_0000), "at 08:00 sat,sun"),
            (TriggerWords(at: "8:00", days: "weekdays"), .weekly(minutes: 480, days: 0b001_1111), "at 08:00 mon-fri"),
            (
                TriggerWords(at: "18:00", date: "12-24"),
                .date(minutes: 1080, day: 24, months: 1 << 11, year: nil, isEveryYear: true),
                "at 18:00 on 24 Dec every year"
            ),
            (
                TriggerWords(at: "18:00", date: "2026-11-23"),
                .date(minutes: 1080, day: 23, months: 1 << 10, year: 2026, isEveryYear: false),
                "at 18:00 on 23 Nov 2026"
            ),
            (TriggerWords(delay: .seconds(90)), .after(seconds: 90), "90 s after it was set"),
        ])
    func times(given: TriggerWords, trigger: ScheduleTrigger, words: String) throws {
        let made = try given.trigger(on: Self.today)
        #expect(made == trigger)
        #expect(made.words == words)
        #expect(ScheduleTrigger(made.json) == made, "and the board's report is read as what was sent")
    }

    @Test("what is not given of a time stays as it was")
    func kept() throws {
        let weekdays = ScheduleTrigger.weekly(minutes: 1170, days: 0b001_1111)
        let christmas = ScheduleTrigger.date(minutes: 960, day: 24, months: 1 << 11, year: nil, isEveryYear: true)
        func edited(_ words: TriggerWords, _ known: ScheduleTrigger) throws -> ScheduleTrigger {
            try words.trigger(on: Self.today, changing: known)
        }
        #expect(try edited(TriggerWords(at: "20:00"), weekdays) == .weekly(minutes: 1200, days: 0b001_1111))
        #expect(try edited(TriggerWords(days: "daily"), weekdays) == .weekly(minutes: 1170, days: 127))
        #expect(
            try edited(TriggerWords(at: "20:00"), christmas)
                == .date(minutes: 1200, day: 24, months: 1 << 11, year: nil, isEveryYear: true))
        #expect(try edited(TriggerWords(days: "sat"), christmas) == .weekly(minutes: 960, days: 0b010_0000))
        #expect(try edited(TriggerWords(at: "6:00"), .after(seconds: 9)) == .weekly(minutes: 360, days: 0))
        #expect(throws: (any Error).self) { try edited(TriggerWords(days: "mon"), .after(seconds: 9)) }
    }

    @Test(
        "times that never come, or that nobody can read",
        arguments: [
            TriggerWords(at: "24:00"), TriggerWords(at: "7"), TriggerWords(at: "07:60"), TriggerWords(at: "-1:00"),
            TriggerWords(at: "+7:00"), TriggerWords(at: "07:30", days: "noday"),
            TriggerWords(at: "07:30", days: "mon-"), TriggerWords(at: "07:30", days: "monkey"),
            TriggerWords(at: "07:30", days: ""), TriggerWords(at: "07:30", days: "mon-tue-wed"),
            TriggerWords(at: "07:30", date: "2026-11-22"), TriggerWords(at: "07:30", date: "02-30"),
            TriggerWords(at: "07:30", date: "2027-02-29"), TriggerWords(at: "07:30", date: "13-01"),
            TriggerWords(at: "07:30", days: "mon", date: "12-24"), TriggerWords(days: "mon"),
            TriggerWords(at: "07:30", delay: .seconds(600)), TriggerWords(delay: .milliseconds(500)),
        ])
    func unreadable(given: TriggerWords) {
        #expect(throws: (any Error).self) { try given.trigger(on: Self.today) }
    }
}
