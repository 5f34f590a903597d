// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// What a user can share with others.
public enum SharedKind: String, Sendable, CaseIterable {
    /// Single nodes.
    case nodes
    /// Groups, and with them the nodes in them.
    case groups

    /// Where its calls are.
    var path: String { self == .nodes ? "user/nodes/sharing" : "user/node_group/sharing" }
    var listMember: String { self == .nodes ? "node_sharing" : "group_sharing" }
    var idMember: String { self == .nodes ? "node_id" : "group_id" }
}

/// What the other user becomes.
public enum SharedRole: Sendable, Equatable {
    /// May see and set, and leaves at will.
    case secondary
    /// An owner as well, who may share it further.
    case primary
    /// The only owner: it is handed over. The one who did is a secondary user afterwards, or has it no more.
    case newOwner(formerOwnerStays: Bool)
}

/// Who has a node or a group.
public struct Sharing: Sendable, Equatable {
    /// The id of the node or group.
    public var id: String
    /// The user names of its owners.
    public var primaryUsers: [String]
    /// Of those with whom it is shared.
    public var secondaryUsers: [String]

    /// An entry of the list, and of the groups within it.
    static func all(_ json: JSONValue, _ kind: SharedKind, depth: Int = 0) -> [Sharing] {
        guard depth < NodeGroup.maximumDepth, let entry = Sharing(json, kind) else { return [] }
        let within = (json["sub_groups"]?.array ?? []).flatMap { all($0, kind, depth: depth + 1) }
        return [entry] + within
    }

    init?(_ json: JSONValue, _ kind: SharedKind) {
        guard let id = json[kind.idMember]?.string, !id.isEmpty else { return nil }
        self.id = id
        primaryUsers = (json["users"]?["primary"]?.array ?? []).compactMap(\.string)
        secondaryUsers = (json["users"]?["secondary"]?.array ?? []).compactMap(\.string)
    }
}

/// An offer of nodes or groups that was not accepted yet.
public struct SharingRequest: Sendable, Equatable {
    /// By which it is accepted, declined or cancelled.
    public var id: String
    /// `pending` or `declined`.
    public var status: String
    /// What is offered: ids of nodes or groups.
    public var subjects: [String]
    /// To whom.
    public var userName: String?
    /// By whom.
    public var ownerName: String?
    /// When, by the cloud's clock. It can be accepted for seven days.
    public var requestedAt: UnixTime?

    init?(_ json: JSONValue) {
        guard let id = json["request_id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        status = json["request_status"]?.string ?? "pending"
        subjects = ((json["node_ids"] ?? json["group_ids"])?.array ?? []).compactMap(\.string)
        userName = json["user_name"]?.string
        ownerName = json["primary_user_name"]?.string
        requestedAt = json["request_timestamp"].flatMap(LenientInteger.init).map { UnixTime(seconds: Double($0.value)) }
    }
}
