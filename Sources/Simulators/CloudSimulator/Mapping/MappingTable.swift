// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The users of each node, and the requests for mappings.
///
/// A mapping by secret is confirmed when two messages agree on user and secret: the user's request, and the node's report,
/// whichever comes first. A value without a clock: each step is told the time (milliseconds since 1970).
struct MappingTable: Codable, Sendable, Equatable {
    /// The oldest requests are forgotten beyond this.
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
    /// Those beside the first who are primary as well, by node. Nil in the state of a simulator that shared nothing.
    private var morePrimaries: [String: [String]]?

    func nodes(of userID: String) -> [String] { owners.filter { $0.value.contains(userID) }.keys.sorted() }
    func isMapped(_ nodeID: String, to userID: String) -> Bool { owners[nodeID]?.contains(userID) ?? false }
    func isPrimary(_ userID: String, of nodeID: String) -> Bool {
        owners[nodeID]?.first == userID || morePrimaries?[nodeID]?.contains(userID) ?? false
    }
    func users(of nodeID: String) -> [String] { owners[nodeID] ?? [] }

    /// The request of that id, if it is that user's.
    func request(_ id: String, of userID: String) -> MappingRequest? {
        requests[id].flatMap { $0.userID == userID ? $0 : nil }
    }

    // MARK: by secret

    /// The user's half.
    ///
    /// A report with another user or secret does not discard the request: it may stem from an earlier attempt, and the node's report for
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
        // The report stays: a client that lost the response asks again, and gets the same answer.
        if let report = reports[nodeID], Self.agree(request, report) {
            changes += confirm(id, nodeID: nodeID, replacing: report.isReset, at: now)
        }
        return changes
    }

    /// The node's half. Requests for this node that it contradicts are discarded.
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

    /// The user id that a node reports after a factory reset: the node has no user any more.
    static let factoryResetUser = "esp-rmaker"

    // MARK: by challenge

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

    /// A challenge takes one answer: a wrong one discards it.
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

    // MARK: ends

    /// Nil if the user does not have the node.
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

    // MARK: sharing

    /// Gives a node to another user, too.
    ///
    /// - Parameters:
    ///   - leaving: whose it is.
    ///   - ownerStays: where the node is handed over, whether that user keeps it as a secondary one; nil where it is not.
    mutating func share(_ nodeID: String, with guest: String, asPrimary: Bool, leaving owner: String, ownerStays: Bool?)
    {
        guard isMapped(nodeID, to: owner) else { return }
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
