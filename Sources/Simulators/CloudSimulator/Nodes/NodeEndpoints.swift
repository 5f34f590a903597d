// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCryptoOpenSSL
import RainJSON
import Synchronization

extension CloudAPI {
    /// The maximum number of nodes in one page, and the default.
    private static let pageSize = 25

    /// `GET user/nodes`: ids, or details, a page at a time.
    func listNodes(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let request = call.request
        if let id = request.query("node_id", "nodeid") {
            let node = try ownNode(id, of: user)
            return Response(try page([node], of: user, call: call, next: nil, total: 1))
        }
        let size = try request.query("num_records").map { text throws(APIError) -> Int in
            guard let count = Int(text), (1...1000).contains(count) else { throw .invalidQuery }
            return min(count, Self.pageSize)
        }
        let tags = try request.query("tags").map(Self.tagFilter)
        let nodes = readState { state in state.mappings.nodes(of: user.id).compactMap { state.nodes[$0] } }
            .filter { node in tags.map { !$0.isDisjoint(with: node.tags) } ?? true }
        let rest = nodes.drop { node in request.query("start_id").map { node.id < $0 } ?? false }
        let shown = Array(rest.prefix(size ?? Self.pageSize))
        let next = rest.dropFirst(shown.count).first?.id
        return Response(try page(shown, of: user, call: call, next: next, total: nodes.count))
    }

    /// Reads a filter such as `a:b OR c:d`.
    private static func tagFilter(_ text: String) throws(APIError) -> Set<String> {
        let tags = text.split(separator: " OR ").map(String.init)
        guard !tags.isEmpty, tags.allSatisfy({ $0.split(separator: ":", maxSplits: 1).count == 2 }) else {
            throw .badTag
        }
        return Set(tags)
    }

    func nodeConfig(_ call: Call) throws(APIError) -> Response {
        guard let config = try namedNode(call).config else { throw .configAbsent }
        return Response(config)
    }

    func nodeStatus(_ call: Call) throws(APIError) -> Response {
        do throws(APIError) {
            return Response(try namedNode(call).connectivity.json)
        } catch {
            throw error == .nodeNotOwned ? .foreignStatus : error
        }
    }

    func nodeParams(_ call: Call) throws(APIError) -> Response {
        guard let params = try namedNode(call).params else { throw .paramsAbsent }
        return Response(params)
    }

    /// Returns the user's node in the query. If it does not exist, these calls answer with 400; the list answers with 404.
    func namedNode(_ call: Call) throws(APIError) -> Node {
        do throws(APIError) {
            return try ownNode(try call.nodeID(), of: try call.caller())
        } catch {
            guard error == .nodesMissing else { throw error }
            throw APIError(100015, error.description)
        }
    }

    /// `PUT user/nodes/params`: sends values to the node, which reports the result.
    func setNodeParams(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.anyBody()
        guard let list = body.array else {
            let node = try namedNode(call)
            guard body.members != nil else { throw .invalidBody }
            send(body, to: node)
            return success("Success")
        }
        guard (1...25).contains(list.count) else { throw .invalidBody }
        var results: [JSONValue] = []
        var failed = false
        for entry in list {
            guard let id = entry["node_id"]?.string, let payload = entry["payload"], payload.members != nil else {
                throw .invalidBody
            }
            do throws(APIError) {
                send(payload, to: try ownNode(id, of: user))
                results.append(["node_id": .string(id), "status": "success", "description": "Success"])
            } catch {
                failed = true
                results.append([
                    "node_id": .string(id), "status": "failure", "description": .string(error.description),
                    "error_code": .integer(error.code ?? 0),
                ])
            }
        }
        return Response(status: failed ? 207 : 200, .array(results))
    }

    /// `DELETE user/nodes/ID`: removes the node from all of its users.
    func deleteNode(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let node = call.pathParameter
        let isMapped = readState { $0.mappings.isMapped(node, to: user.id) }
        let changes = try change { state -> [MappingChange]? in
            guard state.mappings.isPrimary(user.id, of: node) else { return nil }
            return state.removeNode(node, from: user.id)
        }
        guard let changes else { throw isMapped ? .notPrimary : .noAssociation }
        record(changes)
        return success("Node removed successfully")
    }

    /// Returns a node of that user.
    func ownNode(_ id: String, of user: User) throws(APIError) -> Node {
        let (node, isOwn) = readState { ($0.nodes[id], $0.mappings.isMapped(id, to: user.id)) }
        guard isOwn else { throw node == nil ? .nodesMissing : .nodeNotOwned }
        guard let node else { throw .nodesMissing }
        return node
    }

    func send(_ values: JSONValue, to node: Node) {
        outbox.withLock { $0 }?.send(node.id, "params/remote", values.serialized())
    }

    func page(
        _ nodes: [Node], of user: User, call: Call, next: String?, total: Int
    ) throws(APIError) -> JSONValue {
        var members: [JSONValue.Member] = [.init("nodes", .array(nodes.map { .string($0.id) }))]
        if try flag("node_details", in: call, otherwise: false) {
            let (status, config) = (try flag("status", in: call), try flag("config", in: call))
            let (params, tags) = (try flag("params", in: call), try flag("show_tags", in: call))
            let details = nodes.map { node -> JSONValue in
                let isPrimary = readState { $0.mappings.isPrimary(user.id, of: node.id) }
                var detail: [JSONValue.Member] = [
                    .init("id", .string(node.id)), .init("role", isPrimary ? "primary" : "secondary"),
                    .init("primary", .bool(isPrimary)),
                ]
                if status { detail.append(.init("status", node.connectivity.json)) }
                if config { detail.append(.init("config", node.config ?? ["node_id": .string(node.id)])) }
                if params { detail.append(.init("params", node.params ?? .object([]))) }
                if tags, !node.tags.isEmpty { detail.append(.init("tags", .array(node.tags.map { .string($0) }))) }
                if let metadata = node.metadata { detail.append(.init("metadata", metadata)) }
                return .object(detail)
            }
            members.append(.init("node_details", .array(details)))
        }
        if let next { members.append(.init("next_id", .string(next))) }
        members.append(.init("total", .integer(Int64(total))))
        return .object(members)
    }

    func flag(_ name: String, in call: Call, otherwise: Bool = true) throws(APIError) -> Bool {
        // Python's clients, including the official one, write True.
        switch call.request.query(name)?.lowercased() {
        case nil: otherwise
        case "true": true
        case "false": false
        default: throw .invalidQuery
        }
    }
}

/// `user/otaimage`: firmware images that users upload and nodes download.
extension CloudAPI {
    /// The maximum size of an image in bytes, as in the cloud.
    static let maximumImage = 5 << 20
    /// The maximum number of images. Beyond it the oldest are dropped.
    private static let maximumImages = 16

    /// `POST {"image_name","base64_fwimage"}`.
    func keepImage(_ call: Call) throws(APIError) -> Response {
        _ = try call.caller()
        let limits = JSONLimits(maximumBytes: RequestParser.maximumImageBody, maximumDepth: 2, maximumValues: 16)
        guard let body = try? JSONValue(parsing: call.request.body, limits: limits),
            let name = body["image_name"]?.string, (1...256).contains(name.utf8.count),
            let image = body["base64_fwimage"]?.string.flatMap({ decodedBase64($0) }), !image.isEmpty
        else { throw .invalidBody }
        guard image.count <= Self.maximumImage else { throw APIError(100006, "Image is larger than 5 MB") }
        return Response(["status": "success", "image_url": .string(keep(image: image))])
    }

    /// Returns the address under which an image is served from now on.
    func keep(image: [UInt8]) -> String {
        let id = Self.shortID()
        images.withLock { images in
            images.append((id, image))
            if images.count > Self.maximumImages { images.removeFirst() }
        }
        return addresses.withLock { $0.api } + "/otaimages/\(id)"
    }

    /// `GET otaimages/ID`: for everyone who has the address. As at S3, the entity tag is the MD5 in hex, in quotation marks.
    func image(_ call: Call) throws(APIError) -> Response {
        guard let image = images.withLock({ images in images.first { $0.id == call.pathParameter }?.bytes }) else {
            throw .notFound
        }
        let tag = Request.Field("ETag", "\"\(Hex.text(OpenSSLHashes.md5(image)))\"")
        return Response(content: .data(image, type: "application/octet-stream"), headers: [tag])
    }
}

extension CloudAPI {
    /// The maximum size of a node's message; the firmware's own buffers are smaller.
    static let maximumMessage = 128 << 10

    /// Handles a message that a node published, under `node/ID/SUFFIX` or after the prefix of a rule (`$aws/rules/RULE/node/ID/SUFFIX`).
    /// The broker has authenticated the node by its certificate.
    func receive(topic: String, payload: [UInt8]) {
        var parts = topic.split(separator: "/", omittingEmptySubsequences: false)
        if parts.starts(with: ["$aws", "rules"]) { parts.removeFirst(min(3, parts.count)) }
        guard parts.count > 2, parts[0] == "node" else { return }
        let node = String(parts[1])
        guard readState({ $0.nodes[node] != nil }) else { return }
        let suffix = parts[2...].joined(separator: "/")
        if suffix == "from-node" { return receiveAnswer(of: node, payload) }
        // The cloud receives its own messages as well.
        if ["to-node", "otaurl"].contains(suffix) { return }
        // By basic ingest only the cloud receives a message, as with AWS. A broker does not read messages: an alert need not be JSON.
        if topic.hasPrefix("node/"), payload.count <= Self.maximumMessage { live.publish(topic, payload) }
        let limits = JSONLimits(maximumBytes: Self.maximumMessage, maximumDepth: 16, maximumValues: 20_000)
        guard let message = try? JSONValue(parsing: payload, limits: limits), message.members != nil else {
            return journal.node(node, "ignored")
        }
        switch suffix {
        case "config":
            note(node, "config") { $0.nodes[node]?.config = message }
        case "params/local/init", "params/local":
            note(node, "params") { $0.nodes[node]?.merge(params: message) }
            automate(node)
        case "user/mapping":
            reportMapping(of: node, message)
        case "otafetch": receiveUpdateFetch(of: node)
        case "otastatus": receiveUpdateReport(of: node, message)
        case "alert": journal.node(node, "alert")
        case "tsdata": receiveSeries(of: node, .full, message)
        case "simple_tsdata": receiveSeries(of: node, .simple, message)
        default: break
        }
    }

    /// Handles the broker's events about a node's connection.
    func setConnected(_ isConnected: Bool, node: String) {
        guard readState({ $0.nodes[node] != nil }) else { return }
        let now = now
        changeTransientState {
            $0.nodes[node]?.connectivity = Node.Connectivity(isConnected: isConnected, changedAt: now)
        }
        journal.node(node, isConnected ? "connected" : "disconnected")
    }

    private func reportMapping(of node: String, _ message: JSONValue) {
        guard let user = message["user_id"]?.string, let secret = message["secret_key"]?.string,
            message["node_id"]?.string.map({ $0 == node }) ?? true
        else { return journal.node(node, "ignored") }
        let isReset = message["reset"]?.bool ?? false
        let now = now
        let changes = try? changeState { state in
            let changes = state.mappings.report(
                nodeID: node, userID: user, secret: secret, isReset: isReset, at: now)
            state.leaveGroups(changes)
            return changes
        }
        record(changes ?? [])
    }

    private func note(_ node: String, _ what: String, _ change: (inout CloudState) -> Void) {
        guard (try? changeState(change)) != nil else { return }
        journal.node(node, what)
    }
}
