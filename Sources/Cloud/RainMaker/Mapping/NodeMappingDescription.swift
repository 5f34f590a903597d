// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What one's own backend looks like to ``HTTPNodeMapping``: which requests tell it who owns a node, and where its answers say what
/// came of it. `docs/own-cloud.md` describes the file.
public struct NodeMappingDescription: Sendable, Equatable, Codable {
    /// The version that this program reads.
    public static let currentVersion = 1

    public var schemaVersion: Int
    /// The user's half of a mapping by secret.
    public var add: Add
    /// How far a mapping has come; without it a success of ``add`` is final.
    public var status: Status?
    /// A challenge for boards that prove themselves by a signature, and what takes the signature: both or none.
    public var challenge: Challenge?
    public var verify: Call?

    /// One request.
    public struct Call: Sendable, Equatable, Codable {
        /// `GET`, `POST`, `PUT` or `DELETE`.
        public var method: String
        /// With placeholders such as `{node_id}`, which are percent-encoded.
        public var url: String
        /// With placeholders in its texts. A text that is `{tags}` or `{metadata}` and nothing else becomes that array or object.
        public var body: JSONValue?
    }

    public struct Add: Sendable, Equatable, Codable {
        public var method: String
        public var url: String
        public var body: JSONValue?
        /// Where the answer names its request, as a path with dots; the node's id stands in where it does not.
        public var request: String?
    }

    public struct Status: Sendable, Equatable, Codable {
        public var method: String
        public var url: String
        public var body: JSONValue?
        /// Where the answer says the state, as a path with dots.
        public var state: String
        /// The words for each state. A word that stands nowhere means: not decided yet.
        public var confirmed: [String]
        public var requested: [String]?
        public var timedOut: [String]?
        public var discarded: [String]?
    }

    public struct Challenge: Sendable, Equatable, Codable {
        public var method: String
        public var url: String
        public var body: JSONValue?
        /// Where the answer names its request and the text to sign, as paths with dots.
        public var request: String
        public var challenge: String
    }
}

extension NodeMappingDescription.Add {
    var call: NodeMappingDescription.Call { .init(method: method, url: url, body: body) }
}

extension NodeMappingDescription.Status {
    var call: NodeMappingDescription.Call { .init(method: method, url: url, body: body) }
}

extension NodeMappingDescription.Challenge {
    var call: NodeMappingDescription.Call { .init(method: method, url: url, body: body) }
}
