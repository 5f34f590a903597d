// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

extension OwnCloudAPI {
    func route(_ call: OwnCloudCall, _ user: inout String?) throws(OwnCloudFailure) -> Response {
        let parts = call.parts
        // The node's own report, which has no user's token.
        if call.request.method == "POST", parts.count == 3, parts[0] == "nodes", parts[2] == "report" {
            return try report(try OwnCloudCall.node(parts[1]), call)
        }
        if call.request.method == "POST", parts == ["sessions"] { return try signIn(call, &user) }
        let (token, now) = (try call.token(), now)
        let own = sessions.withLock { $0.session(of: token, at: now) }
        let caller: OwnCloudCaller
        if let own { caller = own } else { caller = try call.caller() }
        user = caller.user.email
        switch (call.request.method, parts.first, parts.count) {
        case ("PUT", "nodes", 3) where parts[2] == "owner":
            return try add(try OwnCloudCall.node(parts[1]), call, caller)
        case ("GET", "nodes", 1):
            return Response(["nodes": .array(owners.withLock { $0.nodes(of: caller.user.id) }.map { .string($0) })])
        case ("DELETE", "sessions", 2) where parts[1] == "current" && own != nil: return try signOut(call, caller)
        case ("GET", "requests", 2): return try status(of: parts[1], caller)
        case ("POST", "challenges", 1): return try challenge(call, caller)
        case ("POST", "challenges", 3) where parts[2] == "answer": return try answer(parts[1], call, caller)
        default: throw .notFound
        }
    }

    /// The user's half of a mapping by secret.
    private func add(
        _ node: String, _ call: OwnCloudCall, _ caller: OwnCloudCaller
    ) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        try check(body, is: caller)
        let (secret, id, now) = (try OwnCloudCall.text("secret_key", of: body), makeUUID(), now)
        let changes = owners.withLock {
            $0.add(node, id: id, user: caller.user.id, secret: secret, provider: caller.system, at: now)
        }
        guard let changes else { throw OwnCloudFailure(409, "too_many_nodes", "There are too many nodes") }
        record(changes)
        return Response(["request_id": .string(id)])
    }

    private func status(of id: String, _ caller: OwnCloudCaller) throws(OwnCloudFailure) -> Response {
        let now = now
        guard let (status, changes) = owners.withLock({ $0.status(of: id, user: caller.user.id, at: now) }) else {
            throw .notFound
        }
        record(changes)
        return Response(["request_id": .string(id), "status": .string(status.rawValue)])
    }

    private func report(_ node: String, _ call: OwnCloudCall) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        let (user, secret) = (try OwnCloudCall.text("user_id", of: body), try OwnCloudCall.text("secret_key", of: body))
        let now = now
        record(owners.withLock { $0.report(node, user: user, secret: secret, at: now) })
        return Response([:])
    }

    private func challenge(_ call: OwnCloudCall, _ caller: OwnCloudCaller) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        try check(body, is: caller)
        let lifetime = body["lifetime"]?.integer ?? 360
        guard (1...86_400).contains(lifetime) else { throw .badBody }
        var random = OpenSSLRandom()
        let (id, text, now) = (makeUUID(), lowercaseHex(random.bytes(32)), now)
        record(
            owners.withLock {
                $0.challenge(id: id, user: caller.user.id, challenge: text, lifetime: lifetime, at: now)
            })
        return Response(["request_id": .string(id), "challenge": .string(text)])
    }

    private func answer(
        _ id: String, _ call: OwnCloudCall, _ caller: OwnCloudCaller
    ) throws(OwnCloudFailure) -> Response {
        let body = try call.body()
        try check(body, is: caller)
        let node = try OwnCloudCall.text("node_id", of: body)
        guard let signature = body["signature"]?.string, let bytes = bytes(ofHex: signature) else { throw .badBody }
        let now = now
        let (changes, refusal) = owners.withLock {
            $0.answer(id, user: caller.user.id, node: node, signature: bytes, provider: caller.system, at: now)
        }
        record(changes)
        // A client that lost the answer sends the same request again.
        guard refusal == nil || refusal == .alreadyConfirmed else {
            throw OwnCloudFailure(409, "not_confirmed", "The challenge was not answered as it must be")
        }
        return Response([:])
    }

    private func check(_ body: JSONValue, is caller: OwnCloudCaller) throws(OwnCloudFailure) {
        guard try OwnCloudCall.text("user_id", of: body) == caller.user.id else {
            throw OwnCloudFailure(403, "forbidden", "The token belongs to another user")
        }
    }

    private func record(_ changes: [MappingChange]) {
        for change in changes {
            let provider = change.nodeID.flatMap { node in owners.withLock { $0.provider(of: node) } }
            journal.nodeMapping(change, provider: provider)
        }
    }
}

extension Journal {
    /// - Parameter state: `registered`, `signed_in` or `signed_out`.
    func backendSession(_ caller: OwnCloudCaller, _ state: String) {
        write(
            "backend_session",
            [
                .init("user_id", .string(caller.user.id)), .init("provider", .string(caller.system.rawValue)),
                .init("state", .string(state)),
            ])
    }

    fileprivate func nodeMapping(_ change: MappingChange, provider: IdentitySystem?) {
        var members: [JSONValue.Member] = []
        if let node = change.nodeID { members.append(.init("node", .string(node))) }
        members.append(.init("user_id", .string(change.userID)))
        if let provider { members.append(.init("provider", .string(provider.rawValue))) }
        write("node_mapping", members + [.init("state", .string(change.what.rawValue))])
    }
}
