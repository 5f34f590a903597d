// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The groups, nodes and requests of a simulated RainMaker Neo. A value without a clock: each step gets the time (milliseconds since 1970).
struct NeoState: Sendable {
    struct Subgroup: Sendable {
        var name: String
        var nodes: [String] = []
        /// The users who have only this part of the group.
        var members: [String] = []
    }

    struct Group: Sendable {
        var name: String
        /// `primary` or `secondary`, by user id.
        var members: [String: String]
        var nodes: [String] = []
        var subgroups: [String: Subgroup] = [:]
    }

    /// A request to bring a node into a group.
    struct Association: Sendable {
        var group: String
        var user: String
        var challenge: String
        var expiresAt: Int64
    }

    struct Offer: Sendable {
        var group: String
        var subgroup: String?
        var from: TokenUser
        var to: String
        var access: String
        var expiresAt: Int64
    }

    /// What the cloud has of a node besides its shadows.
    struct NodeEntry: Sendable {
        var node: Node
        var schedules: JSONValue = .array([])
        var shadows: [String: NeoShadowDocument] = [:]
        var isConnected = false
    }

    struct SeriesKey: Hashable, Sendable {
        var node: String
        var key: String
    }

    struct Record: Sendable {
        var time: Int64
        var type: String
        var value: JSONValue
        var zone: String
    }

    /// How long a request to add a node is valid, in milliseconds: five minutes.
    static let associationLifetime: Int64 = 300_000
    static let offerLifetime: Int64 = 86_400_000
    /// Limits of the simulator.
    static let maximum = 1000
    private static let maximumRecords = 200_000

    var groups: [String: Group] = [:]
    var associations: [String: Association] = [:]
    var offers: [String: Offer] = [:]
    var nodes: [String: NodeEntry] = [:]
    var series: [SeriesKey: [Record]] = [:]

    /// The groups of a user, and what the user has of each.
    func groups(of user: String) -> [(id: String, access: String)] {
        groups.keys.sorted().compactMap { id in
            guard let group = groups[id] else { return nil }
            if let access = group.members[user] { return (id, access) }
            return group.subgroups.values.contains { $0.members.contains(user) } ? (id, "subgroup") : nil
        }
    }

    /// The nodes of a group that a user has.
    func nodes(of user: String, in group: String) -> [String] {
        guard let found = groups[group] else { return [] }
        if found.members[user] != nil { return found.nodes }
        let parts = found.subgroups.values.filter { $0.members.contains(user) }
        return found.nodes.filter { node in parts.contains { $0.nodes.contains(node) } }
    }

    func group(ofNode node: String) -> String? { groups.first { $0.value.nodes.contains(node) }?.key }

    /// The sub-groups of a node, sorted.
    func subgroups(ofNode node: String) -> [String] {
        guard let group = group(ofNode: node), let found = groups[group] else { return [] }
        return found.subgroups.filter { $0.value.nodes.contains(node) }.keys.sorted()
    }

    /// The name of a node's shadow; nil for a node without a group.
    func shadow(ofNode node: String) -> String? {
        group(ofNode: node).map { (["params-\($0)"] + subgroups(ofNode: node)).joined(separator: "-") }
    }

    /// Brings a node into a group. Its shadow moves with it.
    mutating func move(_ node: String, to group: String) {
        changeGroups(of: node) { state in
            for id in state.groups.keys { state.groups[id]?.remove(node) }
            state.groups[group]?.nodes.append(node)
        }
    }

    mutating func remove(_ node: String) {
        for id in groups.keys { groups[id]?.remove(node) }
        nodes[node]?.shadows = [:]
    }

    /// Changes the groups of a node. Its shadow gets its new name.
    mutating func changeGroups(of node: String, _ change: (inout NeoState) -> Void) {
        let before = shadow(ofNode: node)
        change(&self)
        guard let before, let after = shadow(ofNode: node), before != after else { return }
        let moved = nodes[node]?.shadows.removeValue(forKey: before)
        nodes[node]?.shadows[after] = moved
    }

    mutating func add(_ record: Record, to key: SeriesKey) {
        var records = series[key] ?? []
        // The newest first.
        let index = records.firstIndex { $0.time <= record.time } ?? records.count
        if index < records.count, records[index].time == record.time {
            records[index] = record
        } else {
            records.insert(record, at: index)
        }
        if records.count > Self.maximumRecords { records.removeLast() }
        series[key] = records
    }
}

extension NeoState.Group {
    fileprivate mutating func remove(_ node: String) {
        nodes.removeAll { $0 == node }
        for id in subgroups.keys { subgroups[id]?.nodes.removeAll { $0 == node } }
    }
}

/// AWS IoT's copy of the values that a node has reported.
struct NeoShadowDocument: Sendable, Equatable {
    private(set) var reported: JSONValue = .object([])
    private var version: Int64 = 0
    /// When the members of ``reported`` were last reported, in seconds since 1970.
    private var times: [String: Int64] = [:]

    /// Merges a report, member by member. Null removes a member.
    mutating func report(_ change: JSONValue, at now: Int64) {
        reported = Self.merged(reported, change)
        version += 1
        for member in change.members ?? [] { times[member.name] = now / 1000 }
    }

    /// The answer to a question for the document.
    func document(at now: Int64) -> JSONValue {
        let metadata = times.keys.sorted().map { name in
            JSONValue.Member(name, ["timestamp": .integer(times[name] ?? 0)])
        }
        return [
            "state": ["reported": reported], "metadata": ["reported": .object(metadata)],
            "version": .integer(version), "timestamp": .integer(now / 1000),
        ]
    }

    private static func merged(_ old: JSONValue, _ change: JSONValue) -> JSONValue {
        guard let changes = change.members, var members = old.members else { return change }
        for change in changes {
            let index = members.firstIndex { $0.name == change.name }
            if change.value.isNull {
                if let index { members.remove(at: index) }
            } else if let index {
                members[index].value = merged(members[index].value, change.value)
            } else {
                members.append(change)
            }
        }
        return .object(members)
    }
}

/// Temporary AWS credentials that the simulated cloud has issued.
struct NeoCredentialTable: Sendable {
    struct Credential: Sendable {
        var accessKey: String
        var secretKey: String
        var sessionToken: String
        var user: TokenUser
        /// Milliseconds since 1970.
        var expiresAt: Int64
        /// The groups whose topics may be used; nil for credentials of the API.
        var groups: Set<String>?
    }

    private static let maximum = 1000
    /// An hour, in milliseconds.
    static let lifetime: Int64 = 3_600_000

    private var all: [Credential] = []

    /// - Parameter groups: nil for credentials of the API.
    mutating func issue(to user: TokenUser, groups: Set<String>?, at now: Int64) -> Credential {
        let credential = Credential(
            accessKey: "ASIA" + CloudAPI.shortID().uppercased(),
            secretKey: "\(CloudAPI.shortID())/\(CloudAPI.shortID())+",
            sessionToken: "\(makeUUID())/\(CloudAPI.shortID())==", user: user, expiresAt: now + Self.lifetime,
            groups: groups)
        all.append(credential)
        if all.count > Self.maximum { all.removeFirst() }
        return credential
    }

    func credential(_ accessKey: String, at now: Int64) -> Credential? {
        all.first { $0.accessKey == accessKey && $0.expiresAt > now }
    }

    mutating func endAll() { all = [] }
}
