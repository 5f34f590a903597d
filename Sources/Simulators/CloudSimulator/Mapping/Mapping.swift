// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// The users of each node, and the mapping requests.
///
/// A mapping by secret is confirmed when two messages agree on user and secret: the user's request and the node's report, in any order. A
/// value without a clock: each step gets the time (milliseconds since 1970).
struct MappingTable: Codable, Sendable, Equatable {
    /// The maximum number of requests. Beyond it the oldest are dropped.
    static let maximumRequests = 1000

    /// A node's report that waits for the user's request.
    private struct Report: Codable, Equatable {
        var userID: String
        var secretHash: [UInt8]
        var isReset: Bool
        var expiresAt: Int64
    }

    /// How long a request or a report waits for its counterpart, in milliseconds.
    var patience: Int64 = 300_000
    private var requests: [String: MappingRequest] = [:]
    /// The ids of `requests`, oldest first.
    private var order: [String] = []
    private var reports: [String: Report] = [:]
    /// The users of each node, the first one being primary.
    private var owners: [String: [String]] = [:]
    /// Further primary users, by node. Nil in the state of a simulator without sharing.
    private var morePrimaries: [String: [String]]?
    /// The sub-roles of secondary users, by node and user. Nil in the state of a simulator without sub-roles.
    private var subRoles: [String: [String: Int64]]?

    func nodes(of userID: String) -> [String] { owners.filter { $0.value.contains(userID) }.keys.sorted() }
    func isMapped(_ nodeID: String, to userID: String) -> Bool { owners[nodeID]?.contains(userID) ?? false }
    func isPrimary(_ userID: String, of nodeID: String) -> Bool {
        owners[nodeID]?.first == userID || morePrimaries?[nodeID]?.contains(userID) ?? false
    }
    /// The sub-role of a secondary user, 1 to 4; nil for none.
    func subRole(of userID: String, at nodeID: String) -> Int64? {
        isMapped(nodeID, to: userID) && !isPrimary(userID, of: nodeID) ? subRoles?[nodeID]?[userID] : nil
    }
    func users(of nodeID: String) -> [String] { owners[nodeID] ?? [] }

    /// Returns the request of that id, if it belongs to that user.
    func request(_ id: String, of userID: String) -> MappingRequest? {
        requests[id].flatMap { $0.userID == userID ? $0 : nil }
    }

    // MARK: By secret

    /// Adds the user's half.
    ///
    /// A report with another user or secret does not discard the request. It may come from an earlier attempt, and the node's report for
    /// this one may still come.
    mutating func request(
        id: String, nodeID: String, userID: String, secret: String, tags: [String] = [], at now: Int64
    ) -> [MappingChange] {
        var changes = expire(at: now)
        let request = MappingRequest(
            id: id, userID: userID, nodeID: nodeID, proof: .secret(hash: Self.hash(secret)), status: .requested,
            tags: tags, requestedAt: now, expiresAt: now + patience)
        add(request)
        changes.append(MappingChange(what: .requested, nodeID: nodeID, userID: userID))
        // The report stays: a client that lost the response repeats the request, and gets the same answer.
        if let report = reports[nodeID], Self.agree(request, report) {
            changes += confirm(id, nodeID: nodeID, replacing: report.isReset, at: now)
        }
        return changes
    }

    /// Adds the node's half. Requests for this node that it contradicts are discarded.
    mutating func report(
        nodeID: String, userID: String, secret: String, isReset: Bool, at now: Int64
    ) -> [MappingChange] {
        var changes = expire(at: now)
        if isReset, userID == Self.factoryResetUser {
            reports[nodeID] = nil
            return changes + removeAll(from: nodeID, except: nil)
        }
        let report = Report(
            userID: userID, secretHash: Self.hash(secret), isReset: isReset, expiresAt: now + patience)
        reports[nodeID] = report
        changes.append(MappingChange(what: .reported, nodeID: nodeID, userID: userID))
        for id in order {
            guard let request = requests[id], request.status == .requested, request.nodeID == nodeID,
                case .secret = request.proof
            else { continue }
            if Self.agree(request, report) {
                changes += confirm(id, nodeID: nodeID, replacing: isReset, at: now)
            } else {
                changes += decide(id, .discarded, at: now)
            }
        }
        return changes
    }

    /// The user id that a node reports after a factory reset, when it has no user.
    private static let factoryResetUser = "esp-rmaker"

    // MARK: By challenge

    enum ChallengeRefusal: Error { case unknownRequest, alreadyConfirmed, timedOut, decided, wrongResponse }

    /// - Parameter patience: in milliseconds; nil for no limit.
    mutating func issueChallenge(
        id: String, userID: String, challenge: String, patience: Int64?, at now: Int64
    ) -> [MappingChange] {
        let changes = expire(at: now)
        add(
            MappingRequest(
                id: id, userID: userID, nodeID: nil, proof: .challenge(challenge), status: .requested,
                requestedAt: now, expiresAt: patience.map { now + $0 }))
        return changes + [MappingChange(what: .requested, nodeID: nil, userID: userID)]
    }

    /// A challenge accepts one answer: a wrong one discards it.
    mutating func answerChallenge(
        id: String, userID: String, nodeID: String, at now: Int64, isValid: (String) -> Bool
    ) -> (changes: [MappingChange], refusal: ChallengeRefusal?) {
        let changes = expire(at: now)
        guard let request = request(id, of: userID), case .challenge(let challenge) = request.proof else {
            return (changes, .unknownRequest)
        }
        switch request.status {
        case .confirmed: return (changes, .alreadyConfirmed)
        case .timedout: return (changes, .timedOut)
        case .discarded: return (changes, .decided)
        case .requested: break
        }
        requests[id]?.nodeID = nodeID
        guard isValid(challenge) else { return (changes + decide(id, .discarded, at: now), .wrongResponse) }
        return (changes + confirm(id, nodeID: nodeID, replacing: true, at: now), nil)
    }

    // MARK: Removal

    /// Returns nil if the user does not have the node.
    mutating func remove(_ nodeID: String, from userID: String) -> [MappingChange]? {
        guard isMapped(nodeID, to: userID) else { return nil }
        reports[nodeID] = nil
        // When the last primary user leaves, the secondary users lose the node as well.
        let others = users(of: nodeID).filter { $0 != userID && isPrimary($0, of: nodeID) }
        if isPrimary(userID, of: nodeID), others.isEmpty { return removeAll(from: nodeID, except: nil) }
        owners[nodeID]?.removeAll { $0 == userID }
        morePrimaries?[nodeID]?.removeAll { $0 == userID }
        if let next = others.first { makeFirst(next, of: nodeID) }
        return [MappingChange(what: .removed, nodeID: nodeID, userID: userID)]
    }

    // MARK: Sharing

    /// Gives a node to another user, too.
    ///
    /// - Parameters:
    ///   - leaving: the present owner.
    ///   - ownerStays: if the node is transferred, whether that user keeps it as a secondary user; nil if it is not transferred.
    ///   - subRole: the guest's sub-role; nil for none.
    mutating func share(
        _ nodeID: String, with guest: String, asPrimary: Bool, leaving owner: String, ownerStays: Bool?,
        subRole: Int64? = nil
    ) {
        guard isMapped(nodeID, to: owner) else { return }
        if subRole != nil || subRoles?[nodeID]?[guest] != nil {
            var all = subRoles ?? [:]
            all[nodeID, default: [:]][guest] = subRole
            subRoles = all
        }
        if !isMapped(nodeID, to: guest) { owners[nodeID]?.append(guest) }
        guard let ownerStays else {
            if asPrimary { morePrimaries = (morePrimaries ?? [:]).merging([nodeID: [guest]], uniquingKeysWith: +) }
            return
        }
        makeFirst(guest, of: nodeID)
        morePrimaries?[nodeID]?.removeAll { $0 == owner }
        if !ownerStays { owners[nodeID]?.removeAll { $0 == owner } }
    }

    private mutating func makeFirst(_ userID: String, of nodeID: String) {
        owners[nodeID]?.removeAll { $0 == userID }
        owners[nodeID]?.insert(userID, at: 0)
    }

    /// Times out requests and reports that have waited too long.
    mutating func expire(at now: Int64) -> [MappingChange] {
        reports = reports.filter { $0.value.expiresAt > now }
        var changes: [MappingChange] = []
        for id in order {
            guard let request = requests[id], request.status == .requested, let end = request.expiresAt, end <= now
            else {
                continue
            }
            changes += decide(id, .timedout, at: now)
        }
        return changes
    }

    private mutating func add(_ request: MappingRequest) {
        requests[request.id] = request
        order.append(request.id)
        while order.count > Self.maximumRequests { requests[order.removeFirst()] = nil }
    }

    private mutating func confirm(
        _ id: String, nodeID: String, replacing: Bool, at now: Int64
    ) -> [MappingChange] {
        guard let userID = requests[id]?.userID else { return [] }
        let removed = replacing ? removeAll(from: nodeID, except: userID) : []
        if !isMapped(nodeID, to: userID) { owners[nodeID, default: []].append(userID) }
        return removed + decide(id, .confirmed, at: now)
    }

    private mutating func removeAll(from nodeID: String, except userID: String?) -> [MappingChange] {
        let leaving = (owners[nodeID] ?? []).filter { $0 != userID }
        owners[nodeID] = owners[nodeID]?.filter { $0 == userID }
        morePrimaries?[nodeID] = nil
        return leaving.map { MappingChange(what: .removed, nodeID: nodeID, userID: $0) }
    }

    private mutating func decide(_ id: String, _ status: MappingRequest.Status, at now: Int64) -> [MappingChange] {
        guard var request = requests[id], let what = MappingChange.What(rawValue: status.rawValue) else { return [] }
        request.status = status
        request.decidedAt = now
        requests[id] = request
        return [MappingChange(what: what, nodeID: request.nodeID, userID: request.userID)]
    }

    private static func agree(_ request: MappingRequest, _ report: Report) -> Bool {
        guard case .secret(let hash) = request.proof else { return false }
        return request.userID == report.userID && equalInConstantTime(hash, report.secretHash)
    }

    private static func hash(_ secret: String) -> [UInt8] { OpenSSLHashes.sha256(Array(secret.utf8)) }
}

/// A user's request for a node, kept even after its decision.
struct MappingRequest: Codable, Sendable, Equatable {
    enum Status: String, Codable, Sendable { case requested, confirmed, timedout, discarded }

    /// How the node confirms the request.
    enum Proof: Codable, Sendable, Equatable {
        /// The node reports the same secret over MQTT. Only its SHA-256 is kept.
        case secret(hash: [UInt8])
        /// The node signs this text.
        case challenge(String)
    }

    var id: String
    var userID: String
    /// Nil until the answer to a challenge names the node.
    var nodeID: String?
    var proof: Proof
    var status: Status
    var tags: [String] = []
    /// Milliseconds since 1970, like the others.
    var requestedAt: Int64
    /// Nil for never.
    var expiresAt: Int64?
    var decidedAt: Int64?
}

/// A change of a mapping, for the journal.
struct MappingChange: Sendable, Equatable {
    enum What: String, Sendable { case requested, confirmed, timedout, discarded, removed, reported }
    var what: What
    var nodeID: String?
    var userID: String
}

extension CloudAPI {
    /// `PUT user/nodes/mapping`: adds the user's half of a mapping by secret, or removes a mapping.
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

    /// `GET user/nodes/mapping?request_id=`: the request's status.
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

    /// The maximum timeout of a challenge, in seconds: a hundred years.
    private static let maximumChallengeTimeout: Int64 = 100 * 366 * 86_400

    /// `POST user/nodes/mapping/initiate`: returns a challenge for the node to sign.
    func initiateMapping(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let timeout = try call.body(isOptional: true).integer("timeout") ?? 360
        guard (0...Self.maximumChallengeTimeout).contains(timeout) else { throw .challengeTimeoutOutOfRange }
        var random = OpenSSLRandom()
        let (id, challenge, now) = (makeUUID(), Hex.text(random.bytes(32)), now)
        let changes = try change { state in
            state.mappings.issueChallenge(
                id: id, userID: user.id, challenge: challenge, patience: timeout == 0 ? nil : timeout * 1000, at: now)
        }
        record(changes)
        return success(
            "Challenge generated successfully",
            [.init("request_id", .string(id)), .init("challenge", .string(challenge))])
    }

    /// `POST user/nodes/mapping/verify`: takes the signed challenge. The mapping is final with the answer.
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
                guard let signature = Hex.decoded(answer.utf8) else { return false }
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
