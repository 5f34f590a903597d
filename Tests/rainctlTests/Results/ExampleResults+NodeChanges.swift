// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

@testable import RainMaker
@testable import rainctl

extension ExampleResults {
    static let nodeChanges: [any CommandResult] = [
        ActionResult("Created group Home (G1)").with("group_id", "G1").with("name", "Home"),
        ActionResult("Changed group Home").with("group_id", "G1").with("changed", true),
        ActionResult("Removed group Home").with("group_id", "G1").with("removed", true),
        ActionResult("Added N1 to group Home").with("group_id", "G1").with("added", ["N1"]).with("already", [String]()),
        ActionResult("Removed N1 from group Home").with("group_id", "G1").with("removed", ["N1"]),
        ActionResult("Created automation Both (A1)").with("automation_id", "A1").with("name", "Both"),
        ActionResult("Offered N1 to b@x").with("request_id", "R1").with("ids", ["N1"]).with("user_name", "b@x"),
        ActionResult("Declined the offer").with("request_id", "R1").with("accepted", false),
        ActionResult("Cancelled 2 commands").with("cancelled", true).with("count", 2).with("node_id", "N1"),
        ActionResult("Withdrew the offer").with("request_id", "R1").with("cancelled", true),
        ActionResult("Set x of the metadata of Lamp").with("node_id", "N1").with("set", ["x"]).with(
            "deleted", [String]()),
        ActionResult("Deleted x of the metadata of Lamp").with("node_id", "N1").with("deleted", ["x"]),
        ActionResult("Added a:b to the tags of Lamp").with("node_id", "N1").with("tags", ["a:b"]),
        ActionResult("Already there: a:b", isChange: false).with("node_id", "N1").with("tags", ["a:b"])
            .with("added", [String]()).with("already", ["a:b"]),
        EntryListResult(NodeID("N1"), [schedule, weekend], member: "schedules"),
        EntryListResult(NodeID("N1"), [], member: "scenes"),
        EntryListResult(NodeID("N1"), [scene], member: "scenes"),
        EntryResult(
            EntryOutcome(
                node: NodeID("N1"), id: "A1", name: "Evening", operation: .edit, seen: "is offline", changesTime: true),
            noun: "schedule", of: "Lamp"),
        EntryResult(
            EntryOutcome(node: NodeID("N1"), id: "A1", name: "Evening", operation: .add, isReported: true),
            noun: "schedule", of: "Kitchen lamp"),
        EntryResult(
            EntryOutcome(node: NodeID("N1"), id: "A1", operation: .edit, changesTime: true), noun: "schedule", of: "N1"),
        EntryGroupListResult(
            [
                EntryGroup(
                    service: .schedules, id: "A1",
                    copies: [
                        .init(node: NodeID("N1"), nodeName: "Lamp", entry: schedule),
                        .init(node: NodeID("N2"), nodeName: "Fan", entry: schedule),
                    ]),
                EntryGroup(
                    service: .schedules, id: "B2",
                    copies: [
                        .init(node: NodeID("N1"), nodeName: "Lamp", entry: weekend),
                        .init(node: NodeID("N2"), nodeName: "Fan", entry: otherWeekend),
                    ]),
            ], of: .schedules),
        EntryGroupListResult([], of: .scenes),
        EntryGroupListResult(
            [
                EntryGroup(
                    service: .scenes, id: "C3",
                    copies: [
                        .init(node: NodeID("N1"), nodeName: "Lamp", entry: scene),
                        .init(node: NodeID("N2"), nodeName: "Fan", entry: otherScene),
                    ])
            ], of: .scenes),
        EntryBoardsResult(
            [
                EntryOutcome(node: NodeID("N1"), id: "A1", name: "Evening", operation: .edit, isReported: true),
                EntryOutcome(node: NodeID("N2"), id: "A1", name: "Evening", operation: .add, isReported: false),
                EntryOutcome(node: NodeID("N3"), id: "A1", name: "Evening", operation: .edit, seen: "is offline"),
                EntryOutcome(
                    node: NodeID("N4"), id: "A1", name: "Evening", operation: .edit, failure: "no such node",
                    serverCode: 100_015),
                EntryOutcome(node: NodeID("N5"), id: "A1", name: "Evening", operation: .edit, isUnchanged: true),
                EntryOutcome(node: NodeID("N6"), id: "A1", name: "Evening", operation: .remove, isReported: true),
                EntryOutcome(
                    node: NodeID("N7"), id: "A1", name: "Evening", operation: .edit,
                    unknown: AccountError(.timeout, message: "no answer"), isSendingUnknown: true),
            ], noun: "schedule", names: [NodeID("N1"): "Kitchen lamp"]),
        EntryBoardsResult(
            [
                EntryOutcome(node: NodeID("N1"), id: "C3", operation: .activate),
                EntryOutcome(node: NodeID("N2"), id: "C3", operation: .activate),
            ], noun: "scene", names: [:]),
        DeviceChangeResult(
            [
                .init(
                    name: "Kitchen lamp", change: power, isLocal: true,
                    parameters: .init(node: NodeID("N1"), isReported: true)),
                .init(name: "Fan", change: power, isLocal: false, parameters: .init(node: NodeID("N2"))),
                .init(
                    name: "Hall", change: power, isLocal: false,
                    parameters: .init(node: NodeID("N3"), failure: "no such node", serverCode: 100_015)),
                .init(
                    name: "Desk", change: power, isLocal: false,
                    parameters: .init(node: NodeID("N4"), isReported: false, seen: "is offline")),
            ], .power(true)),
        DeviceChangeResult(
            [
                .init(
                    name: "Light", change: power, isLocal: false,
                    parameters: .init(node: NodeID("N1"), isReported: true))
            ],
            .toggle),
        DeviceChangeResult(
            [
                .init(
                    name: "Hall", change: .init(.init(component: "Fan", parameter: "Speed"), 3), isLocal: false,
                    parameters: .init(node: NodeID("N1"), isReported: true))
            ], .primaryText("3")),
        CommandRecordsResult(
            NodeCommandAnswers(
                request: NodeCommandRequest(
                    id: RequestID("R1"),
                    refused: [ParameterOutcome(node: NodeID("N4"), failure: "not yours", serverCode: 100_010)]),
                records: [
                    NodeCommandRecord(["node_id": "N1", "status": "success", "response_data": ["a": 1]])!,
                    NodeCommandRecord([
                        "node_id": "N2", "status": "failure", "status_description": "command not found",
                    ])!,
                    NodeCommandRecord(["node_id": "N3", "status": "timed_out"])!,
                ])),
        CommandListResult(
            NodeID("N1"),
            [
                NodeCommandRecord([
                    "node_id": "N1", "request_id": "R2", "cmd": 4096, "status": "success", "response_data": ["a": 1],
                    "request_timestamp": 1_700_000_000,
                ])!,
                NodeCommandRecord([
                    "node_id": "N1", "request_id": "R1", "cmd": 4097, "status": "failure",
                    "status_description": "command not found",
                ])!, NodeCommandRecord(["node_id": "N1"])!,
            ]), CommandListResult(NodeID("N1"), []), CommandListResult(nil, []),
        CommandListResult(
            nil,
            [
                NodeCommandRecord([
                    "node_id": "N2", "request_id": "R3", "cmd": 4096, "status": "cancelled",
                    "request_timestamp": 1_700_000_000,
                ])!
            ]),
        UpdateResult(NodeID("N1"), image, state: "success", info: "done", name: "Lamp"),
        UpdateOfferResult(
            UpdateOffer(
                job: UpdateJob(
                    id: "J1", version: "2.0", size: 1_000_000, md5: "0123456789abcdef0123456789abcdef",
                    metadata: [
                        "download_window": ["start": 1380, "end": 120],
                        "validity": ["start": 1_700_000_000, "end": 1_800_000_000],
                    ]), description: "A new version"), for: askingNode),
        UpdateOfferResult(UpdateOffer(description: "No update"), for: Node(["id": "N1"])!),
        UpdateJobResult(UpdateJob(id: "J1"), at: Node(["id": "N1"])!, nil),
        UpdateJobResult(
            UpdateJob(id: "J1", version: "2.0"), at: Node(["id": "N1"])!,
            UpdateJobReport(
                state: "in-progress", info: "Downloading Firmware Image", time: UnixTime(seconds: 1_700_000_000))),
        UpdateJobResult(UpdateJob(id: "J1"), at: Node(["id": "N1"])!, UpdateJobReport(state: "completed")),
    ]

    static let sharing: [any CommandResult] = [
        SharingListResult([
            Sharing(["node_id": "N1", "users": ["primary": ["a@x"], "secondary": ["b@x", "c@x"]]], .nodes)!,
            Sharing(["node_id": "N2", "users": ["primary": ["a@x"]]], .nodes)!,
        ]),
        SharingRequestsResult(
            [
                SharingRequest([
                    "request_id": "R1", "request_status": "pending", "node_ids": ["N1"], "user_name": "b@x",
                    "primary_user_name": "a@x", "request_timestamp": 1_700_000_000, "transfer": true,
                    "metadata": ["devices": [["name": "Kitchen lamp"]]],
                ])!,
                SharingRequest([
                    "request_id": "R2", "request_status": "pending", "group_ids": ["G1"], "group_names": ["Home"],
                    "primary_user_name": "a@x",
                ])!,
            ], areSent: false),
        GroupListResult([home]),
        GroupListResult([site]),
        GroupShowResult(home),
        GroupShowResult(site),
        AutomationListResult([automation]),
        AutomationListResult([atSunset]),
    ]

    /// A board that asks for approval itself.
    private static let askingNode = Node([
        "id": "N1",
        "config": [
            "info": ["fw_version": "1.0"],
            "services": [
                [
                    "name": "OTA", "type": "esp.service.ota",
                    "params": [
                        ["name": "Operation", "type": "esp.param.ota_operation"],
                        ["name": "Info", "type": "esp.param.ota_info"],
                    ],
                ]
            ],
        ], "params": ["OTA": ["Info": ["ota_job_id": "J1"]]],
    ])!
    private static let power = ParameterChange(ParameterPath(component: "Light", parameter: "Power"), true)
    private static let schedule = ServiceEntry([
        "id": "A1", "name": "Evening", "enabled": true, "triggers": [["m": 1170, "d": 31]],
        "action": ["Light": ["Power": true]], "extra": 7,
    ])!
    private static let weekend = ServiceEntry([
        "id": "B2", "name": "Off", "enabled": false, "triggers": [["rsec": 90]], "action": [:],
    ])!
    private static let otherWeekend = ServiceEntry([
        "id": "B2", "name": "Off", "enabled": true, "triggers": [["rsec": 90]], "action": [:],
    ])!
    private static let scene = ServiceEntry([
        "id": "C3", "name": "Cosy", "info": "For the evening", "action": ["Light": ["Brightness": 20]],
    ])!
    private static let otherScene = ServiceEntry([
        "id": "C3", "name": "Cosy", "action": ["Fan": ["Speed": 1]],
    ])!
    private static let home = NodeGroup([
        "group_id": "G1", "group_name": "Home", "type": "home", "description": "Ours", "nodes": ["N1", "N2"],
        "parent_group_id": "G0", "group_metadata": ["icon": 3],
        "custom_data": ["city": "Oslo"], "sub_groups": [["group_id": "G2", "group_name": "Kitchen"]],
    ])!
    private static let site = NodeGroup([
        "group_id": "G1", "group_name": "Site",
        "sub_groups": [["group_id": "G2", "group_name": "Hall", "type": "room"]],
    ])!
    private static let automation = Automation([
        "automation_id": "A1", "name": "Both", "enabled": true, "event_type": "node_params", "node_id": "N1",
        "event_operator": "or",
        "events": [
            ["params": ["Light": ["Power": false]], "check": "=="], ["params": ["Room": ["Heat": 30]], "check": ">"],
        ], "actions": [["node_id": "N2", "params": ["Light": ["Power": false]]]],
    ])!
    private static let atSunset = Automation([
        "automation_id": "A2", "name": "Evening", "event_type": "daylight",
        "location": ["latitude": "59.91", "longitude": "10.75"],
        "events": [["params": ["sunset": true], "check": "=="]],
        "actions": [["node_id": "N2", "params": ["Light": ["Power": true]]]],
    ])!
    private static let image: FirmwareImage = {
        var bytes = [UInt8](repeating: 0, count: 288)
        // An image without segments, and the checksum of such an image.
        (bytes[0], bytes[12], bytes[31]) = (0xE9, 5, 0xEF)
        bytes.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
        bytes.replaceSubrange(48..<51, with: Array("2.0".utf8))
        bytes.replaceSubrange(80..<89, with: Array("led_light".utf8))
        return try! FirmwareImage(bytes)
    }()
}
