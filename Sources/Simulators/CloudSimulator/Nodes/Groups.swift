// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The users' groups of nodes. A group may be within another one.
struct GroupTable: Codable, Sendable, Equatable {
    struct Group: Codable, Sendable, Equatable {
        var id: String
        var name: String
        var owner: String
        /// The users with whom it is shared.
        var guests: [String] = []
        var parent: String?
        var nodes: [String] = []
        var type: String?
        var about: String?
        var customData: JSONValue?
        var metadata: JSONValue?
        var isMutuallyExclusive = false
        var isMatter = false
    }

    /// Limits of the simulator.
    private static let maximumGroups = 1000
    fileprivate static let maximumDepth = 8

    private var groups: [String: Group] = [:]

    subscript(id: String) -> Group? { groups[id] }

    /// Adds the group, or replaces the one with its id. Returns false if there is no space.
    @discardableResult
    mutating func put(_ group: Group) -> Bool {
        guard groups[group.id] != nil || groups.count < Self.maximumGroups else { return false }
        groups[group.id] = group
        return true
    }

    /// Removes a group and all groups within it.
    fileprivate mutating func remove(_ id: String) {
        for child in children(of: id) { remove(child.id) }
        groups[id] = nil
    }

    /// Returns the groups that a user owns or shares and that are not within another visible group, by id.
    fileprivate func roots(of user: String) -> [Group] {
        groups.values.filter { group in
            (group.owner == user || group.guests.contains(user))
                && !(group.parent.map { isVisible($0, to: user) } ?? false)
        }.sorted { $0.id < $1.id }
    }

    fileprivate func children(of id: String) -> [Group] {
        groups.values.filter { $0.parent == id }.sorted { $0.id < $1.id }
    }

    /// Whether the user may see the group: it, or a group around it, belongs to the user or is shared with them.
    fileprivate func isVisible(_ id: String, to user: String) -> Bool {
        var next: String? = id
        for _ in 0...Self.maximumDepth {
            guard let group = next.flatMap({ groups[$0] }) else { return false }
            if group.owner == user || group.guests.contains(user) { return true }
            next = group.parent
        }
        return false
    }

    /// Whether a group that the user may see has that node.
    func holds(_ node: String, visibleTo user: String) -> Bool {
        groups.values.contains { $0.nodes.contains(node) && isVisible($0.id, to: user) }
    }

    /// Returns how many groups are around the group, including itself.
    fileprivate func depth(of id: String) -> Int {
        var (next, depth): (String?, Int) = (id, 0)
        while let group = next.flatMap({ groups[$0] }), depth <= Self.maximumDepth {
            (next, depth) = (group.parent, depth + 1)
        }
        return depth
    }

    /// Whether `id` is `other`, or somewhere within it.
    fileprivate func isWithin(_ id: String, _ other: String) -> Bool {
        var next: String? = id
        for _ in 0...Self.maximumDepth {
            if next == other { return true }
            next = next.flatMap { groups[$0]?.parent }
        }
        return false
    }

    /// Removes a node that has left a user's account from that user's groups.
    mutating func removeNode(_ node: String, of user: String) {
        for (id, group) in groups where group.owner == user { groups[id]?.nodes.removeAll { $0 == node } }
    }

    mutating func removeAll(of user: String) {
        for group in groups.values where group.owner == user { remove(group.id) }
        for id in groups.keys { groups[id]?.guests.removeAll { $0 == user } }
    }
}

/// `user/node_group`: groups of nodes.
extension CloudAPI {
    /// The maximum number of groups in one page.
    private static let groupPage = 25

    func createGroup(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        guard let name = try body.string("group_name") else { throw .groupNameMissing }
        var group = GroupTable.Group(id: Self.shortID(), name: name, owner: user.id)
        group.isMatter = try body.bool("is_matter") ?? false
        group.parent = try body.string("parent_group_id")
        group.nodes = try Self.names(body.value["nodes"])
        try fill(&group, body, user)
        if let parent = group.parent {
            let (isTheirs, depth) = readState {
                ($0.groups?.isVisible(parent, to: user.id) ?? false, $0.groups?.depth(of: parent) ?? 0)
            }
            guard isTheirs else { throw .groupMissing }
            guard depth < GroupTable.maximumDepth else { throw .invalidRequest }
        }
        let isKept = try change { [group] state in
            var table = state.groups ?? GroupTable()
            defer { state.groups = table }
            return table.put(group)
        }
        guard isKept else { throw .invalidRequest }
        return success("Group created successfully", [.init("group_id", .string(group.id))])
    }

    func editGroup(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        var group = try namedGroup(call, user)
        let body = try call.body()
        if let name = try body.string("group_name") { group.name = name }
        let nodes = try Self.names(body.value["nodes"])
        switch try body.string("operation") {
        case "add": group.nodes += nodes.filter { !group.nodes.contains($0) }
        case "remove": group.nodes.removeAll { nodes.contains($0) }
        case nil: if body.has("nodes") { group.nodes = nodes }
        default: throw .invalidBody
        }
        if let parent = try body.string("parent_group_id") {
            let fits = readState {
                ($0.groups?.isVisible(parent, to: user.id) ?? false)
                    && !($0.groups?.isWithin(parent, group.id) ?? true)
            }
            guard fits else { throw .groupMissing }
            group.parent = parent
        }
        try fill(&group, body, user)
        try change { [group] state in _ = state.groups?.put(group) }
        return success("Group updated successfully")
    }

    func removeGroup(_ call: Call) throws(APIError) -> Response {
        let group = try namedGroup(call, try call.caller())
        try change { $0.groups?.remove(group.id) }
        return success("Group removed successfully")
    }

    /// `GET user/node_group`: the groups that are within no other, a page at a time, or the named group.
    func listGroups(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        if call.request.query("group_id") != nil {
            let group = try visibleGroup(call, user)
            return Response(["groups": .array([try describe(group, call, user)]), "total": 1])
        }
        let size = try (call.request.query("num_records") ?? call.request.query("limit")).map { text throws(APIError) in
            guard let count = Int(text), (1...1000).contains(count) else { throw APIError.invalidQuery }
            return min(count, Self.groupPage)
        }
        let all = readState { $0.groups?.roots(of: user.id) ?? [] }
        let rest = all.drop { group in call.request.query("start_id").map { group.id < $0 } ?? false }
        let shown = rest.prefix(size ?? Self.groupPage)
        var groups: [JSONValue] = []
        for group in shown { groups.append(try describe(group, call, user)) }
        var members: [JSONValue.Member] = [.init("groups", .array(groups))]
        if let next = rest.dropFirst(shown.count).first { members.append(.init("next_id", .string(next.id))) }
        members.append(.init("total", .integer(Int64(all.count))))
        return Response(.object(members))
    }

    /// `GET user/node_group/sharing`: the users with whom the caller's groups are shared; with `sub_groups`, also for groups within them.
    func groupSharing(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let isDeep = try flag("sub_groups", in: call, otherwise: false)
        let groups =
            call.request.query("group_id") == nil
            ? readState { $0.groups?.roots(of: user.id) ?? [] } : [try visibleGroup(call, user)]
        return Response(["group_sharing": .array(groups.map { sharing(of: $0, isDeep: isDeep) })])
    }

    private func sharing(of group: GroupTable.Group, isDeep: Bool) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("group_id", .string(group.id)),
            .init(
                "users",
                [
                    "primary": [.string(userName(group.owner))],
                    "secondary": .array(group.guests.map { .string(userName($0)) }),
                ]),
        ]
        let children = isDeep ? readState { $0.groups?.children(of: group.id) ?? [] } : []
        if !children.isEmpty {
            members.append(.init("sub_groups", .array(children.map { sharing(of: $0, isDeep: true) })))
        }
        return .object(members)
    }

    private func fill(_ group: inout GroupTable.Group, _ body: Fields, _ user: User) throws(APIError) {
        guard (2...256).contains(group.name.utf8.count) else { throw .badGroupName }
        for node in group.nodes { _ = try ownNode(node, of: user) }
        if let type = try body.string("type") { group.type = type }
        if let text = try body.string("description") { group.about = text }
        if let flag = try body.bool("mutually_exclusive") { group.isMutuallyExclusive = flag }
        if let data = try Self.object("custom_data", body) { group.customData = data }
        if let data = try Self.object("group_metadata", body) { group.metadata = data }
    }

    private static func object(_ name: String, _ body: Fields) throws(APIError) -> JSONValue? {
        guard body.has(name), let data = body.value[name] else { return nil }
        guard data.members != nil, data.serialized().count <= NodeNotes.maximumMetadata else { throw .invalidBody }
        return data
    }

    private func visibleGroup(_ call: Call, _ user: User) throws(APIError) -> GroupTable.Group {
        guard let id = call.request.query("group_id") else { throw .groupIDMissing }
        let group = readState { state in
            state.groups.flatMap { $0.isVisible(id, to: user.id) ? $0[id] : Optional.none }
        }
        guard let group else { throw .groupMissing }
        return group
    }

    /// Returns the named group, if the caller may change it.
    private func namedGroup(_ call: Call, _ user: User) throws(APIError) -> GroupTable.Group {
        let group = try visibleGroup(call, user)
        guard group.owner == user.id else { throw .notAllowed }
        return group
    }

    private func describe(_ group: GroupTable.Group, _ call: Call, _ user: User) throws(APIError) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("group_id", .string(group.id)), .init("group_name", .string(group.name)),
            .init("primary", .bool(group.owner == user.id)), .init("is_matter", .bool(group.isMatter)),
            .init("mutually_exclusive", .bool(group.isMutuallyExclusive)),
            .init("total", .integer(Int64(group.nodes.count))),
        ]
        if let type = group.type { members.append(.init("type", .string(type))) }
        if let text = group.about { members.append(.init("description", .string(text))) }
        if let data = group.customData { members.append(.init("custom_data", data)) }
        if let data = group.metadata { members.append(.init("group_metadata", data)) }
        if let parent = group.parent { members.append(.init("parent_group_id", .string(parent))) }
        let isDetailed = try flag("node_details", in: call, otherwise: false)
        let isListed = try flag("node_list", in: call, otherwise: false)
        if isDetailed || isListed {
            members.append(.init("nodes", .array(group.nodes.map { .string($0) })))
        }
        if isDetailed {
            let nodes = readState { state in group.nodes.compactMap { state.nodes[$0] } }
            let page = try page(nodes, of: user, call: call, next: nil, total: nodes.count)
            members.append(.init("node_details", page["node_details"] ?? .array([])))
        }
        if try flag("sub_groups", in: call, otherwise: false) {
            var children: [JSONValue] = []
            for child in readState({ $0.groups?.children(of: group.id) ?? [] }) {
                children.append(try describe(child, call, user))
            }
            members.append(.init("sub_groups", .array(children)))
        }
        return .object(members)
    }

    /// The cloud's own ids of groups and automations are 22 characters long.
    static func shortID() -> String { String(makeUUID().filter { $0 != "-" }.prefix(22)) }
}
