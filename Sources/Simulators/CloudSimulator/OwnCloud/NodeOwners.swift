// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The state of the simulated backend: the users' requests for nodes, and the owners of nodes. A value without a clock.
struct NodeOwners: Sendable {
    /// When a mapping by secret is confirmed.
    enum Confirmation: String, Sendable {
        /// With the user's half alone.
        case atOnce = "at_once"
        /// The first query is answered `requested`, the next one `confirmed`.
        case secondQuery = "second_query"
        /// Once the node has reported the same secret.
        case nodeReport = "node_report"
    }

    /// A user's half that waits for a second query.
    private struct Waiting: Sendable {
        var node: String
        var user: String
        var secret: String
        var isAsked = false
    }

    private static let maximumNodes = 1000
    private static let patience: Int64 = 300_000

    var confirmation = Confirmation.atOnce
    private var mappings = MappingTable()
    private var waiting = ExpiringTable<Waiting>(maximum: 1000)
    /// The identity provider of the user who last requested a node.
    private var providers: [String: IdentitySystem] = [:]
    /// The public keys as PEM, by node.
    private var keys: [String: String] = [:]

    func provider(of node: String) -> IdentitySystem? { providers[node] }
    func nodes(of user: String) -> [String] { mappings.nodes(of: user) }

    /// Adds the user's half. Returns nil if there are too many nodes.
    mutating func add(
        _ node: String, id: String, user: String, secret: String, provider: IdentitySystem, at now: Int64
    ) -> [MappingChange]? {
        guard providers[node] != nil || providers.count < Self.maximumNodes else { return nil }
        providers[node] = provider
        let changes = mappings.request(id: id, nodeID: node, userID: user, secret: secret, at: now)
        switch confirmation {
        case .nodeReport: return changes
        case .atOnce: return changes + report(node, user: user, secret: secret, at: now)
        case .secondQuery:
            waiting.insert(
                Waiting(node: node, user: user, secret: secret), key: id, until: now + Self.patience, at: now)
            return changes
        }
    }

    /// Adds the node's half.
    mutating func report(_ node: String, user: String, secret: String, at now: Int64) -> [MappingChange] {
        mappings.report(nodeID: node, userID: user, secret: secret, isReset: true, at: now)
    }

    /// Returns nil if that user has made no such request.
    mutating func status(
        of id: String, user: String, at now: Int64
    ) -> (status: MappingRequest.Status, changes: [MappingChange])? {
        var changes = mappings.expire(at: now)
        if let half = waiting.value(id, at: now), half.user == user {
            if half.isAsked {
                waiting.remove(id)
                changes += report(half.node, user: user, secret: half.secret, at: now)
            } else {
                waiting.update(id) { $0.isAsked = true }
            }
        }
        return mappings.request(id, of: user).map { ($0.status, changes) }
    }

    // MARK: By challenge

    /// Returns false if the text is not a key, or there are too many.
    mutating func setKey(_ pem: String, of node: String) -> Bool {
        guard (try? PublicKey(pem: Array(pem.utf8))) != nil, keys[node] != nil || keys.count < Self.maximumNodes else {
            return false
        }
        keys[node] = pem
        return true
    }

    mutating func challenge(
        id: String, user: String, challenge: String, lifetime: Int64, at now: Int64
    ) -> [MappingChange] {
        mappings.issueChallenge(id: id, userID: user, challenge: challenge, patience: lifetime * 1000, at: now)
    }

    mutating func answer(
        _ id: String, user: String, node: String, signature: [UInt8], provider: IdentitySystem, at now: Int64
    ) -> (changes: [MappingChange], refusal: MappingTable.ChallengeRefusal?) {
        let key = keys[node].flatMap { try? PublicKey(pem: Array($0.utf8)) }
        if key != nil { providers[node] = provider }
        return mappings.answerChallenge(id: id, userID: user, nodeID: node, at: now) { text in
            guard let key else { return false }
            return [SignatureAlgorithm.ecdsa, .rsaPSS].contains {
                key.isValid(signature, for: Array(text.utf8), algorithm: $0)
            }
        }
    }
}
