// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Synchronization

/// One signed request to the main API of a simulated RainMaker Neo.
struct NeoCall {
    typealias Failure = NeoAPI.Failure

    let api: NeoAPI
    let request: Request
    let user: TokenUser

    /// - Parameter parts: the path below `v1/`.
    func answer(_ parts: [String]) throws(Failure) -> Response {
        let rest = Array(parts.dropFirst())
        switch (request.method, parts.first) {
        case ("POST", "assumed-roles") where rest.isEmpty: return assumeRole()
        case (_, "groups"): return try groups(rest)
        case ("GET", "sharing-requests") where rest == ["received"]: return received()
        case ("POST", "sharing-requests") where rest.count == 2: return try decide(rest[0], rest[1])
        default: throw unserved(parts)
        }
    }

    /// The refusal of a call that the simulator does not have.
    private func unserved(_ parts: [String]) -> Failure {
        Failure(501, "cloud-sim does not simulate \(request.method) /v1/\(parts.joined(separator: "/"))")
    }

    private func body() throws(Failure) -> JSONValue {
        guard let value = try? JSONValue(parsing: request.body, limits: Call.limits), value.members != nil else {
            throw Failure(400, "Invalid request body")
        }
        return value
    }

    private func text(_ name: String, _ body: JSONValue) throws(Failure) -> String {
        guard let text = body[name]?.string, (1...256).contains(text.utf8.count) else {
            throw Failure(400, "\(name) is required")
        }
        return text
    }

    private var success: Response { Response(["message": "success"]) }

    private func assumeRole() -> Response {
        let groups = Set(api.state.withLock { $0.groups(of: user.id) }.map(\.id))
        let now = api.now
        let issued = api.credentials.withLock { $0.issue(to: user, groups: groups, at: now) }
        return Response([
            "access_key": .string(issued.accessKey), "secret_key": .string(issued.secretKey),
            "session_token": .string(issued.sessionToken), "expiration": .integer(issued.expiresAt / 1000),
        ])
    }

    // MARK: Groups

    private func groups(_ parts: [String]) throws(Failure) -> Response {
        guard let id = parts.first else {
            switch request.method {
            case "GET": return list()
            case "POST": return try create()
            default: throw unserved(["groups"])
            }
        }
        let access = api.state.withLock { $0.groups(of: user.id) }.first { $0.id == id }?.access
        guard let access else { throw Failure(404, "Group not found") }
        let isPrimary = access == "primary"
        func owned() throws(Failure) { guard isPrimary else { throw Failure(403, "Only a primary user may do this") } }
        let rest = Array(parts.dropFirst())
        switch (request.method, rest.first, rest.count) {
        case ("PATCH", nil, 0):
            try owned()
            let name = try text("group_name", try body())
            api.state.withLock { $0.groups[id]?.name = name }
            return success
        case ("DELETE", nil, 0):
            try owned()
            let nodes = api.state.withLock { state -> [String] in
                let nodes = state.groups[id]?.nodes ?? []
                for node in nodes { state.remove(node) }
                state.groups[id] = nil
                return nodes
            }
            for node in nodes { api.tellGroups(of: node) }
            return success
        case ("POST", "node-assoc-requests", 1):
            try owned()
            return associate(id)
        case ("POST", "node-assoc-requests", 3) where rest[2] == "verify": return try verify(rest[1], in: id)
        case ("POST", "subgroups", 1):
            try owned()
            return try createSubgroup(in: id)
        case (_, "subgroups", 2...): return try subgroup(rest[1], in: id, Array(rest.dropFirst(2)), isPrimary)
        case (_, "users", 1...2): return try members(id, nil, rest)
        case ("POST", "sharing-requests", 1):
            try owned()
            return try share(id, nil)
        case (_, "nodes", 2...): return try node(rest[1], in: id, Array(rest.dropFirst(2)), isPrimary)
        default: throw unserved(["groups"] + parts)
        }
    }

    private func list() -> Response {
        let entries = api.state.withLock { state -> [JSONValue] in
            state.groups(of: user.id).compactMap { id, access in
                guard let group = state.groups[id] else { return nil }
                let parts = group.subgroups.keys.sorted().filter {
                    access != "subgroup" || group.subgroups[$0]?.members.contains(user.id) == true
                }
                return [
                    "group_id": .string(id), "group_name": .string(group.name), "access_type": .string(access),
                    "node_ids": .array(state.nodes(of: user.id, in: id).map { .string($0) }),
                    "subgroups": .array(
                        parts.map { part in
                            [
                                "subgroup_id": .string(part),
                                "subgroup_name": .string(group.subgroups[part]?.name ?? ""),
                                "node_ids": .array((group.subgroups[part]?.nodes ?? []).map { .string($0) }),
                            ]
                        }),
                ]
            }
        }
        return Response(["groups": .array(entries)])
    }

    private func create() throws(Failure) -> Response {
        let name = try text("group_name", try body())
        let id = api.state.withLock { state -> String? in
            guard state.groups.count < NeoState.maximum else { return nil }
            var id: String
            // Six characters, the first of them a letter.
            repeat { id = "g" + String(CloudAPI.shortID().lowercased().prefix(5)) } while state.groups[id] != nil
            state.groups[id] = NeoState.Group(name: name, members: [user.id: "primary"])
            return id
        }
        guard let id else { throw Failure(500, "Failed to create group") }
        return Response(status: 201, ["group_id": .string(id)])
    }

    private func createSubgroup(in group: String) throws(Failure) -> Response {
        let name = try text("subgroup_name", try body())
        let id = api.state.withLock { state -> String in
            var id: String
            repeat {
                id = String(CloudAPI.shortID().lowercased().prefix(3))
            } while state.groups[group]?.subgroups[id] != nil
            state.groups[group]?.subgroups[id] = NeoState.Subgroup(name: name)
            return id
        }
        return Response(status: 201, ["subgroup_id": .string(id)])
    }

    private func subgroup(
        _ id: String, in group: String, _ rest: [String], _ isPrimary: Bool
    ) throws(Failure) -> Response {
        guard api.state.withLock({ $0.groups[group]?.subgroups[id] != nil }) else {
            throw Failure(404, "Subgroup not found")
        }
        if rest.first == "users" { return try members(group, id, rest) }
        guard isPrimary else { throw Failure(403, "Only a primary user may do this") }
        switch (request.method, rest.count) {
        case ("PATCH", 0):
            let name = try text("subgroup_name", try body())
            api.state.withLock { $0.groups[group]?.subgroups[id]?.name = name }
        case ("DELETE", 0):
            let nodes = api.state.withLock { state -> [String] in
                let nodes = state.groups[group]?.subgroups[id]?.nodes ?? []
                for node in nodes {
                    state.changeGroups(of: node) { $0.groups[group]?.subgroups[id]?.nodes.removeAll { $0 == node } }
                }
                state.groups[group]?.subgroups[id] = nil
                return nodes
            }
            for node in nodes { api.tellGroups(of: node) }
        case ("POST", 1) where rest[0] == "sharing-requests": return try share(group, id)
        case ("PUT", 2) where rest[0] == "nodes", ("DELETE", 2) where rest[0] == "nodes":
            let node = rest[1]
            let isAdded = request.method == "PUT"
            let refusal = api.state.withLock { state -> Failure? in
                guard state.groups[group]?.nodes.contains(node) == true else {
                    return Failure(404, "Node not found in group")
                }
                // At most three, because a shadow's name has 25 bytes.
                if isAdded, state.subgroups(ofNode: node).count >= 3 {
                    return Failure(400, "Node is in the maximum number of subgroups")
                }
                state.changeGroups(of: node) { state in
                    state.groups[group]?.subgroups[id]?.nodes.removeAll { $0 == node }
                    if isAdded { state.groups[group]?.subgroups[id]?.nodes.append(node) }
                }
                return nil
            }
            if let refusal { throw refusal }
            api.tellGroups(of: node)
        default: throw unserved(["groups", group, "subgroups", id] + rest)
        }
        return success
    }

    // MARK: Association

    private func associate(_ group: String) -> Response {
        let request = makeUUID().filter { $0 != "-" }
        let challenge = (makeUUID() + makeUUID()).filter { $0 != "-" }
        let now = api.now
        api.state.withLock { state in
            state.associations = state.associations.filter { $0.value.expiresAt > now }
            guard state.associations.count < NeoState.maximum else { return }
            state.associations[request] = NeoState.Association(
                group: group, user: user.id, challenge: challenge, expiresAt: now + NeoState.associationLifetime)
        }
        return Response(status: 201, ["request_id": .string(request), "challenge": .string(challenge)])
    }

    /// A wrong answer ends the request.
    private func verify(_ id: String, in group: String) throws(Failure) -> Response {
        let body = try body()
        let answer = try text("node_id", body)
        guard let hex = body["challenge_response"]?.string, let signature = Hex.decoded(hex.utf8) else {
            throw Failure(400, "Invalid request body")
        }
        let now = api.now
        let refusal = api.state.withLock { state -> Failure? in
            guard let association = state.associations[id], association.expiresAt > now else {
                return Failure(400, "Invalid request ID")
            }
            guard association.user == user.id else { return Failure(401, "User ID mismatch") }
            guard association.group == group else { return Failure(400, "Group ID mismatch") }
            state.associations[id] = nil
            guard let node = state.nodes[answer]?.node else { return Failure(500, "Failed to fetch certificate") }
            guard node.signed(association.challenge, signature) else {
                return Failure(401, "Invalid challenge response")
            }
            state.move(answer, to: group)
            return nil
        }
        if let refusal { throw refusal }
        api.journal.node(answer, "associated")
        api.tellGroups(of: answer)
        return success
    }

    // MARK: Members and offers

    private func members(_ group: String, _ subgroup: String?, _ rest: [String]) throws(Failure) -> Response {
        let isMe = rest.count == 2 && rest[1] == "me"
        switch (request.method, rest.count) {
        case ("GET", 1):
            let found = api.state.withLock { state -> [(String, String)] in
                let group = state.groups[group]
                let all = (group?.members ?? [:]).map { ($0.key, $0.value) }
                let parts =
                    group?.subgroups.filter { subgroup == nil || $0.key == subgroup }.values.flatMap(\.members) ?? []
                return (all + Set(parts).map { ($0, "subgroup") }).sorted { $0.0 < $1.0 }
            }
            let users = found.map { id, access -> JSONValue in
                var members: [JSONValue.Member] = [
                    .init("user_id", .string(id)), .init("access_type", .string(access)),
                ]
                if let email = api.identity.email(ofNeoUser: id) { members.append(.init("email", .string(email))) }
                return .object(members)
            }
            return Response(["users": .array(users)])
        case ("DELETE", 2):
            let id = isMe ? user.id : rest[1]
            let refusal = api.state.withLock { state -> Failure? in
                guard isMe || state.groups[group]?.members[user.id] == "primary" else {
                    return Failure(403, "Only a primary user may do this")
                }
                if subgroup == nil { state.groups[group]?.members[id] = nil }
                for part in state.groups[group]?.subgroups.keys.sorted() ?? [] where subgroup == nil || part == subgroup
                {
                    state.groups[group]?.subgroups[part]?.members.removeAll { $0 == id }
                }
                return nil
            }
            if let refusal { throw refusal }
            return success
        default: throw unserved(["groups", group] + rest)
        }
    }

    /// The answer is the same for a user who does not exist.
    private func share(_ group: String, _ subgroup: String?) throws(Failure) -> Response {
        let body = try body()
        let name = try text("username", body)
        let access = body["access_type"]?.string ?? "secondary"
        guard ["primary", "secondary"].contains(access) else { throw Failure(400, "Invalid access type") }
        let id = makeUUID()
        let now = api.now
        if let other = api.identity.neoUser(named: name) {
            api.state.withLock { state in
                state.offers = state.offers.filter { $0.value.expiresAt > now }
                guard state.offers.count < NeoState.maximum else { return }
                state.offers[id] = NeoState.Offer(
                    group: group, subgroup: subgroup, from: user, to: other.id, access: access,
                    expiresAt: now + NeoState.offerLifetime)
            }
        }
        return Response(
            status: 201,
            [
                "request_id": .string(id),
                "message": "Invite sent if the user is registered with ESP RainMaker Neo",
            ])
    }

    private func received() -> Response {
        let now = api.now
        let offers = api.state.withLock { $0.offers }.filter { $0.value.to == user.id && $0.value.expiresAt > now }
        let list = offers.sorted { $0.key < $1.key }.map { id, offer -> JSONValue in
            [
                "sharing_request_id": .string(id), "group_id": .string(offer.group),
                "subgroup_id": .string(offer.subgroup ?? ""), "access_type": .string(offer.access),
                "primary_user_id": .string(offer.from.id), "primary_email": .string(offer.from.email),
                "primary_phone_number": "",
            ]
        }
        return Response(["sharing_requests": .array(list)])
    }

    private func decide(_ id: String, _ decision: String) throws(Failure) -> Response {
        guard ["accept", "reject"].contains(decision) else { throw unserved(["sharing-requests", id, decision]) }
        let now = api.now
        let isKnown = api.state.withLock { state -> Bool in
            guard let offer = state.offers[id], offer.expiresAt > now,
                offer.to == user.id || decision == "reject" && offer.from.id == user.id
            else { return false }
            state.offers[id] = nil
            guard decision == "accept" else { return true }
            if let part = offer.subgroup {
                state.groups[offer.group]?.subgroups[part]?.members.append(user.id)
            } else {
                state.groups[offer.group]?.members[user.id] = offer.access
            }
            return true
        }
        guard isKnown else { throw Failure(404, "Sharing request not found") }
        return success
    }

    // MARK: Nodes

    private func node(
        _ id: String, in group: String, _ rest: [String], _ isPrimary: Bool
    ) throws(Failure) -> Response {
        let entry = api.state.withLock { state in
            state.nodes(of: user.id, in: group).contains(id) ? state.nodes[id] : nil
        }
        guard let entry else { throw Failure(404, "Node not found in group") }
        switch (request.method, rest.first, rest.count) {
        case ("DELETE", nil, 0):
            guard isPrimary else { throw Failure(403, "Only a primary user may do this") }
            api.state.withLock { $0.remove(id) }
            api.tellGroups(of: id)
            return success
        case ("GET", "config", 1):
            guard let config = entry.node.config else { throw Failure(500, "Failed to get node config") }
            return Response(config)
        case ("GET", "schedules", 1): return Response(["schedules": entry.schedules])
        case ("PUT", "schedules", 1):
            guard let list = try body()["schedules"], list.array != nil else {
                throw Failure(400, "Invalid request body")
            }
            api.state.withLock { $0.nodes[id]?.schedules = list }
            api.tellSchedules(of: id)
            return success
        case ("DELETE", "schedules", 1):
            api.state.withLock { $0.nodes[id]?.schedules = .array([]) }
            api.tellSchedules(of: id)
            return success
        case ("GET", "timeseries", 2) where rest[1] == "raw": return try raw(id)
        case ("GET", "timeseries", 2) where rest[1] == "latest":
            let records = try records(id)
            return Response(["data": records.first.map { Self.json($0.1, $0.0) } ?? .object([])])
        default: throw unserved(["groups", group, "nodes", id] + rest)
        }
    }

    private func records(_ node: String) throws(Failure) -> [(String, NeoState.Record)] {
        guard let key = request.query("key"), let type = request.query("data_type") else {
            throw Failure(400, "key and data_type are required")
        }
        let all = api.state.withLock { $0.series[NeoState.SeriesKey(node: node, key: key)] ?? [] }
        return all.filter { $0.type == type }.map { (key, $0) }
    }

    private func raw(_ node: String) throws(Failure) -> Response {
        guard let start = request.query("start_time").flatMap({ Int64($0) }) else {
            throw Failure(400, "start_time is required")
        }
        let from = NeoAPI.milliseconds(start)
        let to = request.query("end_time").flatMap { Int64($0) }.map(NeoAPI.milliseconds) ?? .max
        let size = request.query("page_size").flatMap { Int($0) } ?? 20
        let offset = request.query("start_key").flatMap { Int($0) } ?? 0
        guard (1...1000).contains(size), offset >= 0 else { throw Failure(400, "Invalid page") }
        let found = try records(node).filter { $0.1.time >= from && $0.1.time <= to }
        let page = found.dropFirst(offset).prefix(size)
        var members: [JSONValue.Member] = [
            .init("data", .array(page.map { Self.json($0.1, $0.0) })), .init("page_total", .integer(Int64(page.count))),
        ]
        if offset + page.count < found.count { members.append(.init("next_key", .string("\(offset + page.count)"))) }
        return Response(.object(members))
    }

    private static func json(_ record: NeoState.Record, _ key: String) -> JSONValue {
        [
            "key": .string(key), "dt": .string(record.type), "ts": .integer(record.time), "value": record.value,
            "tz": .string(record.zone), "cumulative": false,
        ]
    }
}
