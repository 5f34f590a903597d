// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

extension CloudAPI {
    /// The most nodes in one page, and how many there are if the client does not say.
    static let pageSize = 25

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

    /// `a:b OR c:d`.
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

    /// The user's node that the query names. Of one that does not exist these calls answer with 400, where the list has 404.
    func namedNode(_ call: Call) throws(APIError) -> Node {
        do throws(APIError) {
            return try ownNode(try call.nodeID(), of: try call.caller())
        } catch {
            guard error == .nodesMissing else { throw error }
            throw APIError(100015, error.description)
        }
    }

    /// `PUT user/nodes/params`: values go to the node, which reports what it did with them.
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

    /// A node of that user.
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
        // Python's clients, the official one among them, write True.
        switch call.request.query(name)?.lowercased() {
        case nil: otherwise
        case "true": true
        case "false": false
        default: throw .invalidQuery
        }
    }
}
