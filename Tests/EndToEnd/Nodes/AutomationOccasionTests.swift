// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl automation: weather and daylight")
struct AutomationOccasionTests {
    @Test("the weather and sunset at a place set values, and at no other place")
    func acts() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done(
                "automation", "add", "Storm", "--weather", "wind_speed>=12.5", "--weather", "condition=rain",
                "--location", "59.91,10.75", "--set", "nodelight:Light.Name=Stormy")
            try await scene.done(
                "automation", "add", "Evening", "--daylight", "sunset", "--location", "59.91,10.75", "--set",
                "nodelight:Light.Name=Dark")
            let list = try await scene.done("automation", "list").standardOutput
            #expect(list.contains("59.91,10.75: wind_speed >= 12.5 and weather_condition == Rain"), "\(list)")
            #expect(list.contains("59.91,10.75: sunset"), "\(list)")
            let weather: (JSONValue, Double) async throws -> JSONValue? = { values, latitude in
                try await scene.cloud.control(
                    "weather", ["latitude": .number(latitude), "longitude": 10.75, "values": values])["actions"]
            }
            #expect(try await weather(["wind_speed": 20, "weather_condition": "Clear"], 59.91) == 0)
            #expect(try await weather(["wind_speed": 20, "weather_condition": "Rain"], 60) == 0)
            #expect(try await weather(["wind_speed": 20, "weather_condition": "Rain"], 59.91) == 1)
            #expect(try await scene.value("Light.Name", becomes: "Stormy"))
            // It is still the same storm.
            #expect(try await weather(["wind_speed": 21, "weather_condition": "Rain"], 59.91) == 0)
            for _ in 1...2 {
                let answer = try await scene.cloud.control(
                    "daylight", ["latitude": 59.91, "longitude": 10.75, "event": "sunset"])
                #expect(answer["actions"] == 1, "a sunset is over at once")
            }
            #expect(try await scene.value("Light.Name", becomes: "Dark"))
        }
    }

    @Test("the place is the one that the phone app stored, and a rule without a place or with two causes is refused")
    func places() async throws {
        try await OnlineBoards.with { scene in
            let rule = [
                "automation", "add", "Evening", "--daylight", "sunset", "--set", "nodelight:Light.Power=on", "--json",
            ]
            let unplaced = try await scene.maker.rainctl(rule)
            unplaced.expectFailure(64, "usage", says: "--location")
            #expect(unplaced.failure?["reason"] == "no_location")
            try await scene.done(
                "account", "data", "set", "geoCoordinates", #"{"latitude":"18.52","longitude":"73.85"}"#)
            #expect(try await scene.maker.rainctl(rule).status == 0)
            let list = try await scene.done("automation", "list", "--json")
            let location = list.document?["automations"]?.array?.first?["location"]
            #expect(location == ["latitude": "18.52", "longitude": "73.85"])
            for wrong in [
                ["--weather", "rain=heavy"], ["--weather", "condition>Rain"], ["--weather", "temperature>hot"],
                ["--weather", "temperature>30", "--daylight", "sunrise"],
                ["--of", "nodelight", "--when", "Light.Power=on", "--daylight", "sunrise"],
                ["--daylight", "noon"], ["--daylight", "sunset", "--location", "100,0"],
                ["--of", "nodelight", "--when", "Light.Power=on", "--location", "1,1"],
            ] {
                let outcome = try await scene.maker.rainctl(
                    ["automation", "add", "X", "--set", "nodelight:Light.Power=on"] + wrong)
                #expect(outcome.status == 64, "\(wrong): \(outcome.standardError)")
            }
        }
    }
}
