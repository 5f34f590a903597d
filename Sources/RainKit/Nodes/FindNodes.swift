// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

extension RainKitClient {
    /// Returns the node with this node id, or with the name that the user gave it. Names match without regard to upper and lower case.
    ///
    /// Only a text that has the form of a node id is sent to the cloud as one. Any other is looked up in the list of the account's nodes.
    ///
    /// - Throws: `RainKitError`: `no_such_node`; `several_nodes` for a name that several nodes have; `usage` for an empty name.
    public func node(named name: String) async throws -> Node {
        guard let node = try await nodes(named: [name]).first else { throw RainKitError.unnamedNode }
        return node
    }

    /// Returns the nodes with these node ids or names, each once, in the order of the names. The account's list is read once at most.
    ///
    /// - Throws: `RainKitError`, as ``node(named:)`` does, for the first name that is not found.
    public func nodes(named names: [String]) async throws -> [Node] {
        guard !names.isEmpty, !names.contains(where: \.isBlank) else { throw RainKitError.unnamedNode }
        var nodes: [Node] = []
        for (name, match) in zip(names, try await matches(of: names)) {
            let node = try match.only(name)
            if !nodes.contains(where: { $0.id == node.id }) { nodes.append(node) }
        }
        return nodes
    }

    /// Returns the nodes of a list such as `Kitchen lamp,Fan`, or the one node whose name has a comma in it.
    ///
    /// - Throws: `RainKitError`, as ``node(named:)`` does.
    public func nodes(listed list: String) async throws -> [Node] {
        let names = list.split(separator: ",").map { String($0).withoutOuterBlanks }
        do {
            return try await nodes(named: names)
        } catch let error as RainKitError where error.reason == "no_such_node" && names.count > 1 {
            guard let node = try? await node(named: list) else { throw error }
            return [node]
        }
    }

    func matches(of names: [String]) async throws -> [NodeMatch] {
        do throws(AccountError) {
            var found = [NodeMatch?](repeating: nil, count: names.count)
            for (index, name) in names.enumerated() where NodeMatch.hasForm(ofNodeID: name) {
                found[index] = try await nodeByID(name)
            }
            guard found.contains(where: { $0 == nil }) else { return found.map { $0 ?? NodeMatch() } }
            var matches = names.map { NodeMatch(wanted: $0.lowercased()) }
            try await listNodes { node in
                for index in matches.indices where found[index] == nil {
                    matches[index].take(node, name: names[index])
                }
            }
            return zip(found, matches).map { $0 ?? $1 }
        } catch {
            throw RainKitError(error)
        }
    }

    /// Nil where no node has this id, or the cloud does not say. The node may still be in the list.
    private func nodeByID(_ id: String) async throws(AccountError) -> NodeMatch? {
        do throws(AccountError) {
            return NodeMatch(exact: try await cloud().node(NodeID(id)))
        } catch {
            // Only the cloud's own refusal says that no node has this id.
            guard [.unknownNode, .rejected, .malformedAnswer, .forbidden].contains(error.code) else { throw error }
            return nil
        }
    }
}

/// The nodes that one name may mean.
struct NodeMatch: Sendable {
    var wanted = ""
    /// The node with this id. It counts before nodes with this name.
    var exact: Node?
    var named: [Node] = []

    /// Whether a text may be a node id. RainMaker's are a MAC address (12 hexadecimal digits) or about 22 letters and digits. Other clouds
    /// may have shorter ones, so a text without blanks that has a digit counts.
    static func hasForm(ofNodeID text: String) -> Bool {
        text.utf8.contains { (0x30...0x39).contains($0) }
            && text.utf8.allSatisfy {
                $0.isASCIILetterOrDigit
                    || "-_".utf8.contains($0)
            }
    }

    mutating func take(_ node: Node, name: String) {
        if node.id.rawValue == name { exact = node }
        // A message lists 20 at most.
        if named.count < 20, node.displayName?.lowercased() == wanted { named.append(node) }
    }

    /// Whether no node has this id or name.
    var isEmpty: Bool { exact == nil && named.isEmpty }

    func only(_ name: String) throws(RainKitError) -> Node {
        if var exact {
            exact.isShownWithID = true
            return exact
        }
        if named.count == 1 { return named[0] }
        guard named.isEmpty else {
            throw RainKitError(
                .request(.usage, reason: "several_nodes"),
                message: "Several boards are called \(name.onOneLine): use a node id, "
                    + named.map(\.id.rawValue.onOneLine).joined(separator: " or ") + ".",
                remedies: [.otherNodeName(node: named[0].id.rawValue)])
        }
        throw RainKitError(
            .request(.other, reason: "no_such_node"),
            message: ("There is no board \(name.asGiven) in your account."
                + (name.contains(",") ? " Give only one board here." : "")).because(of: name.givenNameRemark),
            remedies: [.knownNode])
    }
}

extension RainKitError {
    static var unnamedNode: RainKitError {
        RainKitError(.request(.usage, reason: "usage"), message: "Name a board.", remedies: [.knownNode])
    }

    fileprivate static var unnamedGroup: RainKitError {
        RainKitError(.request(.usage, reason: "usage"), message: "Name a group.", remedies: [.knownGroup])
    }
}

extension Node {
    /// The name that the user gave the node, or else its id; both if the name alone may be unclear. Control characters are replaced.
    package var shownName: String {
        guard let displayName else { return id.rawValue.onOneLine }
        return (isShownWithID && displayName != id.rawValue ? "\(displayName) (\(id))" : displayName).onOneLine
    }

    /// Returns what the node has reported of its devices and services.
    ///
    /// - Throws: `no_configuration` if it has not reported anything yet.
    package func described() throws(RainKitError) -> NodeConfiguration {
        if let configuration = NodeConfiguration(configuration), !configuration.components.isEmpty {
            return configuration
        }
        throw RainKitError(
            ParameterError(
                .noConfiguration,
                message:
                    "The board has not reported its devices to the cloud yet: check that the board has been online."),
            at: shownName)
    }
}

extension RainKitClient {
    /// Returns the group with this id or name. Sub-groups are found as well. Names match without regard to upper and lower case.
    ///
    /// - Throws: `RainKitError`: `no_such_group`; `several_groups` for a name that several groups have; `usage` for an empty name.
    public func group(named name: String) async throws -> NodeGroup {
        guard !name.isBlank else { throw RainKitError.unnamedGroup }
        let found: [NodeGroup]
        do throws(AccountError) {
            let cloud = try self.cloud()
            let matches = Self.matches(name, in: try await cloud.groups(withSubgroups: true))
            if let exact = matches.first(where: { $0.id == name }) { return exact }
            // A cloud may leave out of its list a group that is shared from within another user's group.
            if matches.isEmpty, let group = try await Self.group(id: name, cloud) { return group }
            found = matches
        } catch {
            throw RainKitError(error)
        }
        if found.count == 1 { return found[0] }
        if !found.isEmpty { throw RainKitError.severalGroups(name, found) }
        throw RainKitError(
            .request(.other, reason: "no_such_group"),
            message: "There is no group \(name.asGiven).".because(of: name.givenNameRemark),
            remedies: [.knownGroup])
    }

    /// Returns the groups of a list such as `Kitchen,Hall`, each once, or the one group whose name has a comma in it.
    ///
    /// - Throws: `RainKitError`, as ``group(named:)`` does.
    public func groups(listed list: String) async throws -> [NodeGroup] {
        let names = list.split(separator: ",").map { String($0).withoutOuterBlanks }
        guard !names.isEmpty else { throw RainKitError.unnamedGroup }
        do {
            var groups: [NodeGroup] = []
            for name in names {
                let group = try await group(named: name)
                if !groups.contains(where: { $0.id == group.id }) { groups.append(group) }
            }
            return groups
        } catch let error as RainKitError where error.reason == "no_such_group" && names.count > 1 {
            guard let group = try? await group(named: list) else { throw error }
            return [group]
        }
    }

    private static func matches(_ name: String, in groups: [NodeGroup]) -> [NodeGroup] {
        groups.flatMap { group in
            let isMeant = group.id == name || group.name.lowercased() == name.lowercased()
            return (isMeant ? [group] : []) + matches(name, in: group.subgroups ?? [])
        }
    }

    private static func group(id: String, _ cloud: any NodeCloud) async throws(AccountError) -> NodeGroup? {
        do throws(AccountError) {
            return try await cloud.group(id)
        } catch {
            guard [.unknownNode, .rejected, .forbidden].contains(error.code) else { throw error }
            return nil
        }
    }
}

extension RainKitError {
    fileprivate static func severalGroups(_ name: String, _ groups: [NodeGroup]) -> RainKitError {
        RainKitError(
            .request(.usage, reason: "several_groups"),
            message: "Several groups are called \(name.onOneLine): use an id, "
                + groups.prefix(20).map(\.id.onOneLine).joined(separator: " or ") + ".")
    }
}

extension String {
    /// A name as the caller gave it, for messages. A name with a blank or a line end around it is in quotation marks, since nobody sees these.
    package var asGiven: String {
        guard withoutOuterBlanks != self, GivenText.invisible(in: self) == nil else { return "\"\(onOneLine)\"" }
        let control = unicodeScalars.contains { $0 == "\r" || $0 == "\n" }
        return control
            ? "\"\(withoutOuterBlanks.onOneLine)\" (the given name has a line end before or after it)"
            : "\"\(onOneLine)\" (the given name has a space before or after it)"
    }

    /// Returns a sentence about something unusual in a name that was not found, for the message that has it as ``asGiven``. Nil if there is
    /// nothing unusual, or if that text names it.
    package var givenNameRemark: String? {
        guard GivenText.invisible(in: self) != nil || withoutOuterBlanks == self else { return nil }
        return GivenText.remark(on: self, as: "The given name")
    }

    /// The name in a list such as `lamp, fan`.
    package var withoutOuterBlanks: String {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        guard let end = lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(self[start...end])
    }
}
