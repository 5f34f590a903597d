// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKitTesting
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("Automations")
struct AutomationsTests {
    private static let path = "/v1/user/node_automation"
    private static let off = SignedInClient.change("Power", false)

    private func condition(
        _ parameter: String, _ comparison: AutomationCondition.Comparison, _ value: JSONValue
    ) -> AutomationCondition {
        AutomationCondition(ParameterPath(component: "Light", parameter: parameter), comparison, value)
    }

    private func rule(
        _ conditions: [AutomationCondition], isAnyEnough: Bool? = nil, retriggers: Bool? = nil
    ) throws -> AutomationRule {
        AutomationRule(
            reporter: try SignedInClient.light("n1"), conditions: conditions,
            actions: [(try SignedInClient.light("n2"), [Self.off])], isAnyEnough: isAnyEnough, retriggers: retriggers)
    }

    @Test("a rule is sent in the cloud's format")
    func created() async throws {
        let client = try SignedInClient()
        client.http.expect(.post, Self.path, #"{"automation_id":"a1"}"#)
        let conditions = [condition("Power", .equal, true), condition("Level", .greaterOrEqual, 30)]
        let id = try await client.kit.createAutomation("Both", try rule(conditions, retriggers: true))
        #expect(id == "a1")
        let events: JSONValue = [
            ["params": ["Light": ["Power": true]], "check": "=="],
            ["params": ["Light": ["Level": 30]], "check": ">="],
        ]
        #expect(
            client.bodies.last == [
                "name": "Both", "event_type": "node_params", "node_id": "n1", "events": events,
                "event_operator": "and", "actions": [["node_id": "n2", "params": ["Light": ["Power": false]]]],
                "retrigger": true,
            ])
        try client.http.finish()
    }

    @Test("rules by weather and daylight are sent in the cloud's format, with the place as texts")
    func occasions() async throws {
        let place = try #require(GeoCoordinates("59.91, 10.75"))
        let actions = [(node: try SignedInClient.light("n2"), changes: [Self.off])]
        let hot = WeatherCondition(.temperature, .greater, 30)
        let storm = WeatherCondition(.windSpeed, .greaterOrEqual, 12.5)
        let location: JSONValue = ["latitude": "59.91", "longitude": "10.75"]
        let sent: JSONValue = [["node_id": "n2", "params": ["Light": ["Power": false]]]]
        for (occasion, isAny, members) in [
            (
                AutomationOccasion.weather([WeatherCondition(.rain)], at: place), nil,
                ["event_type": "weather", "events": [["params": ["weather_condition": "Rain"], "check": "=="]]]
            ),
            (
                .weather([hot, storm], at: place), true,
                [
                    "event_type": "weather",
                    "events": [
                        ["params": ["temperature": 30], "check": ">"], ["params": ["wind_speed": 12.5], "check": ">="],
                    ], "event_operator": "or",
                ]
            ),
            (
                .sunrise(at: place), nil,
                ["event_type": "daylight", "events": [["params": ["sunrise": true], "check": "=="]]]
            ),
            (
                .sunset(at: place), true,
                ["event_type": "daylight", "events": [["params": ["sunset": true], "check": "=="]]]
            ),
        ] as [(AutomationOccasion, Bool?, [String: JSONValue])] {
            let client = try SignedInClient()
            client.http.expect(.post, Self.path, #"{"automation_id":"a1"}"#)
            let rule = AutomationRule(actions: actions, isAnyEnough: isAny, occasion: occasion)
            _ = try await client.kit.createAutomation("Rule", rule)
            let body = try #require(client.bodies.last ?? nil)
            for (name, value) in members { #expect(body[name] == value, "\(name)") }
            #expect(body["location"] == location && body["actions"] == sent && body["node_id"] == nil)
            #expect((body["event_operator"] != nil) == (members["event_operator"] != nil))
            try client.http.finish()
        }
        for text in ["", "59.91", "59.91,", "91,0", "0,181", "-90.1,0", "a,b", "1,2,3", "nan,0", "inf,0"] {
            #expect(GeoCoordinates(text) == nil, "\(text)")
        }
        #expect(GeoCoordinates(["latitude": "-33.9", "longitude": 18]) == GeoCoordinates("-33.9,18"))
        #expect(GeoCoordinates(["latitude": true, "longitude": 18]) == nil && GeoCoordinates(JSONValue?.none) == nil)
    }

    @Test("a rule has one cause")
    func oneCause() async throws {
        let client = try SignedInClient()
        let place = try #require(GeoCoordinates("0,0"))
        var rule = try rule([condition("Power", .equal, true)])
        rule.occasion = .sunset(at: place)
        let empty = AutomationRule(actions: rule.actions, occasion: .weather([], at: place))
        for wrong in [rule, empty] {
            do {
                _ = try await client.kit.createAutomation("X", wrong)
                Issue.record("it was accepted")
            } catch let error as RainKitError {
                #expect(error.reason == "usage" && error.message.contains("rule"), "\(error)")
            }
        }
        #expect(client.bodies.isEmpty)
    }

    @Test(
        "a member of a document that the cloud refuses is named before anything is sent",
        arguments: [
            (["event_type": "node_param"], "event_type of the rule is \"node_param\""),
            (
                ["event_type": "weather", "actions": ["node_id": "n1"]],
                "actions of the rule must be a list, but is an object"
            ),
            (["event_type": "weather", "events": "x"], "events of the rule must be a list, but is a string"),
            (
                ["event_type": "node_params", "events": [["params": ["Light": ["Power": true]], "check": "="]]],
                "check of an event is \"=\""
            ),
        ] as [(JSONValue, String)])
    func refusedMember(document: JSONValue, words: String) async throws {
        let client = try SignedInClient()
        let kit = client.kit
        let error = await kitError { try await kit.createAutomation("X", AutomationRule(document: document)) }
        #expect(error?.reason == "bad_rule")
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        #expect(client.http.requests.isEmpty)
    }

    @Test("conditions that never hold and values that no node takes are refused before anything is sent")
    func refused() async throws {
        let client = try SignedInClient()
        let kit = client.kit
        let power = condition("Power", .equal, true)
        var heat = try rule([power])
        heat.actions = [(try SignedInClient.light("n2"), [SignedInClient.change("Heat", 1)])]
        let whole = try rule([power])
        let rules = [
            try rule([condition("Power", .greater, true)]), try rule([condition("Level", .equal, "x")]), heat,
            try rule([]), AutomationRule(conditions: [power], actions: whole.actions, document: [:]),
        ]
        var reasons: [String?] = []
        for rule in rules { reasons.append(await kitError { try await kit.createAutomation("X", rule) }?.reason) }
        #expect(reasons == ["wrong_type", "wrong_type", "no_such_parameter", "usage", "usage"])
        #expect(await kitError { try await kit.createAutomation(" ", whole) }?.reason == "usage")
        #expect(client.http.requests.isEmpty)
    }

    @Test("a change overrides its document, and kept conditions are checked at the node that is to report")
    func changed() async throws {
        let client = try SignedInClient()
        client.http.expect(.put, "\(Self.path)?automation_id=a1", SignedInClient.done)
        let events: JSONValue = [["params": ["Light": ["Power": true]], "check": "=="]]
        let known = try #require(
            Automation(["automation_id": "a1", "event_type": "node_params", "node_id": "n9", "events": events]))
        let document: JSONValue = ["name": "Old", "enabled": true, "node_id": "n3", "location": "x"]
        let change = AutomationRule(
            reporter: try SignedInClient.light("n1"), isAnyEnough: true, document: document)
        try await client.kit.changeAutomation(known, name: "New", isEnabled: false, rule: change)
        #expect(
            client.bodies.last == [
                "location": "x", "name": "New", "enabled": false, "event_type": "node_params", "node_id": "n1",
                "event_operator": "or",
            ])
        let kit = client.kit
        let other = try #require(
            Automation([
                "automation_id": "a1", "event_type": "node_params", "events": [["params": ["Door": ["Open": true]]]],
            ]))
        #expect(await kitError { try await kit.changeAutomation(other, rule: change) }?.reason == "no_such_component")
        try client.http.finish()
    }

    @Test("an automation is found by its id or its name")
    func named() async throws {
        let client = try SignedInClient()
        let list = #"""
            {"automation_trigger_actions":[{"automation_id":"a1","name":"Door"},{"automation_id":"a2","name":"Hall"},
            {"automation_id":"a3","name":"hall"}]}
            """#
        for _ in 0..<4 { client.http.expect(.get, Self.path, list) }
        let kit = client.kit
        #expect(try await kit.automation(named: "door").id == "a1")
        #expect(try await kit.automation(named: "a3").name == "hall")
        #expect(await kitError { try await kit.automation(named: "Hall") }?.reason == "several_automations")
        let none = await kitError { try await kit.automation(named: "x") }
        #expect(none?.reason == "no_such_automation" && none?.code == .other && none?.remedies == [.knownAutomation])
        try client.http.finish()
    }
}
