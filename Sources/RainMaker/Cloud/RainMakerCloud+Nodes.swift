// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON
import RainCore

extension RainMakerCloud {
    /// All of the user's nodes, with what they last reported. Where there may be thousands, ``eachNode(_:)`` keeps none of them.
    ///
    /// - Throws: `malformedAnswer` also for more than 16 MiB of them.
    public func nodes() async throws(AccountError) -> [Node] {
        var nodes: [Node] = []
        try await eachNode(within: ListBound(bytes: ListBound.wholeBytes)) { nodes.append($0) }
        return nodes
    }

    /// Hands on the user's nodes, with what they last reported, while the cloud lists them. No more than one page of some hundred
    /// kilobytes is held.
    ///
    /// - Throws: what `take` throws, and `malformedAnswer` for a list that goes in a circle, or that has more than 1000 pages, 100,000
    ///   nodes or 64 MiB: somebody invents them.
    public func eachNode(_ take: (Node) throws(AccountError) -> Void) async throws(AccountError) {
        try await eachNode(within: ListBound(), take)
    }

    private func eachNode(
        within bound: ListBound, _ take: (Node) throws(AccountError) -> Void
    ) async throws(AccountError) {
        try await eachPage(query: [("node_details", "true")], within: bound) { page throws(AccountError) in
            guard let details = page["node_details"]?.array else { throw incomplete("node_details", in: page) }
            for detail in details {
                guard let node = Node(detail) else { throw incomplete("the id of a node") }
                try take(node)
            }
            return details.count
        }
    }

    /// The ids of all of the user's nodes.
    public func nodeIDs() async throws(AccountError) -> [NodeID] {
        var ids: [NodeID] = []
        try await eachPage(query: [], within: ListBound()) { page throws(AccountError) in
            guard let listed = page["nodes"]?.array else { throw incomplete("nodes", in: page) }
            ids += listed.compactMap(\.string).map { NodeID($0) }
            return listed.count
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

    /// - Parameter take: takes a page, and says how many nodes it had.
    private func eachPage(
        query: [(name: String, value: String)], within bound: ListBound,
        _ take: (JSONValue) throws(AccountError) -> Int
    ) async throws(AccountError) {
        var bound = bound
        var start: String?
        repeat {
            let page = try await measuredCall(
                RainMakerCall(.get, "user/nodes", query: query + (start.map { [("start_id", $0)] } ?? [])))
            try bound.count(bytes: page.bytes)
            try bound.count(try take(page.reply))
            start = page.reply["next_id"]?.string
            if start?.isEmpty == true { start = nil }
            if let start { try bound.count(next: start) }
        } while start != nil
    }
}
