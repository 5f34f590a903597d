// SPDX-License-Identifier: Apache-2.0

/// A user's wish to have a node, from the moment it was said until it was decided.
struct MappingRequest: Codable, Sendable, Equatable {
    enum Status: String, Codable, Sendable { case requested, confirmed, timedout, discarded }

    /// How the node says yes.
    enum Proof: Codable, Sendable, Equatable {
        /// The node reports the same secret over MQTT. Only its SHA-256 is kept.
        case secret(hash: [UInt8])
        /// The node signs this text.
        case challenge(String)
    }

    var id: String
    var userID: String
    /// Not known before the answer to a challenge comes.
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
