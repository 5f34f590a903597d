// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// The node id of each claimed board. The same user gets the same id for the same board again; another user gets another id.
struct ClaimTable: Codable, Sendable, Equatable {
    /// By user, then by MAC address.
    private var nodes: [String: [String: String]] = [:]

    /// The node id; nil if the user has claimed as many nodes as allowed.
    ///
    /// - Parameter makeID: draws a new id.
    mutating func node(
        of macAddress: String, claimedBy userID: String, quota: Int, makeID: () -> String
    ) -> String? {
        if let known = nodes[userID]?[macAddress] { return known }
        guard nodes[userID]?.count ?? 0 < quota else { return nil }
        let id = makeID()
        nodes[userID, default: [:]][macAddress] = id
        return id
    }

    func isClaimed(_ nodeID: String) -> Bool { nodes.values.contains { $0.values.contains(nodeID) } }
    func isClaimed(_ nodeID: String, by userID: String) -> Bool { nodes[userID]?.values.contains(nodeID) ?? false }

    /// 22 characters, as the ids of private deployments are.
    static func newNodeID() -> String {
        var random = OpenSSLRandom()
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        return String(random.bytes(22).map { alphabet[Int($0) % alphabet.count] })
    }
}
