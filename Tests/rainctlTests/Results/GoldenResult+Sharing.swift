// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

@testable import RainMaker
@testable import rainctl

extension GoldenResult {
    static let nodeLists: [GoldenResult] = [
        GoldenResult(
            ActionResult("made: Home, G1").with("group_id", "G1").with("name", "Home"),
            json: #"{"group_id":"G1","name":"Home"}"#, text: "made: Home, G1"),
        GoldenResult(
            ActionResult("changed: Home").with("group_id", "G1").with("changed", true),
            json: #"{"group_id":"G1","changed":true}"#, text: "changed: Home"),
        GoldenResult(
            ActionResult("removed: Home").with("group_id", "G1").with("removed", true),
            json: #"{"group_id":"G1","removed":true}"#, text: "removed: Home"),
        GoldenResult(
            ActionResult("added to Home: N1").with("group_id", "G1").with("added", ["N1"]).with("already", [String]()),
            json: #"{"group_id":"G1","added":["N1"],"already":[]}"#, text: "added to Home: N1"),
        GoldenResult(
            ActionResult("taken out of Home: N1").with("group_id", "G1").with("removed", ["N1"]),
            json: #"{"group_id":"G1","removed":["N1"]}"#, text: "taken out of Home: N1"),
        GoldenResult(
            ActionResult("made: Both, A1").with("automation_id", "A1").with("name", "Both"),
            json: #"{"automation_id":"A1","name":"Both"}"#, text: "made: Both, A1"),
        GoldenResult(
            ActionResult("offered").with("request_id", "R1").with("ids", ["N1"]).with("user_name", "b@x"),
            json: #"{"request_id":"R1","ids":["N1"],"user_name":"b@x"}"#, text: "offered"),
        GoldenResult(
            ActionResult("declined").with("request_id", "R1").with("accepted", false),
            json: #"{"request_id":"R1","accepted":false}"#, text: "declined"),
        GoldenResult(
            ActionResult("cancelled").with("request_id", "R1").with("cancelled", true),
            json: #"{"request_id":"R1","cancelled":true}"#, text: "cancelled"),
        GoldenResult(
            ActionResult("set: x").with("node_id", "N1").with("set", ["x"]).with("deleted", [String]()),
            json: #"{"node_id":"N1","set":["x"],"deleted":[]}"#, text: "set: x"),
        GoldenResult(
            ActionResult("deleted: x").with("node_id", "N1").with("deleted", ["x"]),
            json: #"{"node_id":"N1","deleted":["x"]}"#, text: "deleted: x"),
        GoldenResult(
            ActionResult("tags: a:b").with("node_id", "N1").with("tags", ["a:b"]),
            json: #"{"node_id":"N1","tags":["a:b"]}"#, text: "tags: a:b"),
        GoldenResult(
            ActionResult("tags: a:b\nthere already: a:b").with("node_id", "N1").with("tags", ["a:b"])
                .with("added", [String]()).with("already", ["a:b"]),
            json: #"{"node_id":"N1","tags":["a:b"],"added":[],"already":["a:b"]}"#,
            text: "tags: a:b\nthere already: a:b"),
        GoldenResult(
            EntryListResult(NodeID("N1"), [schedule, weekend], member: "schedules"),
            json: """
                {"node_id":"N1","schedules":[{"id":"A1","name":"Evening","enabled":true,"triggers":[{"m":1170,"d":31}],\
                "action":{"Light":{"Power":true}},"extra":7},{"id":"B2","name":"Off","enabled":false,"triggers":[{"rsec":90}],"action":{}}]}
                """,
            text: """
                A1  on   Evening  at 19:30 mon-fri  Light.Power=true
                B2  off  Off  90 s after it was set\(two)
                """),
        GoldenResult(
            EntryListResult(NodeID("N1"), [], member: "scenes"), json: #"{"node_id":"N1","scenes":[]}"#,
            text: "There are no scenes."),
        GoldenResult(
            EntryResult(node: NodeID("N1"), noun: "schedule", id: "A1", operation: .add, isReported: true),
            json: #"{"node_id":"N1","id":"A1","operation":"add","state":"reported"}"#,
            text: "schedule A1: add, the board has it"),
        GoldenResult(
            EntryResult(
                node: NodeID("N1"), noun: "schedule", id: "A1", operation: .edit, isReported: false, changesTime: true),
            json: #"{"node_id":"N1","id":"A1","operation":"edit","state":"sent"}"#,
            text: """
                schedule A1: edit, sent by the cloud; the board has not answered yet. Until it has, an edit of a part of the time \
                keeps the rest of the old one: give --wait, or the whole time
                """),
        GoldenResult(
            CommandRecordsResult(
                RequestID("R1"),
                [
                    NodeCommandRecord(["node_id": "N1", "status": "success", "response_data": ["a": 1]])!,
                    NodeCommandRecord(["node_id": "N2", "status": "failure", "status_description": "command not found"]
                    )!,
                    NodeCommandRecord(["node_id": "N3", "status": "timed_out"])!,
                ], refused: [ParameterOutcome(node: NodeID("N4"), failure: "not yours", serverCode: 100_010)]),
            json: """
                {"request_id":"R1","nodes":[{"node_id":"N1","status":"success","response":{"a":1}},\
                {"node_id":"N2","status":"failure","message":"command not found"},{"node_id":"N3","status":"timed_out"},\
                {"node_id":"N4","status":"refused","message":"not yours","error_code":100010}]}
                """,
            text: """
                N1  {"a":1}
                N2  failed: command not found
                N3  has not answered in time
                N4  was not sent it: not yours
                """),
        GoldenResult(
            UpdateResult(NodeID("N1"), image, state: "success", info: "done"),
            json: """
                {"node_id":"N1","state":"success","info":"done","project":"led_light","version":"2.0","chip":"esp32c3","size":288}
                """, text: "N1  has led_light 2.0"),
    ]

    static let sharing: [GoldenResult] = [
        GoldenResult(
            SharingListResult([
                Sharing(["node_id": "N1", "users": ["primary": ["a@x"], "secondary": ["b@x", "c@x"]]], .nodes)!,
                Sharing(["node_id": "N2", "users": ["primary": ["a@x"]]], .nodes)!,
            ]),
            json: """
                {"shared":[{"id":"N1","primary_users":["a@x"],"secondary_users":["b@x","c@x"]},\
                {"id":"N2","primary_users":["a@x"],"secondary_users":[]}]}
                """,
            text: """
                N1  a@x  shared with b@x, c@x
                N2  a@x
                """),
        GoldenResult(
            SharingRequestsResult(
                [
                    SharingRequest([
                        "request_id": "R1", "request_status": "pending", "node_ids": ["N1"], "user_name": "b@x",
                        "primary_user_name": "a@x", "request_timestamp": 1_700_000_000,
                    ])!
                ], areSent: false),
            json: """
                {"requests":[{"request_id":"R1","status":"pending","ids":["N1"],"user_name":"b@x","owner_name":"a@x",\
                "requested_at":"2023-11-14T22:13:20.000Z"}]}
                """, text: "R1  pending  from a@x  N1"),
        GoldenResult(
            GroupListResult([home]),
            json: """
                {"groups":[{"group_id":"G1","name":"Home","type":"home","groups":[{"group_id":"G2","name":"Kitchen","groups":[]}]}]}
                """,
            text: """
                G1  Home (home)
                  G2  Kitchen
                """),
        GoldenResult(
            GroupShowResult(home),
            json: """
                {"group_id":"G1","name":"Home","type":"home","description":"Ours","parent":"G0","nodes":["N1","N2"],"mutually_exclusive":false,\
                "custom_data":{"city":"Oslo"},"groups":[{"group_id":"G2","name":"Kitchen","groups":[]}]}
                """,
            text: """
                group: G1
                name: Home
                type: home
                description: Ours
                parent: G0
                boards: N1, N2
                within it:
                G2  Kitchen
                """),
        GoldenResult(
            AutomationListResult([automation]),
            json: """
                {"automations":[{"automation_id":"A1","name":"Both","event_type":"node_params","node_id":"N1","event_operator":"or",\
                "events":[{"params":{"Light":{"Power":false}},"check":"=="},{"params":{"Room":{"Heat":30}},"check":">"}],\
                "actions":[{"node_id":"N2","params":{"Light":{"Power":false}}}]}]}
                """,
            text: "A1  on   Both  N1: Light.Power == false or Room.Heat > 30  ->  N2: Light.Power=false"),
    ]

    private static let two = "  "
    private static let schedule = ServiceEntry([
        "id": "A1", "name": "Evening", "enabled": true, "triggers": [["m": 1170, "d": 31]],
        "action": ["Light": ["Power": true]], "extra": 7,
    ])!
    private static let weekend = ServiceEntry([
        "id": "B2", "name": "Off", "enabled": false, "triggers": [["rsec": 90]], "action": [:],
    ])!
    private static let home = NodeGroup([
        "group_id": "G1", "group_name": "Home", "type": "home", "description": "Ours", "nodes": ["N1", "N2"],
        "parent_group_id": "G0",
        "custom_data": ["city": "Oslo"], "sub_groups": [["group_id": "G2", "group_name": "Kitchen"]],
    ])!
    private static let automation = Automation([
        "automation_id": "A1", "name": "Both", "event_type": "node_params", "node_id": "N1", "event_operator": "or",
        "events": [
            ["params": ["Light": ["Power": false]], "check": "=="], ["params": ["Room": ["Heat": 30]], "check": ">"],
        ], "actions": [["node_id": "N2", "params": ["Light": ["Power": false]]]],
    ])!
    private static let image: FirmwareImage = {
        var bytes = [UInt8](repeating: 0, count: 288)
        // Without a segment, and with the checksum of none.
        (bytes[0], bytes[12], bytes[31]) = (0xE9, 5, 0xEF)
        bytes.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
        bytes.replaceSubrange(48..<51, with: Array("2.0".utf8))
        bytes.replaceSubrange(80..<89, with: Array("led_light".utf8))
        return try! FirmwareImage(bytes)
    }()
}
