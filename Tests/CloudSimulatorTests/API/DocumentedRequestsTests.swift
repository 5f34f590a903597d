// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// The requests of the official client and of Espressif's apps, as their sources have them: the cloud accepts each of them.
///
/// The letter before a request is its source:
/// - T: espressif/esp-rainmaker-app-sdk-ts 3.3.0
/// - A: esp-rainmaker-android 3.14.1
/// - I: esp-rainmaker-ios (2025-03)
/// - C: esp-rainmaker-cli 1.14
/// - D: Espressif's documentation pages
/// - G: jcassette/rainmaker-api-client, which was generated from Espressif's description 1.1.17
/// - M: espressif/esp-rainmaker-mcp 0.2.0
@Suite("Requests of the official client and the apps")
struct DocumentedRequestsTests {
    private struct Documented {
        let source: String
        let method: String
        let target: String
        let body: JSONValue?
        let status: Int

        init(_ source: String, _ method: String, _ target: String, _ body: JSONValue? = nil, _ status: Int = 200) {
            (self.source, self.method, self.target, self.body, self.status) = (source, method, target, body, status)
        }
    }

    private static let schedule: JSONValue = [
        "id": "8D36", "name": "Night", "operation": "add", "triggers": [["d": 31, "m": 1110]],
        "action": ["Light": ["Power": false]],
    ]
    private static let scene: JSONValue = [
        "id": "1112", "name": "Film", "operation": "add", "info": "Dark", "action": ["Light": ["Power": false]],
    ]
    private static let day = "start_time=1628557200&end_time=1628560800"

    /// The placeholders `GROUP`, `ROOM`, `AUTOMATION`, `OFFER` and `COMMAND` are the ids of earlier answers.
    private static let table: [Documented] = [
        // Time series.
        .init(
            "T", "GET", "user/nodes/tsdata?node_id=own&param_name=Sensor.Temperature&type=float&\(day)&num_records=200"),
        .init(
            "G", "GET",
            "user/nodes/tsdata?node_id=own&param_name=Sensor.Temperature&aggregate=avg&aggregation_interval=hour&\(day)&timezone=Asia/Kolkata"
        ),
        .init(
            "T", "GET",
            "user/nodes/tsdata?node_id=own&param_name=Sensor.Temperature&type=float&aggregate=max&aggregation_interval=week&week_start=Monday&\(day)"
        ),
        .init(
            "G", "GET",
            "user/nodes/tsdata?node_id=own&param_name=Sensor.Temperature&aggregate=count&aggregation_interval=day&num_intervals=7"
        ),
        .init(
            "T", "GET",
            "user/nodes/tsdata?node_id=own&param_name=Sensor.Energy&type=float&differential=true&reset_on_negative=true&desc_order=true&\(day)"
        ),
        .init(
            "T", "GET",
            "user/nodes/simple_tsdata?node_id=own&param_name=Sensor.Humidity&type=float&\(day)&num_records=50"
        ),
        .init(
            "A", "GET",
            "user/nodes/simple_tsdata?node_id=own&param_name=Sensor.Humidity&data_type=float&aggregate=raw&week_start=Monday&\(day)"
        ),
        .init(
            "T", "GET",
            "user/nodes/simple_tsdata?query_type=aggregates&node_id=own&param_name=Sensor.Humidity&type=float&window=daily&start_date=2021-08-09&end_date=2021-08-11"
        ),
        .init(
            "T", "GET",
            "user/nodes/simple_tsdata?query_type=aggregates&node_id=own&param_name=Sensor.Humidity&type=float&date=2021-08-10T01&window=hourly"
        ),
        // Values, schedules and scenes.
        .init("C", "PUT", "user/nodes/params?nodeid=own", ["Light": ["Power": true]]),
        .init("A", "PUT", "user/nodes/params?nodeid=own", ["Schedule": ["Schedules": [schedule]]]),
        .init(
            "D", "PUT", "user/nodes/params",
            [
                ["node_id": "own", "payload": ["Schedule": ["Schedules": [schedule]]]],
                ["node_id": "second", "payload": ["Schedule": ["Schedules": [schedule]]]],
            ]),
        .init(
            "I", "PUT", "user/nodes/params",
            [
                ["node_id": "own", "payload": ["Scenes": ["Scenes": [scene]]]],
                ["node_id": "second", "payload": ["Scenes": ["Scenes": [scene]]]],
            ]),
        .init(
            "A", "PUT", "user/nodes/params?nodeid=own",
            ["Schedule": ["Schedules": [["id": "8D36", "operation": "enable"]]]]),
        .init(
            "I", "PUT", "user/nodes/params?nodeid=own",
            ["Scenes": ["Scenes": [["name": "Film", "id": "1112", "operation": "remove"]]]]),
        // Nodes.
        .init(
            "C", "GET",
            "user/nodes?node_details=true&status=true&config=true&params=true&show_tags=true&is_matter=false"),
        .init("A", "GET", "user/nodes?tags=room:kitchen%20OR%20floor:0"),
        .init("C", "PUT", "user/nodes?node_id=own", ["tags": ["room:kitchen"], "metadata": ["a": 1]]),
        // Updates.
        .init("T", "GET", "user/nodes/ota_update?node_id=own"),
        // Sharing.
        .init(
            "C", "PUT", "user/nodes/sharing",
            [
                "nodes": ["own"], "user_name": "friend@example.com", "sub_role": 2,
                "metadata": ["devices": [["name": "Lamp"]]],
            ]),
        .init("C", "GET", "user/nodes/sharing/requests?primary_user=true&num_records=10"),
        .init("T", "DELETE", "user/nodes/sharing/requests?request_id=OFFER"),
        .init(
            "C", "PUT", "user/nodes/sharing",
            ["nodes": ["own"], "user_name": "friend@example.com", "transfer": true, "new_role": "secondary"]),
        .init("G", "GET", "user/nodes/sharing?node_id=own"),
        // Groups.
        .init(
            "C", "POST", "user/node_group",
            [
                "group_name": "Home", "type": "home", "mutually_exclusive": true, "nodes": ["own"],
                "description": "Ours", "custom_data": ["a": 1], "group_metadata": ["b": 2], "is_matter": false,
            ]),
        .init("C", "POST", "user/node_group", ["group_name": "Kitchen", "parent_group_id": "GROUP", "type": "room"]),
        .init("M", "PUT", "user/node_group?group_id=GROUP", ["operation": "add", "nodes": ["second"]]),
        .init("T", "PUT", "user/node_group?group_id=ROOM", ["group_metadata": ["icon": 3]]),
        .init("T", "GET", "user/node_group?group_id=GROUP&sub_groups=true&node_list=true&node_details=true"),
        .init("T", "GET", "user/node_group/sharing?group_id=GROUP&sub_groups=true&metadata=true"),
        // Automations.
        .init(
            "A", "POST", "user/node_automation",
            [
                "name": "Hot", "event_type": "node_params", "node_id": "own",
                "events": [["params": ["Sensor": ["Temperature": 30]], "check": ">="]], "event_operator": "and",
                "actions": [["node_id": "second", "params": ["Light": ["Power": true]]]], "retrigger": false,
                "metadata": "{\"icon\":1}",
            ]),
        .init(
            "T", "POST", "user/node_automation",
            [
                "name": "Rain", "event_type": "weather", "location": ["latitude": "18.52", "longitude": "73.85"],
                "events": [["params": ["weather_condition": "Rain"], "check": "=="]],
                "actions": [["node_id": "own", "params": ["Light": ["Power": true]]]], "metadata": ["a": 1],
            ]),
        .init(
            "T", "POST", "user/node_automation",
            [
                "name": "Evening", "event_type": "daylight", "location": ["latitude": "18.52", "longitude": "73.85"],
                "events": [["params": ["sunset": true], "check": "=="]],
                "actions": [["node_id": "own", "params": ["Light": ["Power": true]]]],
            ]),
        .init("A", "PUT", "user/node_automation?automation_id=AUTOMATION", ["enabled": false]),
        .init("G", "GET", "user/node_automation?node_id=own&num_records=25"),
        // Commands.
        .init(
            "C", "POST", "user/nodes/cmd",
            ["node_ids": ["own"], "cmd": 4096, "timeout": 30, "override": true, "is_base64": false, "data": ["a": 1]]),
        .init("T", "GET", "user/nodes/cmd?status=requested&num_records=10"),
        .init("T", "GET", "user/nodes/cmd?node_id=own&cmd_id=4096&start_time=0&end_time=4000000000&desc_order=false"),
        .init("T", "DELETE", "user/nodes/cmd?request_id=COMMAND"),
        // The account.
        .init(
            "T", "PUT", "user/custom_data",
            [
                "geoCoordinates": ["value": ["latitude": "18.52", "longitude": "73.85"]],
                "timeZone": ["value": "Asia/Kolkata"],
            ]
        ),
        .init(
            "A", "POST", "user/push_notification/mobile_platform_endpoint",
            ["platform": "GCM", "mobile_device_token": "t1", "platform_type": "GCM"]),
        .init("T", "GET", "user/push_notification/mobile_platform_endpoint"),
        .init("T", "DELETE", "user/push_notification/mobile_platform_endpoint?mobile_device_token=t1"),
        .init(
            "T", "POST", "user/event_filter",
            [
                "event_type": "rmaker.event.node_connected", "entity_id": "own", "entity_type": "NODE",
                "enabled": false, "enabled_for_integrations": [],
            ]),
        .init("T", "GET", "user/event_filter?entity_type=NODE"),
        .init("G", "POST", "user/data-requests", [:]),
    ]

    @Test("each request is accepted, in this order")
    func accepted() throws {
        let cloud = try TestCloud(nodes: ["own", "second"])
        let token = try cloud.signIn().access
        try cloud.map("own", token: token)
        try cloud.map("second", token: token)
        try cloud.api.addUser(name: "friend@example.com", password: TestCloud.password)
        #expect(Self.table.count >= 40)
        var ids: [String: String] = [:]
        for request in Self.table {
            func filled(_ text: String) -> String {
                ids.reduce(text) { $0.replacing($1.key, with: $1.value) }
            }
            let body = try request.body.map {
                try JSONValue(parsing: Array(filled(String(decoding: $0.serialized(), as: UTF8.self)).utf8))
            }
            let answer = cloud.send(request.method, "/v1/" + filled(request.target), body, token: token)
            let place = "[\(request.source)] \(request.method) \(request.target): \(answer.body)"
            #expect(answer.status == request.status, "\(place)")
            if let id = answer.body["group_id"]?.string { ids[ids["GROUP"] == nil ? "GROUP" : "ROOM"] = id }
            if let id = answer.body["automation_id"]?.string { ids["AUTOMATION"] = id }
            if let id = answer.body["request_id"]?.string {
                if request.target == "user/nodes/sharing" { ids["OFFER"] = id }
                if request.target == "user/nodes/cmd" { ids["COMMAND"] = id }
            }
        }
        #expect(Set(ids.keys) == ["GROUP", "ROOM", "AUTOMATION", "OFFER", "COMMAND"])
    }
}
