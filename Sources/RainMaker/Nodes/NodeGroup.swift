// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// A group of nodes, such as a home with its rooms as sub-groups.
public struct NodeGroup: Sendable, Equatable {
    /// The id in the cloud.
    public var id: String
    /// The user's name for the group, 2 to 256 characters.
    public var name: String
    /// The type that an application gives it, such as `home` or `room`.
    public var type: String?
    /// The user's description (`description`).
    public var summary: String?
    /// The id of the group that contains it.
    public var parent: String?
    /// The nodes in it; nil if they were not requested.
    public var nodes: [NodeID]?
    /// The groups in it; nil if they were not requested.
    public var subgroups: [NodeGroup]?
    /// Whether its nodes may not be in another such group.
    public var isMutuallyExclusive: Bool
    /// Whether the user owns it; nil if the cloud does not say.
    public var isPrimary: Bool?
    /// An object of the application that made the group (`custom_data`).
    public var customData: JSONValue? { document["custom_data"]?.unlessNull }
    /// A second object for applications (`group_metadata`), which the apps of 2026 use.
    public var metadata: JSONValue? { document["group_metadata"]?.unlessNull }
    /// The whole entry from the cloud.
    public var document: JSONValue

    /// The maximum depth. Deeper groups are omitted.
    static let maximumDepth = 8

    /// Reads an entry of `groups`. Returns nil without an id.
    init?(_ json: JSONValue, depth: Int = 0) {
        guard let id = json["group_id"]?.string, !id.isEmpty, depth < Self.maximumDepth else { return nil }
        self.id = id
        name = json["group_name"]?.string ?? ""
        type = json["type"]?.string
        summary = json["description"]?.string
        parent = json["parent_group_id"]?.string
        nodes = json["nodes"]?.array?.compactMap(\.string).map { NodeID($0) }
        subgroups = json["sub_groups"]?.array?.compactMap { NodeGroup($0, depth: depth + 1) }
        isMutuallyExclusive = json["mutually_exclusive"]?.bool ?? false
        isPrimary = json["primary"]?.bool
        document = json
    }
}

/// The new values of a group, or the values of a new group. Nil means no change.
public struct NodeGroupChange: Sendable, Equatable {
    /// The name, 2 to 256 characters.
    public var name: String?
    /// The type that an application gives it.
    public var type: String?
    /// The user's description.
    public var summary: String?
    /// The id of the group that contains it.
    public var parent: String?
    /// Whether its nodes may not be in another such group.
    public var isMutuallyExclusive: Bool?
    /// An object for applications (`custom_data`).
    public var customData: JSONValue?
    /// A second object for applications (`group_metadata`).
    public var metadata: JSONValue?

    public init(
        name: String? = nil, type: String? = nil, summary: String? = nil, parent: String? = nil,
        isMutuallyExclusive: Bool? = nil, customData: JSONValue? = nil, metadata: JSONValue? = nil
    ) {
        self.metadata = metadata
        self.name = name
        self.type = type
        self.summary = summary
        self.parent = parent
        self.isMutuallyExclusive = isMutuallyExclusive
        self.customData = customData
    }

    fileprivate var members: [JSONValue.Member] {
        let texts: [(String, String?)] = [
            ("group_name", name), ("type", type), ("description", summary), ("parent_group_id", parent),
        ]
        var members = texts.compactMap { name, text in text.map { JSONValue.Member(name, .string($0)) } }
        if let isMutuallyExclusive { members.append(.init("mutually_exclusive", .bool(isMutuallyExclusive))) }
        if let customData { members.append(.init("custom_data", customData)) }
        if let metadata { members.append(.init("group_metadata", metadata)) }
        return members
    }
}

extension RainMakerCloud {
    /// Returns the user's groups, without their nodes. Groups inside another group of the user are not listed separately.
    ///
    /// - Throws: `malformedAnswer` for a list that does not end.
    public func groups(withSubgroups: Bool = false) async throws(AccountError) -> [NodeGroup] {
        var groups: [NodeGroup] = []
        var bound = ListBound(of: "groups", bytes: ListBound.wholeBytes)
        var start: [(name: String, value: String)] = []
        while true {
            let query = (withSubgroups ? [(name: "sub_groups", value: "true")] : []) + start
            let page = try await measuredCall(RainMakerCall(.get, Self.groupPath, query: query))
            guard let list = page.reply["groups"]?.array else { throw incomplete("groups", in: page.reply) }
            try bound.count(list.count, bytes: page.bytes)
            groups += list.compactMap { NodeGroup($0) }
            guard let next = page.reply["next_id"]?.string, !next.isEmpty else { return groups }
            try bound.count(next: next)
            start = [("start_id", next)]
        }
    }

    /// Returns one group, with its nodes and sub-groups. Throws `rejected` if the user has no such group.
    public func group(_ id: String) async throws(AccountError) -> NodeGroup {
        let reply = try await call(
            RainMakerCall(
                .get, Self.groupPath,
                query: [("group_id", id), ("node_list", "true"), ("sub_groups", "true")]), words: Self.groupWords)
        guard let group = reply["groups"]?.array?.lazy.compactMap({ NodeGroup($0) }).first(where: { $0.id == id })
        else {
            throw AccountError(.rejected, message: "the signed-in user has no group with that id in the cloud")
        }
        return group
    }

    /// Creates a group, and returns its id.
    public func createGroup(_ group: NodeGroupChange, nodes: [NodeID] = []) async throws(AccountError) -> String {
        var body = group.members
        if !nodes.isEmpty { body.append(.init("nodes", .array(nodes.map { .string($0.rawValue) }))) }
        let reply = try await call(
            RainMakerCall(.post, Self.groupPath, body: .object(body)), words: Self.groupWords)
        guard let id = reply["group_id"]?.string, !id.isEmpty else { throw incomplete("group_id", in: reply) }
        return id
    }

    /// Changes the given values of a group.
    public func changeGroup(_ id: String, _ change: NodeGroupChange) async throws(AccountError) {
        try await call(
            RainMakerCall(.put, Self.groupPath, query: [("group_id", id)], body: .object(change.members)),
            words: Self.groupWords)
    }

    /// Adds nodes to a group.
    public func addNodes(_ nodes: [NodeID], toGroup id: String) async throws(AccountError) {
        try await changeNodes(nodes, ofGroup: id, "add")
    }

    /// Removes nodes from a group. They stay in the account.
    public func removeNodes(_ nodes: [NodeID], fromGroup id: String) async throws(AccountError) {
        try await changeNodes(nodes, ofGroup: id, "remove")
    }

    /// Removes a group and its sub-groups. The nodes stay in the account.
    public func removeGroup(_ id: String) async throws(AccountError) {
        try await call(RainMakerCall(.delete, Self.groupPath, query: [("group_id", id)]), words: Self.groupWords)
    }

    private static let groupPath = "user/node_group"

    private func changeNodes(
        _ nodes: [NodeID], ofGroup id: String, _ operation: String
    ) async throws(AccountError) {
        let body: JSONValue = [
            "operation": .string(operation), "nodes": .array(nodes.map { .string($0.rawValue) }),
        ]
        try await call(
            RainMakerCall(.put, Self.groupPath, query: [("group_id", id)], body: body), words: Self.groupWords)
    }
}
