// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore
import RainMaker
import RainPrivateFiles

/// A node whose name is kept on this machine.
package struct RememberedNode: Sendable, Equatable {
    package var id: NodeID
    /// The user's name for the node, or else the firmware's.
    package var name: String?

    package init(id: NodeID, name: String?) {
        self.id = id
        self.name = name
    }

    init(_ node: Node) { self.init(id: node.id, name: node.displayName) }
}

/// The names of the nodes of each account, as the cloud listed them last (`nodes.json` in the state folder). They serve the completion of
/// names, and local control without the internet. A file that is absent or cannot be read counts as empty.
package struct NodeNameFile: Sendable {
    /// More nodes of an account are not kept.
    static let maximumNodes = 500
    /// The accounts that are kept; the one that was listed longest ago is dropped first.
    private static let maximumAccounts = 20

    private let document: PrivateDocument<Stored>

    /// - Parameter state: the folder of ``RainKitConfiguration/state``.
    package init(state: String) { document = PrivateDocument(path: "\(state)/nodes.json") }

    /// Returns the nodes of an account.
    package func nodes(of account: String, at deployment: String) -> [RememberedNode] {
        let entry = stored()?.accounts.first { $0.deployment == deployment && $0.account == account }
        return (entry?.nodes ?? []).map { RememberedNode(id: NodeID($0.id), name: $0.name) }
    }

    /// Replaces the nodes of an account. With nil the account is removed. Nothing is written if nothing changes.
    func change(_ nodes: [RememberedNode]?, of account: String, at deployment: String) throws(PrivateDocumentError) {
        let before = stored()?.accounts.first { $0.deployment == deployment && $0.account == account }
        let entry = nodes.map { nodes in
            Stored.Account(
                deployment: deployment, account: account,
                nodes: nodes.prefix(Self.maximumNodes).map { Stored.Node(id: $0.id.rawValue, name: $0.name) })
        }
        guard before != entry else { return }
        try document.change(orThrow: { $0 }) { stored throws(PrivateDocumentError) in
            var accounts = stored?.accounts ?? []
            accounts.removeAll { $0.deployment == deployment && $0.account == account }
            if let entry { accounts.append(entry) }
            stored = Stored(accounts: accounts.suffix(Self.maximumAccounts))
        }
    }

    private func stored() -> Stored? {
        (try? document.load(orThrow: { $0 })) ?? nil
    }
}

/// The file's JSON.
private struct Stored: Codable {
    struct Account: Codable, Equatable {
        var deployment: String
        var account: String
        var nodes: [Node]
    }

    struct Node: Codable, Equatable {
        var id: String
        var name: String?
    }

    var schemaVersion = 1
    var accounts: [Account]
}

extension RainKitClient {
    /// Returns the nodes of the account in use, as the cloud listed them last; empty if they are not kept. Nothing is sent.
    package func rememberedNodes() -> [RememberedNode] {
        guard let place = namesPlace() else { return [] }
        return place.file.nodes(of: place.account, at: place.deployment)
    }

    /// Returns the node that had this id or name at the last listing; nil if none or several had it. Nothing is sent.
    func rememberedNode(named name: String) -> NodeID? {
        guard let place = namesPlace() else { return nil }
        let nodes = place.file.nodes(of: place.account, at: place.deployment)
        if let node = nodes.first(where: { $0.id.rawValue == name }) { return node.id }
        let wanted = name.lowercased()
        let named = nodes.filter { $0.name?.lowercased() == wanted }
        return named.count == 1 ? named[0].id : nil
    }

    /// Keeps the names of all nodes of the account in use.
    func rememberNames(_ nodes: [RememberedNode]) {
        guard let place = namesPlace() else { return }
        change(nodes, place)
    }

    /// Keeps the new name of a node, if its earlier one is kept.
    func rememberName(_ name: String, of node: NodeID) {
        guard let place = namesPlace() else { return }
        var nodes = place.file.nodes(of: place.account, at: place.deployment)
        guard let index = nodes.firstIndex(where: { $0.id == node }) else { return }
        nodes[index].name = name
        change(nodes, place)
    }

    /// Removes the names of an account that has signed out.
    func forgetNames(of account: String, at deployment: String) {
        guard configuration.remembersNodes, configuration.keepsFiles else { return }
        change(nil, (NodeNameFile(state: configuration.state), account, deployment))
    }

    private typealias NamesPlace = (file: NodeNameFile, account: String, deployment: String)

    private func namesPlace() -> NamesPlace? {
        guard configuration.remembersNodes, configuration.keepsFiles, let account = try? accountInUse(),
            account.newSession?.outlivesProcess != false,
            account.place.kind != .memory || configuration.sessions != nil
        else { return nil }
        return (
            NodeNameFile(state: configuration.state),
            account.newSession?.account?.key.account ?? account.place.account ?? "", account.name
        )
    }

    /// Names are a convenience: a file that cannot be written does not fail the call.
    private func change(_ nodes: [RememberedNode]?, _ place: NamesPlace) {
        do throws(PrivateDocumentError) {
            try place.file.change(nodes, of: place.account, at: place.deployment)
        } catch {
            configuration.logger.debug("the names of nodes were not stored", metadata: ["reason": "\(error)"])
        }
    }
}
