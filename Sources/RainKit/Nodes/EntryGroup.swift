// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// A schedule or a scene that several nodes keep under one id.
///
/// The cloud knows neither schedules nor scenes. Each node keeps its own copy, with its own values to set. Everything else in the copies
/// should be the same. If a node misses a change, the copies differ: the group is then out of sync, and the phone apps show two entries.
public struct EntryGroup: Sendable {
    /// A node's copy of the entry.
    public struct Copy: Sendable {
        /// The node.
        public var node: NodeID
        /// The node's name, or its id if it has none; both if another node has the same name.
        public var nodeName: String
        /// The copy, as the node has last reported it.
        public var entry: ServiceEntry

        public init(node: NodeID, nodeName: String, entry: ServiceEntry) {
            self.node = node
            self.nodeName = nodeName
            self.entry = entry
        }
    }

    /// A member that all copies should have in common. The values to set are not one: each node has its own.
    public enum Member: String, Sendable, CaseIterable {
        /// The entry's name.
        case name
        /// Whether a schedule is enabled.
        case enabled
        /// The times of a schedule.
        case triggers
        /// The remark for applications.
        case info
        /// The numbers for applications.
        case flags
        /// The first and last time at which a schedule acts.
        case validity
    }

    /// Whether the entry is a schedule or a scene.
    public var service: ListService
    /// The id, which is the same at each node.
    public var id: String
    /// The copies, in the order of the nodes.
    public var copies: [Copy]

    /// Groups the entries of nodes by their ids, in the order in which they appear. Nodes whose firmware does not have the service are
    /// left out.
    public static func groups(of service: ListService, at nodes: [Node]) -> [EntryGroup] {
        var groups: [EntryGroup] = []
        var places: [String: Int] = [:]
        var seen: Set<NodeID> = []
        for node in nodes.toldApart where seen.insert(node.id).inserted {
            var ids: Set<String> = []
            for entry in node.entries(of: service) ?? [] where ids.insert(entry.id).inserted {
                let copy = Copy(node: node.id, nodeName: node.shownName, entry: entry)
                if let place = places[entry.id] {
                    groups[place].copies.append(copy)
                } else {
                    places[entry.id] = groups.count
                    groups.append(EntryGroup(service: service, id: entry.id, copies: [copy]))
                }
            }
        }
        return groups
    }

    /// The name that most copies have.
    public var name: String { variants().first?[0].entry.name ?? "" }

    /// The members in which the copies differ.
    public var differences: [Member] {
        Member.allCases.filter { member in !copies.allSatisfy { $0.entry.agrees(with: copies[0].entry, in: member) } }
    }

    /// Whether all copies agree.
    public var isInSync: Bool { differences.isEmpty }

    /// The copies that agree in these members together: those that most nodes have come first.
    func variants(in members: [Member] = Member.allCases) -> [[Copy]] {
        var variants: [[Copy]] = []
        for copy in copies {
            let place = variants.firstIndex { variant in
                members.allSatisfy { variant[0].entry.agrees(with: copy.entry, in: $0) }
            }
            if let place { variants[place].append(copy) } else { variants.append([copy]) }
        }
        // Of variants with the same number of copies, the order of the nodes decides.
        return variants.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }

    /// Returns the copy that is the model for the others: the one of `node`, or else one of those that most nodes have.
    ///
    /// - Throws: `RainKitError`: `no_such_entry` if `node` has no copy. `out_of_sync` if no variant is more common than the others.
    ///   `id_taken` if a node seems to have another entry under the same id.
    public func model(like node: NodeID? = nil) throws -> Copy { try model(like: node, in: Member.allCases) }

    func model(like node: NodeID?, in members: [Member]) throws(RainKitError) -> Copy {
        if let node {
            if let copy = copies.first(where: { $0.node == node }) { return copy }
            throw RainKitError(
                .request(.badData, reason: "no_such_entry"),
                message: "\(node.rawValue.onOneLine) has no copy of the \(service.noun) \(shownName).")
        }
        try checkIsOneEntry()
        let variants = variants(in: members)
        guard let first = variants.first else {
            throw RainKitError(
                .request(.badData, reason: "no_such_entry"),
                message: "No board has a copy of the \(service.noun) \(shownName).")
        }
        guard variants.count > 1, variants[1].count == first.count else { return first[0] }
        throw RainKitError(
            .request(.usage, reason: "out_of_sync"),
            message:
                "The copies of the \(service.noun) \(shownName) differ, and no version is the most common: \(differenceText()).",
            remedies: [.modelNode])
    }

    /// Throws `id_taken` if a copy has nothing in common with the most common one. Two entries that were created apart can have the same id.
    func checkIsOneEntry() throws(RainKitError) {
        guard let first = variants().first?[0],
            let other = copies.first(where: { $0.entry.isOther(than: first.entry) })
        else { return }
        throw RainKitError(
            .request(.badData, reason: "id_taken"),
            message: """
                Two different \(service.noun)s have the id \(id.onOneLine): \(other.entry.shownText) on \(other.nodeName), and \
                \(first.entry.shownText) on \(first.nodeName). Change each \(service.noun) only on its own boards, or remove one and \
                add it again.
                """)
    }

    /// Throws `id_taken` if nodes have different entries under this id.
    package static func check(id: String, of service: ListService, at nodes: [Node]) throws(RainKitError) {
        for group in groups(of: service, at: nodes) where group.id == id { try group.checkIsOneEntry() }
    }

    /// The name and the id.
    var shownName: String { name.isEmpty ? id.onOneLine : "\(name) (\(id))".onOneLine }

    /// Describes how copies differ from the most common one: "Hall's copy is called Late and acts at 20:00 daily". At most five copies are
    /// described.
    package func differenceText() -> String {
        guard let first = variants().first?[0] else { return "" }
        let others = copies.filter { copy in
            !Member.allCases.allSatisfy { copy.entry.agrees(with: first.entry, in: $0) }
        }
        let described = others.prefix(5).map { copy in
            let words = Member.allCases.filter { !copy.entry.agrees(with: first.entry, in: $0) }
                .map { copy.entry.words(about: $0) }
            return "\(copy.nodeName)'s copy \(words.joined(separator: " and "))"
        }
        return described.joined(separator: ", ") + (others.count > 5 ? ", and \(others.count - 5) more" : "")
    }

    public init(service: ListService, id: String, copies: [Copy]) {
        self.service = service
        self.id = id
        self.copies = copies
    }
}

extension ListService {
    /// `schedule` or `scene`.
    package var noun: String { self == .schedules ? "schedule" : "scene" }
}

extension ServiceEntry {
    /// Whether two copies have the same value. A value that is absent is the firmware's default.
    func agrees(with other: ServiceEntry, in member: EntryGroup.Member) -> Bool {
        switch member {
        case .name: return name == other.name
        case .enabled: return isEnabled == other.isEnabled
        case .triggers:
            let (own, others) = (document["triggers"]?.array ?? [], other.document["triggers"]?.array ?? [])
            return own.count == others.count && zip(own, others).allSatisfy { ScheduleTrigger.isSame($0, $1) }
        case .info: return (document["info"]?.string ?? "") == (other.document["info"]?.string ?? "")
        case .flags: return (document["flags"]?.integer ?? 0) == (other.document["flags"]?.integer ?? 0)
        case .validity:
            return ["start", "end"].allSatisfy { name in
                (document["validity"]?[name]?.integer ?? 0) == (other.document["validity"]?[name]?.integer ?? 0)
            }
        }
    }

    /// Whether two copies with one id are probably two entries: they have neither the name nor the time in common. Scenes have no time; there
    /// the parameters that they set count.
    func isOther(than other: ServiceEntry) -> Bool {
        guard name.lowercased() != other.name.lowercased() else { return false }
        guard document["triggers"] == nil, other.document["triggers"] == nil else {
            return !agrees(with: other, in: .triggers)
        }
        let paths = Set(([ParameterChange](action) ?? []).map { "\($0.path)" })
        return paths.isDisjoint(with: ([ParameterChange](other.action) ?? []).map { "\($0.path)" })
    }

    /// The name and the times, such as "Evening, at 19:30 mon-fri".
    var shownText: String { ([name] + triggers.map(\.description)).joined(separator: ", ").onOneLine }

    fileprivate func words(about member: EntryGroup.Member) -> String {
        switch member {
        case .name: "is called \(name.onOneLine)"
        case .enabled: isEnabled == true ? "is enabled" : "is disabled"
        case .triggers:
            triggers.isEmpty
                ? "has no time" : "acts \(triggers.map(\.description).joined(separator: ", "))".onOneLine
        case .info: "has a different remark"
        case .flags: "has different flags"
        case .validity: "has a different validity period"
        }
    }
}

extension [Node] {
    /// The nodes, of which those with the same name are shown with their ids.
    var toldApart: [Node] {
        let counts = Dictionary(grouping: self) { $0.shownName.lowercased() }.mapValues { Set($0.map(\.id)).count }
        return map { node in
            var node = node
            if counts[node.shownName.lowercased()] ?? 0 > 1 { node.isShownWithID = true }
            return node
        }
    }
}

extension RainKitClient {
    /// Returns the schedules or the scenes of all nodes in the account, grouped by their ids. Nodes whose firmware does not have the service
    /// are left out.
    ///
    /// - Throws: `RainKitError`: the cloud's refusals.
    public func entryGroups(of service: ListService) async throws -> [EntryGroup] {
        do throws(AccountError) {
            var nodes: [Node] = []
            // Nodes without entries are not kept: accounts can have thousands of them.
            try await listNodes { node in
                if node.entries(of: service)?.isEmpty == false { nodes.append(node) }
            }
            return EntryGroup.groups(of: service, at: nodes)
        } catch {
            throw RainKitError(error)
        }
    }
}
