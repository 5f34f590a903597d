// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// A group of RainMaker Neo. Every node is in exactly one, and in at most three of its sub-groups.
struct NeoGroup: Sendable, Equatable {
    struct Subgroup: Sendable, Equatable {
        var id: String
        var name: String
        var nodes: [NodeID]
    }

    var id: String
    var name: String
    /// `primary`, `secondary`, or `subgroup` for a user who has only some of the sub-groups.
    var access: String
    var nodes: [NodeID]
    var subgroups: [Subgroup]
    /// Whether Matter nodes can be in it. Their association is another one.
    var isMatter: Bool

    /// Reads an entry of `groups`. Returns nil without an id.
    ///
    /// Ids become parts of topics. An id with characters that mean something there would reach other topics.
    init?(_ json: JSONValue) {
        guard let id = json["group_id"]?.string, Self.isID(id) else { return nil }
        self.id = id
        name = json["group_name"]?.string ?? ""
        access = json["access_type"]?.string ?? "primary"
        nodes = Self.nodes(json)
        subgroups = (json["subgroups"]?.array ?? []).compactMap { entry in
            guard let id = entry["subgroup_id"]?.string, Self.isID(id) else { return nil }
            return Subgroup(id: id, name: entry["subgroup_name"]?.string ?? "", nodes: Self.nodes(entry))
        }
        isMatter = json["matter"].map { !$0.isNull } ?? false
    }

    private static func nodes(_ json: JSONValue) -> [NodeID] {
        (json["node_ids"]?.array ?? []).compactMap(\.string).filter(isID).map { NodeID($0) }
    }

    /// Whether a text can be an id: letters, digits, `-` and `_`.
    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_".utf8.contains($0) }
    }

    /// All nodes of the group, also those that are listed only in a sub-group.
    var places: [NeoPlace] {
        var all = nodes
        for node in subgroups.flatMap(\.nodes) where !all.contains(node) { all.append(node) }
        return all.map { node in
            NeoPlace(
                node: node, group: id, subgroups: subgroups.filter { $0.nodes.contains(node) }.map(\.id))
        }
    }

    /// The group in the form that all clouds share. A sub-group's id has its group's id before it: `abc123/k2x`.
    var nodeGroup: NodeGroup {
        let parts = subgroups.map { part -> JSONValue in
            [
                "group_id": .string("\(id)/\(part.id)"), "group_name": .string(part.name),
                "parent_group_id": .string(id), "primary": .bool(access == "primary"),
                "nodes": .array(part.nodes.map { .string($0.rawValue) }),
            ]
        }
        let json: JSONValue = [
            "group_id": .string(id), "group_name": .string(name), "primary": .bool(access == "primary"),
            "mutually_exclusive": true, "nodes": .array(places.map { .string($0.node.rawValue) }),
            "sub_groups": .array(parts),
        ]
        // It has an id.
        return NodeGroup(json)!
    }
}

/// The id of a group or of a sub-group, as ``NodeGroup`` has it.
struct NeoGroupID: Sendable, Equatable {
    var group: String
    var subgroup: String?

    init(_ text: String) throws(AccountError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, parts.allSatisfy(NeoGroup.isID) else {
            throw AccountError(
                .rejected,
                message: "\"\(presentable(text))\" is not the id of a group: an id has the form GROUP or GROUP/SUBGROUP"
            )
        }
        group = parts[0]
        subgroup = parts.count == 2 ? parts[1] : nil
    }

    /// The path of its calls.
    var path: String { "groups/\(group)" + (subgroup.map { "/subgroups/\($0)" } ?? "") }
}

extension NeoCloud {
    /// Returns the user's groups, from the cloud.
    func freshGroups() async throws(AccountError) -> [NeoGroup] {
        let reply = try await api.call(.get, "groups")
        guard let list = reply["groups"]?.array else { throw api.incomplete("groups") }
        guard list.count <= Self.maximumGroups else {
            throw AccountError(.malformedAnswer, message: "the cloud listed \(list.count) groups")
        }
        for entry in list { try check(entry) }
        let groups = list.compactMap { NeoGroup($0) }
        memory.keep(groups, at: clock.now)
        return groups
    }

    /// Throws for a member of another type. Taken for a missing one, it would remove nodes from the account, or make the user an owner.
    private func check(_ entry: JSONValue) throws(AccountError) {
        for name in ["group_name", "access_type"] {
            if let value = entry[name]?.unlessNull, value.string == nil { throw api.incomplete(name) }
        }
        for name in ["node_ids", "subgroups"] {
            if let value = entry[name]?.unlessNull, value.array == nil { throw api.incomplete(name) }
        }
        for part in entry["subgroups"]?.array ?? [] {
            if let value = part["node_ids"]?.unlessNull, value.array == nil { throw api.incomplete("node_ids") }
        }
    }

    /// Far more than a user has. The rights of a user have room for four groups and about eight shared sub-groups.
    private static let maximumGroups = 1000

    public func groups(withSubgroups: Bool) async throws(AccountError) -> [NodeGroup] {
        try await freshGroups().map { group in
            var group = group.nodeGroup
            if !withSubgroups { group.subgroups = nil }
            return group
        }
    }

    public func group(_ id: String) async throws(AccountError) -> NodeGroup {
        let wanted = try NeoGroupID(id)
        let all = try await freshGroups().map(\.nodeGroup)
        let found = all.first { $0.id == wanted.group }
        let group = wanted.subgroup == nil ? found : found?.subgroups?.first { $0.id == id }
        if let group { return group }
        throw AccountError(.rejected, message: "the signed-in user has no group with that id in the cloud")
    }

    public func createGroup(_ group: NodeGroupChange, nodes: [NodeID]) async throws(AccountError) -> String {
        try check(group)
        guard let name = group.name else { throw AccountError(.invalidInput, message: "a group needs a name") }
        guard let parent = group.parent else {
            guard nodes.isEmpty else {
                throw unsupported(Self.noAdding)
            }
            let reply = try await changing { api throws(AccountError) in
                try await api.call(.post, "groups", body: ["group_name": .string(name)])
            }
            guard let id = reply["group_id"]?.string, NeoGroup.isID(id) else { throw api.incomplete("group_id") }
            return id
        }
        let place = try NeoGroupID(parent)
        guard place.subgroup == nil else { throw unsupported("sub-groups of sub-groups") }
        let reply = try await changing { api throws(AccountError) in
            try await api.call(.post, "\(place.path)/subgroups", body: ["subgroup_name": .string(name)])
        }
        guard let id = reply["subgroup_id"]?.string, NeoGroup.isID(id) else { throw api.incomplete("subgroup_id") }
        let made = "\(place.group)/\(id)"
        if !nodes.isEmpty { try await addNodes(nodes, toGroup: made) }
        return made
    }

    public func changeGroup(_ id: String, _ change: NodeGroupChange) async throws(AccountError) {
        try check(change)
        let place = try NeoGroupID(id)
        guard change.parent == nil else { throw unsupported("groups that can be moved") }
        guard let name = change.name else { return }
        let member = place.subgroup == nil ? "group_name" : "subgroup_name"
        try await changing { api throws(AccountError) in
            try await api.call(.patch, place.path, body: .object([.init(member, .string(name))]))
        }
    }

    /// A group has a name and nothing else.
    private func check(_ change: NodeGroupChange) throws(AccountError) {
        let others = [
            ("types of groups", change.type != nil), ("descriptions of groups", change.summary != nil),
            ("groups whose nodes may also be in other groups", change.isMutuallyExclusive == false),
            ("custom data of groups", change.customData != nil), ("metadata of groups", change.metadata != nil),
        ]
        if let other = others.first(where: \.1) { throw unsupported(other.0) }
    }

    public func removeGroup(_ id: String) async throws(AccountError) {
        let place = try NeoGroupID(id)
        try await changing { api throws(AccountError) in try await api.call(.delete, place.path) }
    }

    private static let noAdding =
        "a call that adds nodes to a group; provisioning puts a node into its group"

    public func addNodes(_ nodes: [NodeID], toGroup id: String) async throws(AccountError) {
        try await change(nodes, of: id, .put, Self.noAdding)
    }

    public func removeNodes(_ nodes: [NodeID], fromGroup id: String) async throws(AccountError) {
        try await change(nodes, of: id, .delete, "nodes without a group; remove the node from the account instead")
    }

    private func change(
        _ nodes: [NodeID], of id: String, _ method: HTTPRequest.Method, _ otherwise: String
    ) async throws(AccountError) {
        let place = try NeoGroupID(id)
        guard place.subgroup != nil else { throw unsupported(otherwise) }
        for node in nodes {
            let path = try nodePath(node, below: place.path)
            try await changing { api throws(AccountError) in try await api.call(method, path) }
        }
    }

    public func removeMapping(node: NodeID) async throws(AccountError) {
        let place = try await place(of: node)
        try await changing { api throws(AccountError) in
            try await api.call(.delete, "groups/\(place.group)/nodes/\(node.rawValue)")
        }
    }

    /// Sends a call that changes groups. The known groups are forgotten.
    @discardableResult
    private func changing(
        _ change: (NeoMainAPI) async throws(AccountError) -> JSONValue
    ) async throws(AccountError) -> JSONValue {
        defer { memory.forgetGroups() }
        return try await change(api)
    }

    private func nodePath(_ node: NodeID, below path: String) throws(AccountError) -> String {
        guard NeoGroup.isID(node.rawValue) else { throw noSuchNode }
        return "\(path)/nodes/\(node.rawValue)"
    }
}

extension NeoCloud {
    public func share(
        _ kind: SharedKind, _ ids: [String], with userName: String, as role: SharedRole, subRole: Int?,
        metadata: JSONValue?
    ) async throws(AccountError) -> String {
        guard kind == .groups else { throw unsharedNode }
        guard ids.count == 1 else { throw unsupported("offers of several groups at once") }
        guard subRole == nil else { throw unsupported("sub-roles") }
        guard metadata == nil else { throw unsupported("metadata of offers") }
        let access: String
        switch role {
        case .secondary: access = "secondary"
        case .primary: access = "primary"
        case .newOwner: throw unsupported("the transfer of groups to another owner")
        }
        // The cloud makes an offer for any text.
        try RainMakerInput.check(userName: userName)
        guard await !isOwn(userName) else {
            throw AccountError(
                .rejected,
                message: "\(presentable(userName)) is the signed-in user; name another user to share with")
        }
        let place = try NeoGroupID(ids[0])
        let reply = try await api.call(
            .post, "\(place.path)/sharing-requests",
            body: ["username": .string(userName), "access_type": .string(access)])
        guard let id = reply["request_id"]?.string, !id.isEmpty else { throw api.incomplete("request_id") }
        return id
    }

    private var unsharedNode: AccountError {
        unsupported("sharing of single nodes; share their group or a sub-group")
    }
    private var noOffersOfNodes: AccountError {
        unsupported("offers of single nodes; ask for the offers of groups")
    }

    /// The other user may be named by any of their names.
    public func stopSharing(
        _ kind: SharedKind, _ ids: [String], with userName: String
    ) async throws(AccountError) {
        guard kind == .groups else { throw unsharedNode }
        let isOwn = await isOwn(userName)
        for id in ids {
            let place = try NeoGroupID(id)
            guard !isOwn else {
                try await changing { api throws(AccountError) in
                    try await api.call(.delete, "\(place.path)/users/me")
                }
                continue
            }
            let members = try await members(of: place)
            guard let member = members.first(where: { $0.isNamed(userName) }) else {
                throw AccountError(
                    .rejected,
                    message: "the group \(presentable(id)) is not shared with \(presentable(userName))")
            }
            let path = "\(place.path)/users/\(PercentEncoding.encoded(member.id))"
            try await changing { api throws(AccountError) in try await api.call(.delete, path) }
        }
    }

    public func sharing(_ kind: SharedKind, of id: String?) async throws(AccountError) -> [Sharing] {
        guard kind == .groups else { throw unsharedNode }
        var ids: [String] = []
        if let id { ids = [id] } else { ids = try await freshGroups().map(\.id) }
        var result: [Sharing] = []
        for id in ids {
            let members = try await members(of: try NeoGroupID(id))
            func names(_ isPrimary: Bool) -> JSONValue {
                .array(members.filter { ($0.access == "primary") == isPrimary }.map { .string($0.name) })
            }
            let json: JSONValue = [
                "group_id": .string(id), "users": ["primary": names(true), "secondary": names(false)],
            ]
            if let sharing = Sharing(json, .groups) { result.append(sharing) }
        }
        return result
    }

    public func sharingRequests(_ kind: SharedKind, sent: Bool) async throws(AccountError) -> [SharingRequest] {
        guard kind == .groups else { throw noOffersOfNodes }
        guard !sent else { throw unsupported("a list of the offers that you have sent") }
        let reply = try await api.call(.get, "sharing-requests/received")
        guard let list = reply["sharing_requests"]?.array else { throw api.incomplete("sharing_requests") }
        return list.prefix(1000).compactMap { entry in
            let id = (entry["sharing_request_id"] ?? entry["request_id"])?.string ?? ""
            let part = entry["subgroup_id"]?.string ?? ""
            let group = (entry["group_id"]?.string ?? "") + (part.isEmpty ? "" : "/\(part)")
            let names = ["primary_email", "primary_phone_number", "primary_user_id"]
            let owner = names.lazy.compactMap { entry[$0]?.string }.first { !$0.isEmpty } ?? ""
            return SharingRequest([
                "request_id": .string(id), "group_ids": [.string(group)], "primary_user_name": .string(owner),
            ])
        }
    }

    public func answerSharing(
        _ kind: SharedKind, request id: String, accepting: Bool
    ) async throws(AccountError) {
        guard kind == .groups else { throw noOffersOfNodes }
        let path = "sharing-requests/\(PercentEncoding.encoded(id))/\(accepting ? "accept" : "reject")"
        do throws(AccountError) {
            try await changing { api throws(AccountError) in try await api.call(.post, path) }
        } catch {
            guard error.status == 404 else { throw error }
            throw AccountError(
                .rejected, message: "there is no open offer \(presentable(id)); list the offers to see the open ones",
                status: error.status)
        }
    }

    /// The owner of an offer cancels it by rejecting it.
    public func cancelSharing(_ kind: SharedKind, request id: String) async throws(AccountError) {
        try await answerSharing(kind, request: id, accepting: false)
    }

    private struct Member {
        var id: String
        var email: String?
        var phone: String?
        var access: String

        var name: String { email ?? phone ?? id }

        func isNamed(_ text: String) -> Bool {
            [email, phone, id].contains { $0?.lowercased() == text.lowercased() }
        }
    }

    private func members(of place: NeoGroupID) async throws(AccountError) -> [Member] {
        let reply = try await api.call(.get, "\(place.path)/users")
        guard let list = reply["users"]?.array else { throw api.incomplete("users") }
        return list.prefix(1000).compactMap { entry in
            guard let id = entry["user_id"]?.string, !id.isEmpty else { return nil }
            func text(_ member: String) -> String? { entry[member]?.string.flatMap { $0.isEmpty ? nil : $0 } }
            return Member(
                id: id, email: text("email"), phone: text("phone_number"), access: text("access_type") ?? "secondary")
        }
    }
}
