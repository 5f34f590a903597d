// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

@testable import RainMaker
@testable import rainctl

extension GoldenResult {
    static let node: [GoldenResult] = [
        GoldenResult(
            NodeShowResult(whole),
            json: """
                {"node_id":"N1","name":"Kitchen lamp","type":"Lightbulb","model":"led_light","firmware_version":"1.0",\
                "role":"primary","connected":true,"since":"2023-11-14T22:13:20.000Z","tags":["room:kitchen"],\
                "metadata":{"x":1},"params":{"Light":{"Name":"Kitchen lamp"}}}
                """,
            text: """
                node id: N1
                name: Kitchen lamp
                type: Lightbulb
                model: led_light
                firmware: 1.0
                role: primary
                online since 2023-11-14T22:13:20.000Z
                tags: room:kitchen
                Light (esp.device.lightbulb)
                  Light.Name: Kitchen lamp
                  Light.Power: not reported yet  (read only)
                """),
        GoldenResult(
            NodeStatusResult(Node(["id": "N1", "status": ["connectivity": ["connected": false, "timestamp": 0]]])!),
            json: #"{"node_id":"N1","connected":false}"#, text: "offline, never seen"),
        GoldenResult(
            NodeStatusResult(whole),
            json: #"{"node_id":"N1","connected":true,"since":"2023-11-14T22:13:20.000Z"}"#,
            text: "online since 2023-11-14T22:13:20.000Z"),
        GoldenResult(
            NodeDocumentResult(node: NodeID("N1"), member: "config", document: ["info": ["name": "Lamp"]]),
            json: #"{"node_id":"N1","config":{"info":{"name":"Lamp"}}}"#,
            text: "{\n  \"info\": {\n    \"name\": \"Lamp\"\n  }\n}"),
        GoldenResult(
            NodeDocumentResult(node: NodeID("N1"), member: "metadata", document: ["x": 1]),
            json: #"{"node_id":"N1","metadata":{"x":1}}"#, text: "{\n  \"x\": 1\n}"),
        GoldenResult(
            ParamsResult(node: NodeID("N1"), .init(params: lamp, isSingle: false)),
            json: #"{"node_id":"N1","params":{"Light":{"Name":"Lamp","Power":true}}}"#,
            text: "Light.Name: Lamp\nLight.Power: true"),
        GoldenResult(
            ParamsResult(node: NodeID("N1"), .init(params: ["Light": ["Power": true]], isSingle: true)),
            json: #"{"node_id":"N1","params":{"Light":{"Power":true}}}"#, text: "true"),
        GoldenResult(
            ParamsSetResult([
                .init(node: NodeID("N1"), isReported: true), .init(node: NodeID("N2")),
                .init(node: NodeID("N3"), failure: "no such node", serverCode: 100_015),
                .init(node: NodeID("N4"), isReported: false),
                .init(
                    node: NodeID("N5"), unreported: [.init(component: "System", parameter: "Reboot")], isSentOnly: true),
                .init(node: NodeID("N6"), isReported: false, seen: "reports Light.Hue=30"),
            ]),
            json: """
                {"nodes":[{"node_id":"N1","state":"reported"},{"node_id":"N2","state":"sent"},\
                {"node_id":"N3","state":"failed","message":"no such node","error_code":100015},\
                {"node_id":"N4","state":"silent"},\
                {"node_id":"N5","state":"sent","not_reported":["System.Reboot"]},\
                {"node_id":"N6","state":"silent","message":"reports Light.Hue=30"}]}
                """,
            text: """
                N1  has it
                N2  sent by the cloud; the board has not answered yet (--wait waits for that)
                N3  failed: no such node
                N4  sent by the cloud; the board has not reported it in time
                N5  sent by the cloud; the board does not report it back
                N6  sent by the cloud; the board has not reported it in time; it reports Light.Hue=30
                """),
        GoldenResult(
            NodeRemovedResult(nodeID: "N1"), json: #"{"node_id":"N1","removed":true}"#,
            text: "N1 is no longer in your account."),
    ]

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
