// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// One of the user's nodes, as the cloud knows it. Values that the node has not reported yet are nil.
public struct Node: Sendable, Equatable {
    /// The id in the cloud, which the board got when it was claimed.
    public var id: NodeID
    /// `primary` or `secondary`: whether the user owns the node or it was shared with them.
    public var role: String?
    /// Whether the cloud has a connection to the node.
    public var connectivity: Connectivity?
    /// The firmware's name for itself, such as `ESP RainMaker Device`. The user's name for the node is one of the ``parameters``.
    public var name: String?
    /// The kind of device that the firmware implements, such as `Lightbulb`.
    public var type: String?
    /// The model that the firmware was built for (`model` in its configuration).
    public var model: String?
    /// The firmware's version (`fw_version`).
    public var firmwareVersion: String?
    /// Tags, each of the form `key:value`.
    public var tags: [String]
    /// The node's description of itself: its devices, services and their parameters.
    public var configuration: JSONValue?
    /// The current values of its parameters.
    public var parameters: JSONValue?
    /// Data that applications store with the node in the cloud: a JSON object.
    public var metadata: JSONValue?
    /// Whether messages name the node with its id, because the caller has named it so or its name is not unique.
    package var isShownWithID = false

    /// The node's connection to the cloud.
    public struct Connectivity: Sendable, Equatable {
        /// True while the node is connected. The cloud notices a loss of power only after some time.
        public var isConnected: Bool
        /// The time of the last change, by the cloud's clock.
        public var since: UnixTime?
        /// The cloud's time of the answer (`Date`, in whole seconds, rounded down); nil if the answer had none.
        public var asOf: UnixTime?

        public init(isConnected: Bool, since: UnixTime? = nil, asOf: UnixTime? = nil) {
            self.isConnected = isConnected
            self.since = since
            self.asOf = asOf
        }

        /// Reads `{"connected":bool,"timestamp":ms}`, with or without `connectivity` around it.
        fileprivate init?(_ json: JSONValue?) {
            guard let json = json?["connectivity"] ?? json, let isConnected = json["connected"]?.bool else {
                return nil
            }
            self.isConnected = isConnected
            since = json["timestamp"].flatMap(LenientInteger.init).map { UnixTime(seconds: Double($0.value) / 1000) }
        }
    }

    /// Reads an entry of `node_details`. Returns nil without an id.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, !id.isEmpty else { return nil }
        self.id = NodeID(id)
        role = json["role"]?.string
        connectivity = Connectivity(json["status"])
        configuration = json["config"]
        let info = configuration?["info"]
        name = info?["name"]?.string
        type = info?["type"]?.string
        model = info?["model"]?.string
        firmwareVersion = info?["fw_version"]?.string
        tags = (json["tags"]?.array ?? []).compactMap(\.string)
        parameters = json["params"]
        metadata = json["metadata"]
    }
}

extension RainMakerCloud {
    /// Returns all of the user's nodes, with their last reported values. For thousands of nodes use ``eachNode(_:)``, which stores none.
    ///
    /// - Throws: `malformedAnswer` also if the nodes have more than 16 MiB.
    public func nodes() async throws(AccountError) -> [Node] {
        var nodes: [Node] = []
        try await eachNode(within: ListBound(bytes: ListBound.wholeBytes)) { nodes.append($0) }
        return nodes
    }

    /// Passes on the user's nodes, with their last reported values, while the cloud lists them. It holds at most one page, which has some
    /// hundred kilobytes.
    ///
    /// - Throws: the errors of `take`, and `malformedAnswer` for a list that repeats itself, or has more than 1000 pages, 100,000 nodes or
    ///   64 MiB. No real account has so many.
    ///
    /// - Parameter tags: only nodes with one of these tags, each of the form `key:value`; empty for all nodes. Throws `invalidTag` for another
    ///   form, before anything is sent.
    public func eachNode(
        tagged tags: [String], _ take: (Node) throws(AccountError) -> Void
    ) async throws(AccountError) {
        try await eachNode(tagged: tags, within: ListBound(), take)
    }

    private func eachNode(
        tagged tags: [String] = [], within bound: ListBound, _ take: (Node) throws(AccountError) -> Void
    ) async throws(AccountError) {
        for tag in tags { try check(tag) }
        var query = [(name: "node_details", value: "true")]
        if !tags.isEmpty { query.append(("tags", tags.joined(separator: " OR "))) }
        try await eachPage(query: query, within: bound) { page, date throws(AccountError) in
            guard let details = page["node_details"]?.array else { throw incomplete("node_details", in: page) }
            for detail in details {
                guard var node = Node(detail) else { throw incomplete("id", in: detail) }
                node.connectivity?.asOf = date
                // A cloud that does not know the filter lists all nodes.
                if tags.isEmpty || tags.contains(where: { node.tags.contains($0) }) { try take(node) }
            }
            return details.count
        }
    }

    /// Returns the ids of all of the user's nodes.
    public func nodeIDs() async throws(AccountError) -> [NodeID] {
        var ids: [NodeID] = []
        try await eachPage(query: [], within: ListBound()) { page, _ throws(AccountError) in
            guard let listed = page["nodes"]?.array else { throw incomplete("nodes", in: page) }
            ids += listed.compactMap(\.string).map { NodeID($0) }
            return listed.count
        }
        return ids
    }

    /// Returns one node. Throws `rejected` if the user has no such node.
    public func node(_ id: NodeID) async throws(AccountError) -> Node {
        let (page, date) = try await datedCall(
            RainMakerCall(.get, "user/nodes", query: [("node_id", id.rawValue), ("node_details", "true")]))
        guard var node = page["node_details"]?.array?.lazy.compactMap(Node.init).first(where: { $0.id == id }) else {
            throw incomplete("the node")
        }
        node.connectivity?.asOf = date
        return node
    }

    /// Returns a node's description of itself.
    public func nodeConfiguration(_ id: NodeID) async throws(AccountError) -> JSONValue {
        try await call(RainMakerCall(.get, "user/nodes/config", query: [("node_id", id.rawValue)]))
    }

    /// Returns whether a node is connected.
    public func nodeConnectivity(_ id: NodeID) async throws(AccountError) -> Node.Connectivity {
        let (reply, date) = try await datedCall(
            RainMakerCall(.get, "user/nodes/status", query: [("node_id", id.rawValue)]))
        guard var connectivity = Node.Connectivity(reply) else { throw incomplete("connectivity") }
        connectivity.asOf = date
        return connectivity
    }

    /// - Parameter take: receives a page and the server's time, and returns the page's number of nodes.
    private func eachPage(
        query: [(name: String, value: String)], within bound: ListBound,
        _ take: (JSONValue, UnixTime?) throws(AccountError) -> Int
    ) async throws(AccountError) {
        var bound = bound
        var start: String?
        repeat {
            let page = try await measuredCall(
                RainMakerCall(.get, "user/nodes", query: query + (start.map { [("start_id", $0)] } ?? [])))
            try bound.count(bytes: page.bytes)
            try bound.count(try take(page.reply, page.date))
            start = page.reply["next_id"]?.string
            if start?.isEmpty == true { start = nil }
            if let start { try bound.count(next: start) }
        } while start != nil
    }
}

/// Data that users and applications store with a node in the cloud. The node does not receive it.
extension RainMakerCloud {
    /// Adds tags, each of the form `key:value`. Throws `invalidTag` for another form, before anything is sent.
    public func addTags(_ tags: [String], to node: NodeID) async throws(AccountError) {
        for tag in tags { try check(tag) }
        try await note(["tags": .array(tags.map { .string($0) })], node)
    }

    /// Removes tags. A tag that the node does not have is not an error.
    public func removeTags(_ tags: [String], from node: NodeID) async throws(AccountError) {
        for tag in tags { try check(tag) }
        try await call(
            RainMakerCall(
                .delete, "user/nodes", query: [("node_id", node.rawValue)],
                body: ["tags": .array(tags.map { .string($0) })]))
    }

    /// Changes members of a node's metadata. All other members are kept, also inside objects; null removes a member.
    ///
    /// - Parameter changes: an object.
    public func changeMetadata(_ changes: JSONValue, of node: NodeID) async throws(AccountError) {
        guard changes.members != nil else {
            throw AccountError(.invalidInput, message: "metadata must be a JSON object")
        }
        try await note(["metadata": changes], node)
    }

    /// Removes all of a node's metadata.
    public func removeMetadata(of node: NodeID) async throws(AccountError) { try await note(["metadata": .null], node) }

    private func note(_ body: JSONValue, _ node: NodeID) async throws(AccountError) {
        try await call(RainMakerCall(.put, "user/nodes", query: [("node_id", node.rawValue)], body: body))
    }

    private func check(_ tag: String) throws(AccountError) {
        let parts = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw AccountError(
                .invalidTag,
                message: "\"\(presentable(tag))\" is not a tag: a tag has the form key:value, such as room:kitchen")
        }
    }
}
