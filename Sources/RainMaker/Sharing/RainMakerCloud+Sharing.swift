// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

extension RainMakerCloud {
    /// Offers nodes or groups to another user, who has seven days to accept.
    ///
    /// - Parameters:
    ///   - ids: of nodes or groups that the signed-in user owns.
    ///   - userName: the other's e-mail address or telephone number.
    ///   - metadata: an object for the other's application.
    /// - Returns: the request's id. Throws `unknownUser` where nobody has that name.
    @discardableResult
    public func share(
        _ kind: SharedKind, _ ids: [String], with userName: String, as role: SharedRole = .secondary,
        metadata: JSONValue? = nil
    ) async throws(AccountError) -> String {
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
        if let metadata { body.append(.init("metadata", metadata)) }
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await call(
                RainMakerCall(.put, kind.path, body: .object(body)), words: Self.offerWords(kind, to: userName))
        } catch {
            guard error.code == .rejected, await isOwn(userName) else { throw error }
            var error = error
            error.message =
                "\(presentable(userName)) is yourself, the signed-in user; name the user to share with"
            throw error
        }
        guard let id = reply["request_id"]?.string, !id.isEmpty else { throw incomplete("request_id", in: reply) }
        return id
    }

    /// Ends what is shared with a user; a secondary user names themselves to leave. Throws `unknownUser` where nobody has that name.
    public func stopSharing(
        _ kind: SharedKind, _ ids: [String], with userName: String
    ) async throws(AccountError) {
        try await call(
            RainMakerCall(
                .delete, kind.path,
                query: [(kind.rawValue, ids.joined(separator: ",")), ("user_name", userName)]),
            words: Self.endWords(kind, with: userName))
    }

    /// Who has the user's nodes or groups, those within groups too; or the one of that id.
    public func sharing(_ kind: SharedKind, of id: String? = nil) async throws(AccountError) -> [Sharing] {
        let all: [(name: String, value: String)] = kind == .groups ? [("sub_groups", "true")] : []
        let reply = try await call(
            RainMakerCall(.get, kind.path, query: id.map { [(kind.idMember, $0)] } ?? all),
            words: kind == .groups ? Self.groupWords : [:])
        guard let list = reply[kind.listMember]?.array else { throw incomplete(kind.listMember, in: reply) }
        return list.flatMap { Sharing.all($0, kind) }
    }

    /// The offers that the user has made, or was made.
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

    /// Takes back an offer that the user has made.
    public func cancelSharing(_ kind: SharedKind, request id: String) async throws(AccountError) {
        try await call(
            RainMakerCall(.delete, kind.path + "/requests", query: [("request_id", id)]), words: Self.requestWords)
    }
}
