// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

/// The users' offers to each other: nodes, or groups of them.
struct SharingTable: Codable, Sendable, Equatable {
    enum Kind: String, Codable, Sendable { case nodes, groups }

    struct Request: Codable, Sendable, Equatable {
        enum Status: String, Codable, Sendable { case pending, declined }

        var id: String
        var kind: Kind
        /// Ids of nodes or groups.
        var subjects: [String]
        var owner: String
        /// The user who gets the request.
        var guest: String
        /// Whether the guest becomes a primary user instead of a secondary one.
        var isPrimary: Bool
        /// After a transfer, whether the owner stays as a secondary user. Nil if it is not a transfer.
        var ownerStays: Bool?
        /// The sub-role of a secondary user, 1 to 4.
        var subRole: Int64?
        var metadata: JSONValue?
        var status = Status.pending
        /// Milliseconds since 1970.
        var requestedAt: Int64
    }

    /// The maximum number of requests. Beyond it the oldest are dropped.
    private static let maximum = 1000
    /// How long a request can be answered, in milliseconds: seven days, as clients tell their users.
    private static let patience: Int64 = 7 * 86_400_000

    private(set) var requests: [Request] = []

    fileprivate mutating func add(_ request: Request) {
        requests.append(request)
        if requests.count > Self.maximum { requests.removeFirst(requests.count - Self.maximum) }
    }

    fileprivate mutating func remove(_ id: String) { requests.removeAll { $0.id == id } }

    fileprivate mutating func decline(_ id: String) {
        guard let index = requests.firstIndex(where: { $0.id == id }) else { return }
        requests[index].status = .declined
    }

    /// Returns the open and declined requests of one side.
    fileprivate func list(_ kind: Kind, of user: String, asOwner: Bool, at now: Int64) -> [Request] {
        requests.filter {
            $0.kind == kind && (asOwner ? $0.owner : $0.guest) == user && $0.requestedAt + Self.patience > now
        }
    }

    /// Removes all offers from and to a user.
    mutating func removeAll(of user: String) { requests.removeAll { $0.owner == user || $0.guest == user } }
}

extension CloudState {
    /// Removes a node from a user's account and groups. If that user is its only owner, all other users lose it as well. Returns nil if the
    /// user does not have it.
    mutating func removeNode(_ node: String, from user: String) -> [MappingChange]? {
        guard let changes = mappings.remove(node, from: user) else { return nil }
        for change in changes { groups?.removeNode(node, of: change.userID) }
        return changes
    }

    /// Removes nodes that a user lost by a reset or another user's mapping from that user's groups as well.
    mutating func leaveGroups(_ changes: [MappingChange]) {
        for change in changes where change.what == .removed {
            if let node = change.nodeID { groups?.removeNode(node, of: change.userID) }
        }
    }

    /// Carries out an accepted request for one node or group.
    fileprivate mutating func share(_ subject: String, _ request: SharingTable.Request) {
        switch request.kind {
        case .nodes:
            mappings.share(
                subject, with: request.guest, asPrimary: request.isPrimary, leaving: request.owner,
                ownerStays: request.ownerStays, subRole: request.subRole)
        case .groups:
            guard var group = groups?[subject] else { return }
            if let ownerStays = request.ownerStays {
                group.guests.removeAll { $0 == request.guest }
                if ownerStays { group.guests.append(group.owner) }
                group.owner = request.guest
            } else if !group.guests.contains(request.guest) {
                group.guests.append(request.guest)
            }
            groups?.put(group)
            // A user who has a group has its nodes.
            for node in group.nodes {
                mappings.share(
                    node, with: request.guest, asPrimary: false, leaving: request.owner, ownerStays: nil,
                    subRole: request.subRole)
            }
        }
    }

    /// Removes it from a secondary user. Returns nil if that user does not have it, or is its owner.
    fileprivate mutating func unshare(_ subject: String, _ kind: SharingTable.Kind, from user: String)
        -> [MappingChange]?
    {
        switch kind {
        case .nodes:
            guard !mappings.isPrimary(user, of: subject) else { return nil }
            return removeNode(subject, from: user)
        case .groups:
            guard var group = groups?[subject], group.guests.contains(user) else { return nil }
            group.guests.removeAll { $0 == user }
            groups?.put(group)
            // Nodes that another of the user's groups contains stay.
            return group.nodes.filter {
                !mappings.isPrimary(user, of: $0) && groups?.holds($0, visibleTo: user) != true
            }
            .flatMap { removeNode($0, from: user) ?? [] }
        }
    }
}

/// Sharing nodes and groups with other users: a request, and the other user's answer.
extension CloudAPI {
    /// The maximum number of requests in one page.
    private static let sharingPage = 10

    /// `PUT user/nodes/sharing`, `PUT user/node_group/sharing`: sends a request to another user.
    func share(_ kind: SharingTable.Kind, _ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        let subjects = try Self.names(body.value[kind.rawValue] ?? body.value["node_ids"])
        guard !subjects.isEmpty else { throw .nodeIDMissing }
        guard let name = try body.string("user_name"), !name.isEmpty else { throw .userNameMissing }
        let subRole = try body.integer("sub_role")
        if let subRole { guard (1...4).contains(subRole) else { throw .invalidBody } }
        let newRole = try body.string("new_role")
        if let newRole { guard ["primary", "secondary"].contains(newRole) else { throw .invalidBody } }
        let isTransfer = try body.bool("transfer") ?? false
        let isPrimary = try body.bool("primary") ?? false || isTransfer
        guard subRole == nil || !isPrimary else { throw .invalidBody }
        guard let guest = readState({ $0.user(named: name) }), guest.isConfirmed else { throw .userMissing }
        guard guest.id != user.id else { throw .invalidRequest }
        for subject in subjects { try mustOwn(subject, kind, user) }
        let (id, now) = (makeUUID(), now)
        let metadata = body.value["metadata"].flatMap { $0.isNull ? Optional.none : $0 }
        try change { state in
            var table = state.sharing ?? SharingTable()
            table.add(
                SharingTable.Request(
                    id: id, kind: kind, subjects: subjects, owner: user.id, guest: guest.id, isPrimary: isPrimary,
                    ownerStays: isTransfer ? newRole == "secondary" : nil, subRole: subRole, metadata: metadata,
                    requestedAt: now))
            state.sharing = table
        }
        return success("Sharing request has been sent", [.init("request_id", .string(id))])
    }

    /// `DELETE …/sharing?nodes=a,b&user_name=`: ends the sharing. A secondary user may use it to leave.
    func unshare(_ kind: SharingTable.Kind, _ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let subjects = (call.request.query(kind.rawValue) ?? "").split(separator: ",").map(String.init)
        guard !subjects.isEmpty else { throw .nodeIDMissing }
        guard let name = call.request.query("user_name") else { throw .userNameMissing }
        guard let guest = readState({ $0.user(named: name) }) else { throw .userMissing }
        for subject in subjects where guest.id != user.id { try mustOwn(subject, kind, user) }
        let changes = try change { state -> [MappingChange]? in
            var changes: [MappingChange] = []
            for subject in subjects {
                guard let more = state.unshare(subject, kind, from: guest.id) else { return nil }
                changes += more
            }
            return changes
        }
        guard let changes else { throw .noAssociation }
        record(changes)
        return success("Sharing removed successfully")
    }

    /// `GET …/sharing/requests`: the requests that the caller has sent (`primary_user=true`) or received.
    func sharingRequests(_ kind: SharingTable.Kind, _ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let asOwner = try flag("primary_user", in: call, otherwise: false)
        let now = now
        var requests = readState { $0.sharing?.list(kind, of: user.id, asOwner: asOwner, at: now) ?? [] }
        if let id = call.request.query("request_id") {
            requests = requests.filter { $0.id == id }
            guard !requests.isEmpty else { throw .sharingRequestMissing }
        }
        if let start = call.request.query("start_request_id") {
            requests = Array(requests.drop { $0.id != start })
        }
        let shown = requests.prefix(Self.sharingPage)
        var members: [JSONValue.Member] = [.init("sharing_requests", .array(shown.map { describe($0) }))]
        if let next = requests.dropFirst(shown.count).first {
            members.append(.init("next_request_id", .string(next.id)))
            members.append(.init("next_user_name", .string(userName(asOwner ? next.guest : next.owner))))
        }
        return Response(.object(members))
    }

    /// `PUT …/sharing/requests` `{"accept":bool,"request_id":…}`: the other user's answer.
    func answerSharing(_ kind: SharingTable.Kind, _ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        guard let id = try body.string("request_id"), !id.isEmpty else { throw .requestIDMissing }
        guard let isAccepted = try body.bool("accept") else { throw .invalidBody }
        let request = try pending(kind, id, of: user, asOwner: false)
        try change { state in
            if isAccepted {
                state.sharing?.remove(id)
                for subject in request.subjects { state.share(subject, request) }
            } else {
                state.sharing?.decline(id)
            }
        }
        return success(isAccepted ? "Sharing request accepted" : "Sharing request declined")
    }

    /// `DELETE …/sharing/requests?request_id=`: the owner withdraws the request.
    func cancelSharing(_ kind: SharingTable.Kind, _ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        guard let id = call.request.query("request_id") else { throw .requestIDMissing }
        _ = try pending(kind, id, of: user, asOwner: true)
        try change { $0.sharing?.remove(id) }
        return success("Sharing request removed successfully")
    }

    /// `GET user/nodes/sharing[?node_id=]`: the users of the caller's nodes.
    func nodeSharing(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let ids =
            call.request.query("node_id") == nil
            ? readState { $0.mappings.nodes(of: user.id) } : [try namedNode(call).id]
        let listed = ids.map { id -> JSONValue in
            let (users, primaries) = readState { state in
                let users = state.mappings.users(of: id)
                return (users, users.filter { state.mappings.isPrimary($0, of: id) })
            }
            var names: [JSONValue.Member] = [.init("primary", .array(primaries.map { .string(userName($0)) }))]
            let others = users.filter { !primaries.contains($0) }
            if !others.isEmpty { names.append(.init("secondary", .array(others.map { .string(userName($0)) }))) }
            return ["node_id": .string(id), "users": .object(names)]
        }
        return Response(["node_sharing": .array(listed)])
    }

    private func pending(
        _ kind: SharingTable.Kind, _ id: String, of user: User, asOwner: Bool
    ) throws(APIError) -> SharingTable.Request {
        let now = now
        let all = readState { $0.sharing?.list(kind, of: user.id, asOwner: asOwner, at: now) ?? [] }
        guard let request = all.first(where: { $0.id == id }), asOwner || request.status == .pending else {
            throw .sharingRequestMissing
        }
        return request
    }

    private func describe(_ request: SharingTable.Request) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("request_id", .string(request.id)), .init("request_status", .string(request.status.rawValue)),
            // In seconds, unlike a mapping's.
            .init("request_timestamp", .integer(request.requestedAt / 1000)),
            .init(
                request.kind == .nodes ? "node_ids" : "group_ids", .array(request.subjects.map { .string($0) })),
            .init("user_name", .string(userName(request.guest))),
            .init("primary_user_name", .string(userName(request.owner))),
        ]
        if request.kind == .groups {
            let names = readState { state in request.subjects.compactMap { state.groups?[$0]?.name } }
            members.append(.init("group_names", .array(names.map { .string($0) })))
        }
        if let ownerStays = request.ownerStays {
            members.append(.init("transfer", true))
            if ownerStays { members.append(.init("new_role", "secondary")) }
        }
        if let metadata = request.metadata { members.append(.init("metadata", metadata)) }
        return .object(members)
    }

    func userName(_ id: String) -> String { readState { $0.users[id]?.userName } ?? "" }

    static func names(_ json: JSONValue?) throws(APIError) -> [String] {
        guard let list = json?.array, list.count <= 100 else {
            if json == nil { return [] }
            throw .invalidBody
        }
        let names = list.compactMap(\.string)
        guard names.count == list.count, names.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 64 }) else {
            throw .invalidBody
        }
        return names
    }

    private func mustOwn(_ subject: String, _ kind: SharingTable.Kind, _ user: User) throws(APIError) {
        switch kind {
        case .nodes:
            _ = try ownNode(subject, of: user)
            guard readState({ $0.mappings.isPrimary(user.id, of: subject) }) else { throw .notPrimary }
        case .groups:
            guard let group = readState({ $0.groups?[subject] }), group.owner == user.id else { throw .groupMissing }
        }
    }
}
