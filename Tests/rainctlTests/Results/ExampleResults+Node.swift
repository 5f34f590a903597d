// SPDX-License-Identifier: Apache-2.0
import RainJSON
@testable import RainKit

@testable import RainMaker
@testable import rainctl

extension ExampleResults {
    static let node: [any CommandResult] = [
        NodeListResult(nodes: [
            .init(nodeID: "N1", name: "Lamp", model: "m", role: "primary", connected: true),
            .init(nodeID: "N2", name: nil, model: nil, role: nil, connected: false),
            .init(nodeID: "N3", name: nil, model: nil, role: nil, connected: nil),
        ]),
        NodeListResult(nodes: []),
        NodeShowResult(whole, now: later),
        NodeShowListResult(nodes: [NodeShowResult(whole, now: later), NodeShowResult(Node(["id": "N2"])!, now: later)]),
        NodeStatusResult(Node(["id": "N1", "status": ["connectivity": ["connected": false, "timestamp": 0]]])!),
        NodeStatusResult(whole, now: later),
        NodeDocumentResult(node: NodeID("N1"), member: "config", document: ["info": ["name": "Lamp"]]),
        NodeDocumentResult(node: NodeID("N1"), member: "metadata", document: ["x": 1]),
        ParamsResult(node: NodeID("N1"), .init(params: lamp, isSingle: false)),
        ParamsResult(node: NodeID("N1"), .init(params: ["Light": ["Power": true]], isSingle: true)),
        ParamsListResult(nodes: [
            ParamsResult(node: NodeID("N1"), .init(params: lamp, isSingle: false)),
            ParamsResult(node: NodeID("N2"), .init(params: ["Light": ["Power": true]], isSingle: true)),
        ]),
        ParamsSetResult(
            [.init(node: NodeID("N1"), isReported: true)], names: ["N1": "Light"], newName: "Kitchen lamp"),
        ParamsSetResult([
            .init(node: NodeID("N1"), isReported: true), .init(node: NodeID("N2")),
            .init(node: NodeID("N3"), failure: "no such node", serverCode: 100_015),
            .init(node: NodeID("N4"), isReported: false),
            .init(
                node: NodeID("N5"), unreported: [.init(component: "System", parameter: "Reboot")], isSentOnly: true),
            .init(node: NodeID("N6"), isReported: false, seen: "reports Light.Hue=30"),
        ]),
        NodeRemovedResult(nodeID: "N1", name: "Kitchen lamp"),
        HistoryResult(
            from: "2026-03-28T23:00:00.000Z", to: "2026-03-29T22:00:00.000Z", timezone: "Europe/Berlin",
            series: [
                .init(
                    nodeID: "N1", name: "Greenhouse", param: "Sensor.Temperature", kind: "full", dataType: "float",
                    aggregate: "avg", interval: "hour", count: 2, min: 20.5, avg: 21, max: 21.5, isCut: true,
                    records: [
                        .init(time: "2026-03-29T00:00:00.000Z", value: 20.5),
                        .init(time: "2026-03-29T01:00:00.000Z", value: 21.5),
                    ]),
                .init(
                    nodeID: "N2", name: "Door", param: "Door.State", kind: "simple", dataType: "string",
                    aggregate: "raw", interval: nil, count: 1, min: nil, avg: nil, max: nil, isCut: nil,
                    records: [.init(time: "2026-03-29T00:00:10.000Z", value: "open")]),
            ],
            lines: [
                "2026-03-29T01:00:00+01:00  Greenhouse Sensor.Temperature  20.5",
                "2026-03-29T03:00:00+02:00  Greenhouse Sensor.Temperature  21.5",
                "2026-03-29T01:00:10+01:00  Door Door.State  open",
            ]),
        HistoryResult(from: "", to: "", timezone: "UTC", series: [], lines: []),
    ]

    /// Two hours after the node came online.
    private static let later = UnixTime(seconds: 1_700_007_200)
    private static let whole = Node([
        "id": "N1", "role": "primary", "tags": ["room:kitchen"], "metadata": ["x": 1],
        "status": ["connectivity": ["connected": true, "timestamp": 1_700_000_000_000]],
        "config": [
            "info": ["name": "ESP RainMaker Device", "fw_version": "1.0", "type": "Lightbulb", "model": "led_light"],
            "devices": [
                [
                    "name": "Light", "type": "esp.device.lightbulb",
                    "params": [
                        [
                            "name": "Name", "type": "esp.param.name", "data_type": "string",
                            "properties": ["read", "write"],
                        ],
                        ["name": "Power", "data_type": "bool", "properties": ["read"]],
                    ],
                ]
            ],
        ],
        "params": ["Light": ["Name": "Kitchen lamp"]],
    ])!

    private static let lamp: JSONValue = ["Light": ["Name": "Lamp", "Power": true]]
}
