// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

extension CloudAPI {
    /// `PUT user/nodes/mapping`: the user's half of a mapping by secret, or its end.
    func requestMapping(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        guard let node = try body.string("node_id"), !node.isEmpty else { throw .nodeIDMissing }
        guard node.utf8.count <= 64 else { throw .nodeIDTooLong }
        switch try body.string("operation") {
        case "add": return try addMapping(of: node, to: user, body)
        case "remove":
            guard let changes = try change({ $0.removeNode(node, from: user.id) }) else { throw .mappingMissing }
            record(changes)
            return success("Node removed successfully")
        default: throw .badMappingOperation
        }
    }

    private func addMapping(of node: String, to user: User, _ body: Fields) throws(APIError) -> Response {
        guard let secret = try body.string("secret_key"), !secret.isEmpty else { throw .secretMissing }
        guard secret.utf8.count <= 64 else { throw .secretTooLong }
        let notes = try NodeNotes(body, of: user)
        let (id, now) = (makeUUID(), now)
        let changes = try change { state in
            let changes = state.mappings.request(
                id: id, nodeID: node, userID: user.id, secret: secret, tags: notes.tags, at: now)
            state.leaveGroups(changes)
            state.nodes[node]?.take(notes)
            return changes
        }
        record(changes)
        return success("Mapping request is submitted", [.init("request_id", .string(id))])
    }

    /// `GET user/nodes/mapping?request_id=`: how far it is.
    func mappingStatus(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        guard let id = call.request.query("request_id") else { throw .requestIDMissing }
        let now = now
        // Clients poll this, so the state is written only when the request has been decided.
        if let end = readState({ $0.mappings.request(id, of: user.id) })?.expiresAt, end <= now {
            record(try change { $0.mappings.expire(at: now) })
        }
        guard let request = readState({ $0.mappings.request(id, of: user.id) }) else { throw .requestNotFound }
        var members: [JSONValue.Member] = []
        if let node = request.nodeID { members.append(.init("node_id", .string(node))) }
        members += [
            .init("user_id", .string(user.id)), .init("request_id", .string(request.id)),
            .init("request_status", .string(request.status.rawValue)),
            .init("request_timestamp", .string("\(request.requestedAt)")),
        ]
        if let decided = request.decidedAt {
            let name = request.status == .confirmed ? "confirm_timestamp" : "discarded_timestamp"
            members.append(.init(name, .string("\(decided)")))
        }
        members.append(.init("request_source", "user"))
        return Response(.object(members))
    }

    /// The longest challenge, in seconds: a hundred years.
    private static let maximumChallengeTimeout: Int64 = 100 * 366 * 86_400

    /// `POST user/nodes/mapping/initiate`: a challenge for the node to sign.
    func initiateMapping(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let timeout = try call.body(isOptional: true).integer("timeout") ?? 360
        guard (0...Self.maximumChallengeTimeout).contains(timeout) else { throw .challengeTimeoutOutOfRange }
        var random = OpenSSLRandom()
        let (id, challenge, now) = (makeUUID(), lowercaseHex(random.bytes(32)), now)
        let changes = try change { state in
            state.mappings.issueChallenge(
                id: id, userID: user.id, challenge: challenge, patience: timeout == 0 ? nil : timeout * 1000, at: now)
        }
        record(changes)
        return success(
            "Challenge generated successfully",
            [.init("request_id", .string(id)), .init("challenge", .string(challenge))])
    }

    /// `POST user/nodes/mapping/verify`: the signed challenge. The mapping is final with the answer.
    func verifyMapping(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        guard let id = try body.string("request_id"), !id.isEmpty else { throw .requestIDMissing }
        guard let nodeID = try body.string("node_id"), !nodeID.isEmpty else { throw .nodeIDMissing }
        guard let answer = try body.string("challenge_response") else { throw .wrongChallengeResponse }
        let notes = try NodeNotes(body, of: user)
        guard let node = readState({ $0.nodes[nodeID] }) else { throw APIError(400, 100015, "Node does not exist") }
        let now = now
        let outcome = try change { state in
            let outcome = state.mappings.answerChallenge(id: id, userID: user.id, nodeID: nodeID, at: now) {
                challenge in
                guard let signature = bytes(ofHex: answer) else { return false }
                return node.signed(challenge, signature)
            }
            state.leaveGroups(outcome.changes)
            if outcome.refusal == nil { state.nodes[nodeID]?.take(notes) }
            return outcome
        }
        record(outcome.changes)
        switch outcome.refusal {
        case nil: return success("Mapping successful")
        case .unknownRequest: throw .requestNotFound
        case .alreadyConfirmed: throw .alreadyConfirmed
        case .timedOut: throw .mappingTimedOut
        case .decided: throw .requestDecided
        case .wrongResponse: throw .wrongChallengeResponse
        }
    }
}
