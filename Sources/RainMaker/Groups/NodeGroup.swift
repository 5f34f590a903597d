// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// A group of nodes, such as a home with its rooms as sub-groups.
public struct NodeGroup: Sendable, Equatable {
    /// The cloud's id.
    public var id: String
    /// What the user calls it, 2 to 256 characters.
    public var name: String
    /// What applications make of it, such as `home` or `room`.
    public var type: String?
    /// In the user's words (`description`).
    public var summary: String?
    /// The group that it is in.
    public var parent: String?
    /// The nodes in it; nil where they were not asked for.
    public var nodes: [NodeID]?
    /// The groups in it; nil where they were not asked for.
    public var subgroups: [NodeGroup]?
    /// Whether a node in it may be in no other such group.
    public var isMutuallyExclusive: Bool
    /// Whether the user owns it; nil where the cloud does not say.
    public var isPrimary: Bool?
    /// All that the cloud says of it.
    public var document: JSONValue

    /// Deeper ones are left out.
    static let maximumDepth = 8

    /// An entry of `groups`; nil without an id.
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

/// What is to be different about a group, or how a new one is to be. What is nil stays.
public struct NodeGroupChange: Sendable, Equatable {
    /// 2 to 256 characters.
    public var name: String?
    /// What applications make of it.
    public var type: String?
    /// In the user's words.
    public var summary: String?
    /// The group to put it in.
    public var parent: String?
    /// Whether a node in it may be in no other such group.
    public var isMutuallyExclusive: Bool?
    /// An object for applications.
    public var customData: JSONValue?

    public init(
        name: String? = nil, type: String? = nil, summary: String? = nil, parent: String? = nil,
        isMutuallyExclusive: Bool? = nil, customData: JSONValue? = nil
    ) {
        self.name = name
        self.type = type
        self.summary = summary
        self.parent = parent
        self.isMutuallyExclusive = isMutuallyExclusive
        self.customData = customData
    }

    var members: [JSONValue.Member] {
        let texts: [(String, String?)] = [
            ("group_name", name), ("type", type), ("description", summary), ("parent_group_id", parent),
        ]
        var members = texts.compactMap { name, text in text.map { JSONValue.Member(name, .string($0)) } }
        if let isMutuallyExclusive { members.append(.init("mutually_exclusive", .bool(isMutuallyExclusive))) }
        if let customData { members.append(.init("custom_data", customData)) }
        return members
    }
}
