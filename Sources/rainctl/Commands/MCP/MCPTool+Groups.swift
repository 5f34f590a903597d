// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import RainMaker

extension MCPTool {
    /// Tools for groups: homes, rooms and others.
    static let groupTools: [MCPTool] = [
        MCPTool(
            "create_group", "Create a group", "Creates a group of boards, such as a home or a room.",
            [
                Argument(name: "name", isRequired: true, help: "The group's name, 2 to 256 bytes."),
                Argument(name: "group_type", help: "The type for applications, such as home or room."),
                Argument(name: "description", help: "A description."),
                Argument(
                    name: "mutually_exclusive", kind: .boolean,
                    help:
                        "Make this group exclusive: of all exclusive groups, a board can be in only one (default: false). Homes and rooms usually have it."
                ),
                Argument(name: "parent_group_id", help: "The parent group, such as the home of a room."),
                Argument(name: "nodes", help: "Boards to add: node ids (or names), separated by commas."),
                Argument(name: "custom_data", help: "A JSON object for applications, as text."),
            ], access: .changes, schema: "action"
        ) { call in
            try await call.command(
                "group.add",
                [
                    "name": call["name"], "type": call["group_type"], "description": call["description"],
                    "mutually_exclusive": call["mutually_exclusive"], "parent": call["parent_group_id"],
                    "nodes": call["nodes"], "custom_data": call["custom_data"],
                ])
        },
        MCPTool(
            "add_device_to_room", "Put a board into a room",
            "Adds a board to the home that contains a room, and then to the room.",
            [
                Argument(name: "device_node_id", isRequired: true, help: "The board: its node id (or its name)."),
                Argument(name: "room_group_id", isRequired: true, help: "The room: its group id (or its name)."),
            ], access: .changes, isIdempotent: true, schema: "action"
        ) { call in
            try await call.command(
                "group.add-nodes", ["group": call["room_group_id"], "nodes": call["device_node_id"]])
        },
        MCPTool(
            "update_group", "Change a group",
            "Changes a group's name, description or data, and adds or removes boards. Removed boards stay in the account.",
            [
                Argument(name: "group_id", isRequired: true, help: "The group: its id (or its name)."),
                Argument(name: "name", help: "The new name."),
                Argument(name: "description", help: "The new description."),
                Argument(name: "custom_data", help: "A JSON object for applications, as text."),
                Argument(name: "add_nodes", help: "Boards to add: node ids (or names), separated by commas."),
                Argument(name: "remove_nodes", help: "Boards to remove: node ids (or names), separated by commas."),
            ], access: .changes, isDestructive: true, isIdempotent: true, schema: "action"
        ) { call in
            try await call.updateGroup()
        },
        MCPTool(
            "get_group_details", "Details of groups",
            "Returns groups with their subgroups, and their boards if requested.",
            [
                Argument(name: "group_id", help: "Only this group, by id or name (default: all)."),
                Argument(
                    name: "include_nodes", kind: .boolean,
                    help: "Also return the boards of each group (default: false)."),
                Argument(
                    name: "fields", kind: .strings,
                    help: """
                        Only these fields: group_id, name, type, description, parent, mutually_exclusive, primary, total, is_matter, \
                        fabric_id, custom_data, groups.
                        """),
                Argument(
                    name: "node_fields", kind: .strings,
                    help: "Only these fields of boards: node_id, name, type, model, role, connected."),
            ], schema: "group-details"
        ) { call in
            try await call.groupDetails()
        },
        MCPTool(
            "remove_group", "Remove a group",
            "Removes a group and its subgroups. Their boards stay in the account.",
            [Argument(name: "group_id", isRequired: true, help: "The group: its id (or its name).")], access: .named,
            isDestructive: true, isIdempotent: true, schema: "action"
        ) { call in
            try await call.command("group.remove", ["group": call["group_id"], "yes": true])
        },
    ]
}

extension MCPCall {
    fileprivate func updateGroup() async throws -> JSONValue {
        let properties = ["name", "description", "custom_data"].contains { self[$0] != nil }
        guard properties || self["add_nodes"] != nil || self["remove_nodes"] != nil else {
            throw failure(" needs a new name, description or custom_data, or boards to add or remove.")
        }
        // After a new name, the old one would not find the group.
        let group = try await command("group.show", ["group": self["group_id"]])["group_id"] ?? ""
        var done: [JSONValue.Member] = []
        func take(_ document: JSONValue) {
            for member in document.members ?? [] {
                let index = done.firstIndex { $0.name == member.name }
                guard let index else {
                    done.append(member)
                    continue
                }
                guard member.name == "warnings" else { continue }
                done[index].value = .array((done[index].value.array ?? []) + (member.value.array ?? []))
            }
        }
        do {
            if properties {
                take(
                    try await command(
                        "group.edit",
                        [
                            "group": group, "name": self["name"], "description": self["description"],
                            "custom_data": self["custom_data"],
                        ]))
            }
            if let nodes = self["add_nodes"] {
                take(try await command("group.add-nodes", ["group": group, "nodes": nodes]))
            }
            if let nodes = self["remove_nodes"] {
                take(try await command("group.remove-nodes", ["group": group, "nodes": nodes]))
            }
        } catch let error as RPCError {
            // As in other documents, the part that was done is beside the error.
            var error = error
            let own = try JSONValue(parsing: Array(error.document.utf8)).members ?? []
            let rest = done.filter { member in !own.contains { $0.name == member.name } }
            error.document = RPCText.json(.object(own + rest))
            throw error
        }
        return .object(done)
    }

    fileprivate func groupDetails() async throws -> JSONValue {
        let fields = try list("fields").map { try known($0, GroupDetailsResult.fields, "fields") }
        let nodeFields = try list("node_fields").map { try known($0, GroupDetailsResult.nodeFields, "node_fields") }
        let (wanted, includesNodes) = (text("group_id"), isOn("include_nodes"))
        return try await ask { scene in
            try await scene.time.run {
                var groups: [NodeGroup] = []
                if let wanted {
                    groups = [try await scene.cloud.group(try await scene.client.group(named: wanted).id)]
                } else {
                    groups = try await scene.cloud.groups(withSubgroups: true)
                }
                var boards: [NodeID: Node] = [:]
                if includesNodes {
                    guard groups.count <= GroupDetailsResult.maximumGroups else {
                        throw CommandFailure(
                            .usage, reason: "bad_params",
                            message:
                                "The account has more than \(GroupDetailsResult.maximumGroups) groups. With include_nodes, give the group_id of one group."
                        )
                    }
                    if wanted == nil {
                        for index in groups.indices { groups[index] = try await scene.cloud.group(groups[index].id) }
                    }
                    for node in try await scene.client.allNodes() { boards[node.id] = node }
                }
                return GroupDetailsResult(
                    groups, boards: includesNodes ? boards : nil, fields: fields, nodeFields: nodeFields)
            }
        }
    }

    /// Returns our names of fields.
    private func known(
        _ given: [String], _ names: [String: String], _ argument: String
    ) throws(CommandFailure) -> Set<String> {
        var fields: Set<String> = []
        for name in given {
            guard let field = names[name] else {
                throw failure(
                    ": \(argument) cannot contain \"\(name.onOneLine)\". Possible fields: \(names.keys.sorted().joined(separator: ", "))."
                )
            }
            fields.insert(field)
        }
        return fields
    }
}

/// Groups, with the boards in them.
struct GroupDetailsResult: CommandResult {
    let groups: [Entry]

    /// The number of groups whose boards are read in one call.
    static let maximumGroups = 50

    /// Our names of the fields, by ours and by the cloud's, which Espressif's server takes.
    static let fields = [
        "group_id": "group_id", "name": "name", "group_name": "name", "type": "type", "description": "description",
        "parent": "parent", "parent_group_id": "parent", "mutually_exclusive": "mutually_exclusive",
        "primary": "primary", "total": "total", "is_matter": "is_matter", "fabric_id": "fabric_id",
        "custom_data": "custom_data", "groups": "groups", "sub_groups": "groups",
    ]
    static let nodeFields = [
        "node_id": "node_id", "id": "node_id", "name": "name", "type": "type", "model": "model", "role": "role",
        "connected": "connected", "status": "connected",
    ]

    struct Entry: Encodable, Sendable {
        let groupID: String
        let name: String?
        let type: String?
        let description: String?
        let parent: String?
        let mutuallyExclusive: Bool?
        let primary: Bool?
        /// The number of its boards.
        let total: Int?
        let isMatter: Bool?
        let fabricID: String?
        let customData: JSONValue?
        /// Absent unless they were requested.
        let nodes: [Board]?
        let groups: [Entry]?

        fileprivate init(
            _ group: NodeGroup, _ boards: [NodeID: Node]?, _ fields: Set<String>?, _ nodeFields: Set<String>
        ) {
            func kept<Value>(_ name: String, _ value: @autoclosure () -> Value?) -> Value? {
                fields?.contains(name) == false ? nil : value()
            }
            groupID = group.id
            name = kept("name", group.name)
            type = kept("type", group.type)
            description = kept("description", group.summary)
            parent = kept("parent", group.parent)
            mutuallyExclusive = kept("mutually_exclusive", group.isMutuallyExclusive)
            primary = kept("primary", group.isPrimary)
            total = kept("total", group.document["total"]?.integer.flatMap { Int(exactly: $0) } ?? group.nodes?.count)
            isMatter = kept("is_matter", group.document["is_matter"]?.bool)
            fabricID = kept("fabric_id", group.document["fabric_id"]?.string)
            customData = kept("custom_data", group.document["custom_data"]?.unlessNull)
            nodes = boards.flatMap { boards in
                group.nodes?.map { Board($0, boards[$0], nodeFields) }
            }
            groups = kept("groups", (group.subgroups ?? []).map { Entry($0, boards, fields, nodeFields) })
        }
    }

    struct Board: Encodable, Sendable {
        let nodeID: String
        let name: String?
        let type: String?
        let model: String?
        let role: String?
        let connected: Bool?

        fileprivate init(_ id: NodeID, _ node: Node?, _ fields: Set<String>) {
            nodeID = id.rawValue
            name = fields.contains("name") ? node?.displayName : nil
            type = fields.contains("type") ? node?.type : nil
            model = fields.contains("model") ? node?.model : nil
            role = fields.contains("role") ? node?.role : nil
            connected = fields.contains("connected") ? node?.connectivity?.isConnected : nil
        }
    }

    /// - Parameters:
    ///   - boards: the boards of the account; nil if those in the groups are not wanted.
    ///   - fields: the members of groups; nil for all.
    ///   - nodeFields: the members of boards; nil for the usual ones.
    init(_ groups: [NodeGroup], boards: [NodeID: Node]?, fields: Set<String>?, nodeFields: Set<String>?) {
        self.groups = groups.map { Entry($0, boards, fields, nodeFields ?? ["name", "type"]) }
    }

    var text: String { groups.map { "\($0.groupID)  \($0.name ?? "")".onOneLine }.joined(separator: "\n") }
}
