// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import RainMaker

extension MCPTool.Argument {
    static let node = Self(name: "node_id", isRequired: true, help: "The board: its node id (or its name).")
    static let nodes = Self(
        name: "node_id", isRequired: true,
        help: "One or more boards: node ids (or names), separated by commas, such as node1,node2.")
}

extension MCPTool {
    /// Tools for the boards of the account and their values.
    static let nodeTools: [MCPTool] = [
        MCPTool(
            "get_nodes", "List boards",
            "Lists the boards in the account, with node id, name, model and role, and whether each board is online.",
            schema: "node-list"
        ) { call in
            try await call.command("node.list", [:])
        },
        MCPTool(
            "get_node_status", "Connection of a board", "Returns whether a board is online, and since when.", [.node],
            schema: "node-status"
        ) { call in
            try await call.command("node.status", ["node": call["node_id"]])
        },
        MCPTool(
            "get_params", "Values of a board",
            "Returns the values that a board last reported, by device and parameter: {\"Light\":{\"Power\":true}}.",
            [.node], schema: "params"
        ) { call in
            let document = try await call.command("node.params.get", ["node": call["node_id"]])
            guard document["params"] != nil else {
                throw call.failure(" reads one board at a time: give one node_id.")
            }
            return document
        },
        MCPTool(
            "set_params", "Set values of boards",
            """
            Sets values of one or more boards. The server first checks names, types and bounds (see get_node_config). The cloud forwards \
            the values, and does not wait for the board. With wait, the result shows whether the board has reported the values.
            """,
            [
                .nodes,
                Argument(
                    name: "params_dict", kind: .object, isRequired: true,
                    help: "The values by device and parameter, such as {\"Light\":{\"Power\":true,\"Brightness\":40}}."),
                Argument(
                    name: "wait", kind: .boolean,
                    help: "Wait until the boards have reported the values (default: false)."),
            ], access: .changes, isDestructive: true, schema: "params-set"
        ) { call in
            let values = call["params_dict"] ?? [:]
            guard let changes = [ParameterChange](values), !changes.isEmpty else {
                throw call.failure(": params_dict must be an object such as {\"Light\":{\"Power\":true}}.")
            }
            return try await call.command(
                "node.params.set", ["nodes": call["node_id"], "wait": call["wait"]],
                files: ["file": String(decoding: values.serialized(), as: UTF8.self)])
        },
        MCPTool(
            "get_node_details", "Details of boards",
            """
            Returns boards with name, type, model, firmware, connection, tags, metadata and values in one call. Call this tool first. Give fields \
            if only a part is needed.
            """,
            [
                Argument(
                    name: "node_id", help: "Only these boards: node ids (or names), separated by commas (default: all)."
                ),
                Argument(
                    name: "fields",
                    help: """
                        Only these fields, separated by commas: node_id, name, type, model, firmware_version, role, status, tags, metadata, \
                        params, params.DEVICE, params.DEVICE.PARAM.
                        """),
                Argument(name: "name", help: "Only boards whose name contains this text."),
                Argument(name: "type_", help: "Only boards whose type contains this text, such as light."),
            ], schema: "node-show-list"
        ) { call in
            let fields = try call.list("fields").map { try NodeFields($0, of: call) }
            let (names, name, type) = (call.text("node_id"), call.text("name"), call.text("type_"))
            let document = try await call.ask { scene in
                let nodes = try await scene.time.run {
                    if let names { return try await scene.client.nodes(listed: names) }
                    return try await scene.client.allNodes()
                }
                let chosen = nodes.filter { $0.displayName.contains(name) && $0.type.contains(type) }
                return NodeShowListResult(nodes: chosen.map { NodeShowResult($0) })
            }
            return fields?.kept(of: document) ?? document
        },
        MCPTool(
            "get_node_config", "Devices and parameters of a board",
            "Returns a board's node configuration: its devices, and their parameters with types, bounds and properties.",
            [.node], schema: "node-document"
        ) { call in
            try await call.command("node.config", ["node": call["node_id"]])
        },
        MCPTool(
            "get_history", "History of values",
            """
            Returns the past values of parameters, or one result for each hour, day or other unit of time. The cloud keeps the history of \
            a parameter only if the board's firmware requests this.
            """,
            [
                .nodes,
                Argument(
                    name: "params", kind: .strings, isRequired: true,
                    help: "The parameters, such as [\"Sensor.Temperature\"]."),
                Argument(
                    name: "since",
                    help:
                        "Only records that are at most this old, such as 30m, 24h or 7d (default: 24h, or longer with every)."
                ),
                Argument(
                    name: "from",
                    help: "Only records from this time on, such as 2026-03-29 or 2026-03-29T14:00Z (not with since)."),
                Argument(name: "to", help: "Only records before this time (default: now)."),
                Argument(
                    name: "every", values: SeriesInterval.allCases.map(\.rawValue),
                    help: "One result for each unit of time instead of all records."),
                Argument(
                    name: "aggregate", values: SeriesAggregate.allCases.map(\.rawValue),
                    help: "The result for each unit of every (default: avg for numbers, latest for texts and switches)."
                ),
                Argument(name: "timezone", help: "The time zone for days and hours, such as Europe/Berlin."),
                Argument(
                    name: "limit", kind: .integer(1...10_000),
                    help: "At most this many records of each parameter, beginning with the oldest (default: 1000)."),
            ], schema: "history"
        ) { call in
            try await call.command(
                "node.history",
                [
                    "nodes": call["node_id"], "paths": call["params"], "since": call["since"], "from": call["from"],
                    "to": call["to"], "every": call["every"], "aggregate": call["aggregate"],
                    "timezone": call["timezone"], "limit": call["limit"] ?? 1000, "timeout": "60s",
                ])
        },
        MCPTool(
            "rename_node", "Rename a board",
            "Gives a board another name.",
            [.node, Argument(name: "name", isRequired: true, help: "The new name.")], access: .changes,
            isDestructive: true, isIdempotent: true, schema: "params-set"
        ) { call in
            try await call.command("node.rename", ["node": call["node_id"], "name": call["name"]])
        },
        MCPTool(
            "remove_node", "Remove a board",
            "Removes a board from the account. To add the board again, somebody must provision it.", [.node],
            access: .named, isDestructive: true, isIdempotent: true, schema: "node-removed"
        ) { call in
            try await call.command("node.remove", ["node": call["node_id"], "yes": true])
        },
        MCPTool(
            "get_automations", "List automations",
            "Lists the automations of the account: their triggers and their actions.", schema: "automation-list"
        ) { call in
            try await call.command("automation.list", [:])
        },
    ]
}

extension RainKitClient {
    func allNodes() async throws -> [Node] {
        var nodes: [Node] = []
        try await eachNode { nodes.append($0) }
        return nodes
    }
}

extension String? {
    /// Whether the text has another one in it, without regard to case; nil has only nil in it.
    fileprivate func contains(_ part: String?) -> Bool {
        guard let part else { return true }
        return self?.lowercased().contains(part.lowercased()) == true
    }
}

/// The members of a board that a call wants: ours, or those of the cloud's document that Espressif's server takes.
private struct NodeFields {
    private static let names: [String: [String]] = [
        "config": ["name", "type", "model", "firmware_version"],
        "config.info": ["name", "type", "model", "firmware_version"], "config.info.fw_version": ["firmware_version"],
        "config.info.model": ["model"], "config.info.name": ["name"], "config.info.type": ["type"],
        "connected": ["connected"], "firmware_version": ["firmware_version"], "id": [], "metadata": ["metadata"],
        "model": ["model"], "name": ["name"], "node_id": [], "params": ["params"], "role": ["role"],
        "since": ["since"], "status": ["connected", "since"], "status.connectivity": ["connected", "since"],
        "status.connectivity.connected": ["connected"], "tags": ["tags"], "type": ["type"],
    ]

    private var members: Set = ["node_id"]
    /// Parts of the values, such as `Light` or `Light.Power`.
    private var params: [String] = []

    init(_ fields: [String], of call: MCPCall) throws(CommandFailure) {
        for field in fields {
            if field.hasPrefix("params."), field.utf8.count > 7 {
                params.append(String(field.dropFirst(7)))
            } else if let known = Self.names[field] {
                members.formUnion(known)
            } else {
                throw call.failure(
                    ": there is no field \"\(field.onOneLine)\". The fields are: "
                        + "\(Self.names.keys.sorted().joined(separator: ", ")), params.DEVICE, params.DEVICE.PARAM.")
            }
        }
    }

    func kept(of document: JSONValue) -> JSONValue {
        let all = (document.members ?? []).map { member in
            guard member.name == "nodes" else { return member }
            return JSONValue.Member("nodes", .array((member.value.array ?? []).map(keptOfNode)))
        }
        return .object(all)
    }

    private func keptOfNode(_ node: JSONValue) -> JSONValue {
        var kept = (node.members ?? []).filter { members.contains($0.name) }
        if !members.contains("params"), !params.isEmpty {
            kept.append(.init("params", keptOfParams(node["params"] ?? [:])))
        }
        return .object(kept)
    }

    private func keptOfParams(_ values: JSONValue) -> JSONValue {
        .object(
            (values.members ?? []).compactMap { device in
                if params.contains(device.name) { return device }
                let own = (device.value.members ?? []).filter { params.contains("\(device.name).\($0.name)") }
                return own.isEmpty ? nil : .init(device.name, .object(own))
            })
    }
}
