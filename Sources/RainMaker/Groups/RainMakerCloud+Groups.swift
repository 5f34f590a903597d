// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension RainMakerCloud {
    /// The user's groups that are in no other which the user has, without their nodes.
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

    /// One group, with its nodes and sub-groups. Throws `rejected` where the user has no such group.
    public func group(_ id: String) async throws(AccountError) -> NodeGroup {
        let reply = try await call(
            RainMakerCall(
                .get, Self.groupPath,
                query: [("group_id", id), ("node_list", "true"), ("sub_groups", "true")]), words: Self.groupWords)
        guard let group = reply["groups"]?.array?.lazy.compactMap({ NodeGroup($0) }).first(where: { $0.id == id })
        else {
            throw AccountError(.rejected, message: "the cloud has no group of that id for the signed-in user")
        }
        return group
    }

    /// Makes a group, and returns its id.
    public func createGroup(_ group: NodeGroupChange, nodes: [NodeID] = []) async throws(AccountError) -> String {
        var body = group.members
        if !nodes.isEmpty { body.append(.init("nodes", .array(nodes.map { .string($0.rawValue) }))) }
        let reply = try await call(
            RainMakerCall(.post, Self.groupPath, body: .object(body)), words: Self.groupWords)
        guard let id = reply["group_id"]?.string, !id.isEmpty else { throw incomplete("group_id", in: reply) }
        return id
    }

    /// Changes what is given of a group.
    public func changeGroup(_ id: String, _ change: NodeGroupChange) async throws(AccountError) {
        try await call(
            RainMakerCall(.put, Self.groupPath, query: [("group_id", id)], body: .object(change.members)),
            words: Self.groupWords)
    }

    /// Puts nodes into a group.
    public func addNodes(_ nodes: [NodeID], toGroup id: String) async throws(AccountError) {
        try await changeNodes(nodes, ofGroup: id, "add")
    }

    /// Takes nodes out of a group. They stay in the account.
    public func removeNodes(_ nodes: [NodeID], fromGroup id: String) async throws(AccountError) {
        try await changeNodes(nodes, ofGroup: id, "remove")
    }

    /// Removes a group and those in it. The nodes stay in the account.
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
