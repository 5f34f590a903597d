// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

@testable import RainMaker
@testable import rainctl

extension ExampleResults {
    static let mcp: [any CommandResult] = [
        EntryChangesResult(nodes: [
            .init(EntryOutcome(node: NodeID("N1"), id: "A1", operation: .add), isOffline: true),
            .init(failed: .edit, "A1", at: lampNode, CommandFailure(.usage, message: "no such time")),
        ]),
        EntryChangesResult(nodes: []),
        GroupDetailsResult([group], boards: [lampNode.id: lampNode], fields: nil, nodeFields: everyField),
        GroupDetailsResult([], boards: nil, fields: nil, nodeFields: nil),
    ]

    private static let everyField = Set(GroupDetailsResult.nodeFields.values)

    private static let lampNode = Node([
        "id": "N1", "role": "primary", "status": ["connectivity": ["connected": true, "timestamp": 1_700_000_000_000]],
        "config": ["info": ["name": "Lamp", "type": "lightbulb", "model": "m"]],
    ])!

    private static let room: JSONValue = [
        "group_id": "G2", "group_name": "Kitchen", "type": "room", "description": "warm", "parent_group_id": "G1",
        "mutually_exclusive": true, "primary": true, "total": 1, "is_matter": false, "fabric_id": "F1",
        "custom_data": ["floor": 1], "nodes": ["N1"],
    ]

    private static let group = NodeGroup([
        "group_id": "G1", "group_name": "Home", "type": "home", "description": "mine", "parent_group_id": "G0",
        "mutually_exclusive": true, "primary": true, "total": 1, "is_matter": true, "fabric_id": "F1",
        "custom_data": ["floor": 1], "nodes": ["N1"], "sub_groups": [room],
    ])!
}
