// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The groups that users put their nodes into, each perhaps within another.
struct GroupTable: Codable, Sendable, Equatable {
    struct Group: Codable, Sendable, Equatable {
        var id: String
        var name: String
        var owner: String
        /// The users with whom it is shared.
        var guests: [String] = []
        var parent: String?
        var nodes: [String] = []
        var type: String?
        var about: String?
        var customData: JSONValue?
        var isMutuallyExclusive = false
        var isMatter = false
    }

    /// The simulator's own bounds.
    static let maximumGroups = 1000
    static let maximumDepth = 8

    private var groups: [String: Group] = [:]

    subscript(id: String) -> Group? { groups[id] }

    /// Adds it, or replaces what has its id. False where there is no room.
    @discardableResult
    mutating func put(_ group: Group) -> Bool {
        guard groups[group.id] != nil || groups.count < Self.maximumGroups else { return false }
        groups[group.id] = group
        return true
    }

    /// With all that is within it.
    mutating func remove(_ id: String) {
        for child in children(of: id) { remove(child.id) }
        groups[id] = nil
    }

    /// Those that a user owns or shares and that are in no other that the user sees, by id.
    func roots(of user: String) -> [Group] {
        groups.values.filter { group in
            (group.owner == user || group.guests.contains(user))
                && !(group.parent.map { isVisible($0, to: user) } ?? false)
        }.sorted { $0.id < $1.id }
    }

    func children(of id: String) -> [Group] { groups.values.filter { $0.parent == id }.sorted { $0.id < $1.id } }

    /// Whether the user may see it: it, or one around it, is theirs or shared with them.
    func isVisible(_ id: String, to user: String) -> Bool {
        var next: String? = id
        for _ in 0...Self.maximumDepth {
            guard let group = next.flatMap({ groups[$0] }) else { return false }
            if group.owner == user || group.guests.contains(user) { return true }
            next = group.parent
        }
        return false
    }

    /// Whether a group that the user may see has that node.
    func holds(_ node: String, visibleTo user: String) -> Bool {
        groups.values.contains { $0.nodes.contains(node) && isVisible($0.id, to: user) }
    }

    /// How many groups are around it, itself included.
    func depth(of id: String) -> Int {
        var (next, depth): (String?, Int) = (id, 0)
        while let group = next.flatMap({ groups[$0] }), depth <= Self.maximumDepth {
            (next, depth) = (group.parent, depth + 1)
        }
        return depth
    }

    /// Whether `id` is `other`, or somewhere within it.
    func isWithin(_ id: String, _ other: String) -> Bool {
        var next: String? = id
        for _ in 0...Self.maximumDepth {
            if next == other { return true }
            next = next.flatMap { groups[$0]?.parent }
        }
        return false
    }

    /// A node that has left a user's account is in none of that user's groups any more.
    mutating func removeNode(_ node: String, of user: String) {
        for (id, group) in groups where group.owner == user { groups[id]?.nodes.removeAll { $0 == node } }
    }

    mutating func removeAll(of user: String) {
        for group in groups.values where group.owner == user { remove(group.id) }
        for id in groups.keys { groups[id]?.guests.removeAll { $0 == user } }
    }
}
