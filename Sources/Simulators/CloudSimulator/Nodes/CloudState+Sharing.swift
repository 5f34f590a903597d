// SPDX-License-Identifier: Apache-2.0
extension CloudState {
    /// Takes a node from a user's account and groups; from those of all who have it where that user is its only owner. Nil where the user does
    /// not have it.
    mutating func removeNode(_ node: String, from user: String) -> [MappingChange]? {
        guard let changes = mappings.remove(node, from: user) else { return nil }
        for change in changes { groups?.removeNode(node, of: change.userID) }
        return changes
    }

    /// Has nodes that a reset, or another user's mapping, took from a user leave that user's groups as well.
    mutating func leaveGroups(_ changes: [MappingChange]) {
        for change in changes where change.what == .removed {
            if let node = change.nodeID { groups?.removeNode(node, of: change.userID) }
        }
    }

    /// Carries out an accepted request for one node or group.
    mutating func share(_ subject: String, _ request: SharingTable.Request) {
        switch request.kind {
        case .nodes:
            mappings.share(
                subject, with: request.guest, asPrimary: request.isPrimary, leaving: request.owner,
                ownerStays: request.ownerStays)
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
            // Who has a group has its nodes.
            for node in group.nodes {
                mappings.share(node, with: request.guest, asPrimary: false, leaving: request.owner, ownerStays: nil)
            }
        }
    }

    /// Takes it from a second user; nil where that user does not have it, or is its owner.
    mutating func unshare(_ subject: String, _ kind: SharingTable.Kind, from user: String) -> [MappingChange]? {
        switch kind {
        case .nodes:
            guard !mappings.isPrimary(user, of: subject) else { return nil }
            return removeNode(subject, from: user)
        case .groups:
            guard var group = groups?[subject], group.guests.contains(user) else { return nil }
            group.guests.removeAll { $0 == user }
            groups?.put(group)
            // What another of the groups that the user still has holds stays.
            return group.nodes.filter {
                !mappings.isPrimary(user, of: $0) && groups?.holds($0, visibleTo: user) != true
            }
            .flatMap { removeNode($0, from: user) ?? [] }
        }
    }
}
