// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerCloud {
    /// A deployment may hand out a next page for ever; no account has this many.
    private static let maximumPages = 1000

    /// All of the user's nodes, with what they last reported.
    public func nodes() async throws(AccountError) -> [Node] {
        var nodes: [Node] = []
        try await eachPage(query: [("node_details", "true")]) { page throws(AccountError) in
            guard let details = page["node_details"]?.array else { throw incomplete("node_details") }
            for detail in details {
                guard let node = Node(detail) else { throw incomplete("the id of a node") }
                nodes.append(node)
            }
        }
        return nodes
    }

    /// The ids of all of the user's nodes.
    public func nodeIDs() async throws(AccountError) -> [NodeID] {
        var ids: [NodeID] = []
        try await eachPage(query: []) { page throws(AccountError) in
            guard let listed = page["nodes"]?.array else { throw incomplete("nodes") }
            ids += listed.compactMap(\.string).map { NodeID($0) }
        }
        return ids
    }

    /// One node. Throws `rejected` if the user has no such node.
    public func node(_ id: NodeID) async throws(AccountError) -> Node {
        let page = try await call(
            RainMakerCall(.get, "user/nodes", query: [("node_id", id.rawValue), ("node_details", "true")]))
        guard let node = page["node_details"]?.array?.lazy.compactMap(Node.init).first(where: { $0.id == id }) else {
            throw incomplete("the node")
        }
        return node
    }

    /// What a node has said about itself.
    public func nodeConfiguration(_ id: NodeID) async throws(AccountError) -> JSONValue {
        try await call(RainMakerCall(.get, "user/nodes/config", query: [("node_id", id.rawValue)]))
    }

    /// Whether a node is connected.
    public func nodeConnectivity(_ id: NodeID) async throws(AccountError) -> Node.Connectivity {
        let (reply, date) = try await datedCall(
            RainMakerCall(.get, "user/nodes/status", query: [("node_id", id.rawValue)]))
        guard var connectivity = Node.Connectivity(reply) else { throw incomplete("connectivity") }
        connectivity.asOf = date
        return connectivity
    }

    private func eachPage(
        query: [(name: String, value: String)], _ take: (JSONValue) throws(AccountError) -> Void
    ) async throws(AccountError) {
        var start: String?
        for _ in 0..<Self.maximumPages {
            let page = try await call(
                RainMakerCall(.get, "user/nodes", query: query + (start.map { [("start_id", $0)] } ?? [])))
            try take(page)
            guard let next = page["next_id"]?.string, !next.isEmpty else { return }
            guard next != start else { break }
            start = next
        }
        throw AccountError(.malformedAnswer, message: "the cloud's list of nodes does not end")
    }
}
