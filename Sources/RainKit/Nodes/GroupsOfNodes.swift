// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

extension RainKitClient {
    /// Puts nodes into a group.
    ///
    /// A node of a group within another group belongs to that one too. So the node is first added to each group around this one that does not
    /// have it, as espressif/esp-rainmaker-mcp 0.2.0 does.
    ///
    /// - Parameter list: node ids or names, such as `Kitchen lamp,Fan`.
    /// - Returns: the nodes that were added, and those that were in the group already.
    /// - Throws: `RainKitError`, as ``nodes(listed:)`` does; the cloud's refusals.
    @discardableResult
    public func addNodes(
        listed list: String, to group: NodeGroup
    ) async throws -> (added: [NodeID], already: [NodeID]) {
        let ids = try await nodes(listed: list).map(\.id)
        return try await asking { cloud throws(AccountError) in
            let known = try await cloud.group(group.id)
            let present = known.nodes ?? []
            let added = ids.filter { !present.contains($0) }
            if !added.isEmpty {
                for outer in try await Self.groups(around: known, cloud).reversed() {
                    let missing = added.filter { !(outer.nodes ?? []).contains($0) }
                    if !missing.isEmpty { try await cloud.addNodes(missing, toGroup: outer.id) }
                }
                try await cloud.addNodes(added, toGroup: group.id)
            }
            return (added, ids.filter { present.contains($0) })
        }
    }

    /// The groups around a group that the user may change, the innermost first.
    private static func groups(
        around group: NodeGroup, _ cloud: any NodeCloud
    ) async throws(AccountError) -> [NodeGroup] {
        var groups: [NodeGroup] = []
        var next = group.parent
        while let id = next, !groups.contains(where: { $0.id == id }), id != group.id {
            let outer = try await cloud.group(id)
            if outer.isPrimary == false { break }
            groups.append(outer)
            next = outer.parent
        }
        return groups
    }

    /// Takes nodes out of a group. They stay in the account.
    ///
    /// - Parameter list: node ids or names, such as `Kitchen lamp,Fan`. A node that is not in the account any more is named by its id.
    /// - Returns: the nodes.
    /// - Throws: `RainKitError`: `not_in_group`, and then no node is taken out; the errors of ``nodes(listed:)``; the cloud's refusals.
    @discardableResult
    public func removeNodes(listed list: String, from group: NodeGroup) async throws -> [NodeID] {
        let present = try await asking { cloud throws(AccountError) in try await cloud.group(group.id).nodes }
        let ids = try await ids(listed: list, in: present ?? [])
        // A cloud that does not list the nodes decides itself.
        if let present {
            let absent = ids.filter { !present.contains($0) }.map(\.rawValue).joined(separator: ", ")
            guard absent.isEmpty else {
                throw RainKitError(
                    .request(.badData, reason: "not_in_group"),
                    message:
                        "These boards are not in group \(group.name.onOneLine): \(absent.onOneLine). Nothing was changed."
                )
            }
        }
        try await asking { cloud throws(AccountError) in try await cloud.removeNodes(ids, fromGroup: group.id) }
        return ids
    }

    /// Changes a group.
    ///
    /// - Parameter group: with the groups within it, as ``group(named:)`` returns it.
    /// - Throws: `RainKitError`: `usage` for a parent that is the group itself or is within it; the cloud's refusals.
    public func changeGroup(_ group: NodeGroup, _ change: NodeGroupChange) async throws {
        func holds(_ groups: [NodeGroup]) -> Bool {
            groups.contains { $0.id == change.parent || holds($0.subgroups ?? []) }
        }
        if let parent = change.parent {
            let name = "\"\(group.name.onOneLine)\""
            if parent == group.id {
                throw RainKitError.usage("\(name) cannot be within itself.", remedies: [.otherParent])
            }
            if holds(group.subgroups ?? []) {
                throw RainKitError.usage("\(name) cannot be within one of its own subgroups.", remedies: [.otherParent])
            }
        }
        try await asking { cloud throws(AccountError) in try await cloud.changeGroup(group.id, change) }
    }

    /// The ids in the group need no look-up.
    private func ids(listed list: String, in group: [NodeID]) async throws -> [NodeID] {
        let parts = list.split(separator: ",").map { String($0).withoutOuterBlanks }
        var ids: [NodeID] = []
        for id in parts.map({ NodeID($0) }) where group.contains(id) && !ids.contains(id) { ids.append(id) }
        let others = parts.filter { !group.contains(NodeID($0)) }
        guard !others.isEmpty || ids.isEmpty else { return ids }
        for node in try await nodes(listed: others.joined(separator: ",")) where !ids.contains(node.id) {
            ids.append(node.id)
        }
        return ids
    }
}
