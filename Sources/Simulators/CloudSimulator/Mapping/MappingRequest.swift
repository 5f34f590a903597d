// SPDX-License-Identifier: Apache-2.0

/// A user's request for a node, until it is decided and beyond.
struct MappingRequest: Codable, Sendable, Equatable {
    enum Status: String, Codable, Sendable { case requested, confirmed, timedout, discarded }

    /// How the node confirms it.
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
    /// Milliseconds since 1970, as are the others.
    var requestedAt: Int64
    /// Nil: never.
    var expiresAt: Int64?
    var decidedAt: Int64?
}

/// Something that happened to a mapping, for the journal.
struct MappingChange: Sendable, Equatable {
    enum What: String, Sendable { case requested, confirmed, timedout, discarded, removed, reported }
    var what: What
    var nodeID: String?
    var userID: String
}
