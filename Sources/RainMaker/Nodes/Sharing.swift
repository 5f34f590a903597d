// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// The things that a user can share with others.
public enum SharedKind: String, Sendable, CaseIterable {
    /// Single nodes.
    case nodes
    /// Groups, together with their nodes.
    case groups

    /// The path of the calls.
    fileprivate var path: String { self == .nodes ? "user/nodes/sharing" : "user/node_group/sharing" }
    var listMember: String { self == .nodes ? "node_sharing" : "group_sharing" }
    fileprivate var idMember: String { self == .nodes ? "node_id" : "group_id" }
}

/// The role of the other user.
public enum SharedRole: Sendable, Equatable {
    /// The user may see and set values, and may leave at any time.
    case secondary
    /// The user is an owner too, and may share it further.
    case primary
    /// The user is the only owner. The former owner becomes a secondary user, or loses access.
    case newOwner(formerOwnerStays: Bool)
}

/// The users of a node or a group.
public struct Sharing: Sendable, Equatable {
    /// The id of the node or group.
    public var id: String
    /// The user names of the owners.
    public var primaryUsers: [String]
    /// The user names of the secondary users.
    public var secondaryUsers: [String]

    /// Reads an entry of the list, and the groups in it.
    fileprivate static func all(_ json: JSONValue, _ kind: SharedKind, depth: Int = 0) -> [Sharing] {
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

/// An offer of nodes or groups that has not been accepted yet.
public struct SharingRequest: Sendable, Equatable {
    /// The id with which the offer is accepted, declined or cancelled.
    public var id: String
    /// `pending` or `declined`.
    public var status: String
    /// The ids of the offered nodes or groups.
    public var subjects: [String]
    /// The user name of the recipient.
    public var userName: String?
    /// The user name of the owner.
    public var ownerName: String?
    /// The time of the offer, by the cloud's clock. It can be accepted for seven days.
    public var requestedAt: UnixTime?
    /// Whether the recipient becomes the owner in place of the present one.
    public var isTransfer: Bool
    /// The names of offered groups; empty if the cloud does not say, and for nodes.
    public var groupNames: [String]
    /// What the owner's application sent for the recipient, such as `{"devices":[{"name":"Kitchen lamp"}]}`.
    public var metadata: JSONValue?

    init?(_ json: JSONValue) {
        guard let id = json["request_id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        status = json["request_status"]?.string ?? "pending"
        subjects = ((json["node_ids"] ?? json["group_ids"])?.array ?? []).compactMap(\.string)
        userName = json["user_name"]?.string
        ownerName = json["primary_user_name"]?.string
        requestedAt = json["request_timestamp"].flatMap(LenientInteger.init).map { UnixTime(seconds: Double($0.value)) }
        isTransfer = json["transfer"]?.bool ?? false
        groupNames = (json["group_names"]?.array ?? []).compactMap(\.string)
        metadata = json["metadata"]?.unlessNull
    }

    /// The names of the offered devices, as the metadata of the apps has them: `{"devices":[{"name":"Kitchen lamp"}]}`.
    public var deviceNames: [String] { (metadata?["devices"]?.array ?? []).compactMap { $0["name"]?.string } }
}

extension RainMakerCloud {
    /// The sub-roles that a secondary user can have (`sub_role`). Nodes get them in the upper half of a command's role byte, one bit for
    /// each (esp-rainmaker-common, `esp_rmaker_cmd_resp.h`).
    public static let subRoles = 1...4

    /// Offers nodes or groups to another user, who has seven days to accept.
    ///
    /// - Parameters:
    ///   - ids: of nodes or groups that the signed-in user owns.
    ///   - userName: the other user's e-mail address or telephone number.
    ///   - subRole: a number from ``subRoles`` that nodes get with each command of a secondary user. Its meaning is the product's own.
    ///   - metadata: an object for the other user's application.
    /// - Returns: the request's id. Throws `unknownUser` if the user does not exist.
    @discardableResult
    public func share(
        _ kind: SharedKind, _ ids: [String], with userName: String, as role: SharedRole = .secondary,
        subRole: Int? = nil, metadata: JSONValue? = nil
    ) async throws(AccountError) -> String {
        if let subRole {
            guard Self.subRoles.contains(subRole), role == .secondary else {
                throw AccountError(
                    .invalidInput, message: "a sub-role must be from 1 to 4, and only a secondary user can have one")
            }
        }
        var body: [JSONValue.Member] = [
            .init(kind.rawValue, .array(ids.map { .string($0) })), .init("user_name", .string(userName)),
        ]
        switch role {
        case .secondary: break
        case .primary: body.append(.init("primary", true))
        case .newOwner(let stays):
            body.append(.init("transfer", true))
            if stays { body.append(.init("new_role", "secondary")) }
        }
        if let subRole { body.append(.init("sub_role", .integer(Int64(subRole)))) }
        if let metadata { body.append(.init("metadata", metadata)) }
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await call(
                RainMakerCall(.put, kind.path, body: .object(body)), words: Self.offerWords(kind, to: userName))
        } catch {
            guard error.code == .rejected, await isOwn(userName) else { throw error }
            var error = error
            error.message =
                "\(presentable(userName)) is the signed-in user; name another user to share with"
            throw error
        }
        guard let id = reply["request_id"]?.string, !id.isEmpty else { throw incomplete("request_id", in: reply) }
        return id
    }

    /// Stops sharing with a user. A secondary user gives their own name to leave. Throws `unknownUser` if the user does not exist.
    public func stopSharing(
        _ kind: SharedKind, _ ids: [String], with userName: String
    ) async throws(AccountError) {
        try await call(
            RainMakerCall(
                .delete, kind.path,
                query: [(kind.rawValue, ids.joined(separator: ",")), ("user_name", userName)]),
            words: Self.endWords(kind, ids, with: userName))
    }

    /// Returns the users of all nodes or groups of the signed-in user, also of groups inside groups. With an id, returns the users of that
    /// one.
    public func sharing(_ kind: SharedKind, of id: String? = nil) async throws(AccountError) -> [Sharing] {
        let all: [(name: String, value: String)] = kind == .groups ? [("sub_groups", "true")] : []
        let reply = try await call(
            RainMakerCall(.get, kind.path, query: id.map { [(kind.idMember, $0)] } ?? all),
            words: kind == .groups ? Self.groupWords : [:])
        guard let list = reply[kind.listMember]?.array else { throw incomplete(kind.listMember, in: reply) }
        return list.flatMap { Sharing.all($0, kind) }
    }

    /// Returns the offers that the user has sent or received.
    ///
    /// - Throws: `malformedAnswer` for a list that does not end.
    public func sharingRequests(_ kind: SharedKind, sent: Bool) async throws(AccountError) -> [SharingRequest] {
        var requests: [SharingRequest] = []
        var bound = ListBound(of: "sharing requests", bytes: ListBound.wholeBytes)
        var query: [(name: String, value: String)] = [("primary_user", sent ? "true" : "false")]
        while true {
            let page = try await measuredCall(RainMakerCall(.get, kind.path + "/requests", query: query))
            guard let list = page.reply["sharing_requests"]?.array else {
                throw incomplete("sharing_requests", in: page.reply)
            }
            try bound.count(list.count, bytes: page.bytes)
            requests += list.compactMap(SharingRequest.init)
            guard let next = page.reply["next_request_id"]?.string, !next.isEmpty else { return requests }
            try bound.count(next: next)
            query = [query[0], ("start_request_id", next)]
            if let name = page.reply["next_user_name"]?.string { query.append(("start_user_name", name)) }
        }
    }

    /// Accepts or declines an offer.
    public func answerSharing(
        _ kind: SharedKind, request id: String, accepting: Bool
    ) async throws(AccountError) {
        try await call(
            RainMakerCall(
                .put, kind.path + "/requests", body: ["accept": .bool(accepting), "request_id": .string(id)]),
            words: Self.requestWords)
    }

    /// Cancels an offer that the user has sent.
    public func cancelSharing(_ kind: SharedKind, request id: String) async throws(AccountError) {
        try await call(
            RainMakerCall(.delete, kind.path + "/requests", query: [("request_id", id)]), words: Self.requestWords)
    }
}

/// Messages for calls about groups and sharing. The cloud uses some of its numbers for several things, and their general meanings are about
/// sign-in and mapping.
extension RainMakerCloud {
    typealias RefusalWords = [Int: RainMakerErrorCode.Meaning]

    /// Sends a call with its own meanings for some numbers.
    @discardableResult
    func call(_ call: RainMakerCall, words: RefusalWords) async throws(AccountError) -> JSONValue {
        do throws(AccountError) {
            return try await self.call(call)
        } catch {
            var error = error
            if let meaning = error.serverCode.flatMap({ words[$0] }) {
                (error.code, error.message) = (meaning.code, meaning.sentence)
            }
            throw error
        }
    }

    /// Meanings for a call that changes or shows one group.
    static var groupWords: RefusalWords {
        [
            100_012: .init(code: .rejected, sentence: "the cloud considers the values for the group invalid"),
            103_055: .init(
                code: .rejected, sentence: "the group, or a node, does not belong to the user"),
        ]
    }

    /// Meanings for an offer to another user.
    private static func offerWords(_ kind: SharedKind, to userName: String) -> RefusalWords {
        var words: RefusalWords = [
            100_012: .init(code: .rejected, sentence: "the cloud answered that the sharing request is not valid"),
            101_025: nobody(userName),
        ]
        // For nodes the general meaning applies.
        if kind == .groups { words[103_055] = groupWords[103_055] }
        return words
    }

    /// Meanings for a call that stops sharing.
    private static func endWords(_ kind: SharedKind, _ ids: [String], with userName: String) -> RefusalWords {
        let noun = kind == .nodes ? "node" : "group"
        let names = presentable(ids.joined(separator: ", "))
        let subject = ids.count == 1 ? "the \(noun) \(names)" : "one of the \(noun)s \(names)"
        return [
            100_012: .init(
                code: .rejected, sentence: "the cloud considers the request to stop sharing invalid"),
            101_025: nobody(userName),
            103_055: .init(
                code: kind == .nodes ? .unknownNode : .rejected,
                sentence: "\(subject) is not shared with \(presentable(userName))"),
        ]
    }

    /// Meanings for answering or cancelling a sharing request.
    private static var requestWords: RefusalWords {
        var words: RefusalWords = [
            100_012: .init(
                code: .rejected,
                sentence:
                    "there is no open sharing request with this id that you can answer or cancel. Only the receiver can accept or decline a request, and only the sender can cancel it"
            )
        ]
        for number in 103_016...103_018 {
            words[number] = .init(code: .rejected, sentence: "the cloud could not look the sharing request up")
        }
        return words
    }

    private static func nobody(_ userName: String) -> RainMakerErrorCode.Meaning {
        .init(
            code: .unknownUser,
            sentence: "there is no user \(presentable(userName)) at this deployment; check the spelling")
    }
}
