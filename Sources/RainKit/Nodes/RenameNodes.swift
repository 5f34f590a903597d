// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import RainMaker

/// Two nodes with one name: only their ids tell them apart.
public struct NodeNameClash: Sendable, Equatable {
    /// The name that a node gets.
    public var name: String
    /// The other node with this name.
    public var other: NodeID

    public init(name: String, other: NodeID) {
        self.name = name
        self.other = other
    }
}

extension NodeNameClash: CustomStringConvertible {
    /// A sentence about the two nodes.
    public var description: String {
        "\(other.rawValue.onOneLine) is also called \(name.onOneLine): only the node ids tell the two boards apart."
    }
}

/// The outcome of giving a node another name.
public struct RenameOutcome: Sendable {
    /// The outcome at the node.
    public var parameters: ParameterSetOutcome
    /// Another node that has the same name.
    public var clash: NodeNameClash?

    public init(parameters: ParameterSetOutcome, clash: NodeNameClash? = nil) {
        self.parameters = parameters
        self.clash = clash
    }
}

extension RainKitClient {
    /// Gives a node another name. The node keeps it, and reports it to the cloud.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 bytes without control characters, and not only spaces.
    ///   - limit: how long to wait for the node to report the name, counted from the start of this call; nil to return as soon as the cloud has
    ///     sent it.
    /// - Throws: `RainKitError`: `usage` for a name out of these bounds; `name_taken` if it is the id of another node; `no_name_parameter` for
    ///   firmware that has no name; the cloud's refusals.
    @discardableResult
    public func rename(_ node: Node, to name: String, waiting limit: Duration? = nil) async throws -> RenameOutcome {
        let time = Timekeeper(configuration.tools.timer)
        try Self.checkNodeName(name)
        let described = try node.described()
        guard let path = described.nameParameter else {
            throw RainKitError(
                .request(.badData, reason: "no_name_parameter"),
                message:
                    "\(node.id.rawValue.onOneLine) has no parameter for a name (esp.param.name), so its name cannot be changed."
            )
        }
        let change = ParameterChange(path, .string(name))
        do throws(ParameterError) { try described.check([change]) } catch {
            throw RainKitError(error, at: node.shownName)
        }
        let clash = try await checkNames([node.id: name]).first
        let left = limit.map { max(.zero, $0 - time.elapsed()) }
        let outcome = try await set([change], at: node, waiting: left)
        rememberName(name, of: node.id)
        return RenameOutcome(parameters: outcome, clash: clash)
    }

    /// Checks whether nodes are still found by the names that they are to get. Nothing is changed.
    ///
    /// - Returns: the names that another node has as well, in the order of the names. Nodes of one firmware have one name from the start.
    /// - Throws: `RainKitError`: `name_taken` for a name that is the id of another node: a call with this name would reach the other node.
    public func checkNames(_ names: [NodeID: String]) async throws -> [NodeNameClash] {
        guard !names.isEmpty else { return [] }
        var others: [String: NodeID] = [:]
        var owner: NodeID?
        try await asking { cloud throws(AccountError) in
            try await cloud.eachNode { other in
                let called = (names[other.id] ?? other.displayName)?.lowercased()
                for (id, name) in names where id != other.id {
                    if other.id.rawValue == name { owner = other.id }
                    if called == name.lowercased() { others[name] = other.id }
                }
            }
        }
        if let owner {
            throw RainKitError(
                .request(.badData, reason: "name_taken"),
                message: """
                    \(owner.rawValue.onOneLine) is the node id of another board, so it cannot be a name: choose another name. \
                    Nothing was changed.
                    """)
        }
        return others.sorted { $0.key < $1.key }.map { NodeNameClash(name: $0.key, other: $0.value) }
    }

    /// - Throws: `usage` for a name that the apps do not take (`MAX_NAME_LEN`). Firmware keeps any name.
    package static func checkNodeName(_ name: String) throws(RainKitError) {
        guard (1...64).contains(name.utf8.count), name.withoutControls == name, !name.isBlank else {
            throw .usage(
                "A name must have 1 to 64 bytes and no control characters, and must not consist only of spaces.")
        }
    }
}
