// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// Describes the user's own backend for ``HTTPNodeMapping``: the requests that map a node, and the members of the answers that hold the
/// result. `docs/own-cloud.md` describes the file.
public struct NodeMappingDescription: Sendable, Equatable, Codable {
    /// The version that this program reads.
    public static let currentVersion = 1

    /// The version of the format. Any but ``currentVersion`` is `unreadableDefinition`.
    public var schemaVersion: Int
    /// Signs the user in to the backend with a one-time code of the identity provider. All later requests then carry the token that the
    /// backend returned.
    public var signIn: SignIn?
    /// Ends the session that ``signIn`` began. Without it the session ends when the backend's token expires.
    public var signOut: Call?
    /// Whether the backend may get the identity provider's own access token. It applies if ``signIn`` is missing, or if the provider has no
    /// one-time codes for another client. Without ``signIn`` it must be true.
    public var sendsProviderToken: Bool?
    /// Sends the user's half of a mapping by secret.
    public var add: Add
    /// Asks for the state of a mapping. Without it a success of ``add`` is final.
    public var status: Status?
    /// Asks for a challenge, for boards that prove themselves by a signature. It needs ``verify``, and ``verify`` needs it.
    public var challenge: Challenge?
    /// Sends a board's signature over the challenge. Its success is final.
    public var verify: Call?

    /// One request.
    public struct Call: Sendable, Equatable, Codable {
        /// `GET`, `POST`, `PUT` or `DELETE`.
        public var method: String
        /// The address, with placeholders such as `{node_id}`, whose values are percent-encoded.
        public var url: String
        /// The body, with placeholders in its texts. A text that is only `{tags}` or `{metadata}` becomes that array or object.
        public var body: JSONValue?
    }

    /// A request that exchanges a one-time code of the identity provider for the backend's own token. It carries no other proof.
    public struct SignIn: Sendable, Equatable, Codable {
        /// As in ``Call``, but not `GET`: the code belongs in the body.
        public var method: String
        /// As in ``Call``.
        public var url: String
        /// As in ``Call``; `{code}` is required here.
        public var body: JSONValue?
        /// The id of the backend's own client at the identity provider. The code is made for this client, and nobody else can redeem it.
        public var client: String
        /// The path to the backend's token in the answer, with dots.
        public var token: String
    }

    /// A request that tells the backend the node, its user and their secret.
    public struct Add: Sendable, Equatable, Codable {
        /// As in ``Call``.
        public var method: String
        /// As in ``Call``; `{node_id}` is required here or in the body. A secret is refused here, because servers log addresses.
        public var url: String
        /// As in ``Call``; `{secret_key}`, `{tags}` and `{metadata}` belong here.
        public var body: JSONValue?
        /// The path to the request's id in the answer, with dots. Without it the node's id is used instead.
        public var request: String?
    }

    /// A request for the state of a mapping.
    public struct Status: Sendable, Equatable, Codable {
        /// As in ``Call``.
        public var method: String
        /// As in ``Call``; `{request_id}` is required here or in the body.
        public var url: String
        /// As in ``Call``.
        public var body: JSONValue?
        /// The path to the state in the answer, with dots.
        public var state: String
        /// The words for a confirmed mapping. A word that no list contains means: not decided yet.
        public var confirmed: [String]
        /// The words for a mapping that waits for the node.
        public var requested: [String]?
        /// The words for a request that became void because the node did not report in time.
        public var timedOut: [String]?
        /// The words for a request that the backend refuses: the node reported another user or secret.
        public var discarded: [String]?
    }

    /// A request for a text that a board signs.
    public struct Challenge: Sendable, Equatable, Codable {
        /// As in ``Call``.
        public var method: String
        /// As in ``Call``.
        public var url: String
        /// As in ``Call``; `{lifetime}` becomes the number of seconds for which the challenge is valid.
        public var body: JSONValue?
        /// The path to the request's id in the answer, with dots.
        public var request: String
        /// The path to the text to sign, with dots. The board signs the text's UTF-8 bytes.
        public var challenge: String
    }
}

extension NodeMappingDescription.SignIn {
    var call: NodeMappingDescription.Call { .init(method: method, url: url, body: body) }
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

extension NodeMappingDescription {
    /// Limits for a description. Real ones have a few hundred bytes.
    public static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 16, maximumValues: 2000)

    /// Reads a description.
    /// - Parameter origin: the name of the description in errors: a path.
    /// - Throws: `unreadableDefinition`, naming the wrong member.
    public init(parsing text: [UInt8], origin: String) throws(AccountError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: FileText.document(text), limits: Self.limits)
        } catch let error as FileText.Fault {
            throw Self.unreadable(origin, "\(error)")
        } catch {
            throw Self.unreadable(origin, "it is not JSON: \(error)")
        }
        let version: Int?
        do throws(JSONError) {
            version = try JSONMembers(json).integer("schemaVersion")
        } catch {
            throw Self.unreadable(origin, error.message)
        }
        guard let version else {
            throw Self.unreadable(origin, "it has no schemaVersion; this program reads version \(Self.currentVersion)")
        }
        guard version == Self.currentVersion else {
            throw Self.unreadable(
                origin, "its schemaVersion is \(version), but this program reads \(Self.currentVersion)")
        }
        do throws(JSONError) {
            self = try JSONCoder.decode(NodeMappingDescription.self, from: json)
        } catch {
            throw Self.unreadable(origin, "\(error)")
        }
        // A misspelt member would otherwise be ignored, and the request would lack something.
        if let known = try? JSONCoder.value(of: self),
            let stray = json.firstMember(unknownTo: known) ?? json.firstNull(unknownTo: Self.self)
        {
            throw Self.unreadable(origin, "it has an unknown member, \(stray)")
        }
        do throws(MappingDescriptionProblem) {
            _ = try MappingCalls(self)
        } catch {
            throw Self.unreadable(origin, "\(error.member): \(error.sentence)")
        }
    }

    private static func unreadable(_ origin: String, _ what: String) -> AccountError {
        AccountError(
            .unreadableDefinition,
            message: "the backend's description \(presentable(origin)) cannot be used: \(presentable(what))")
    }
}

/// The wrong member of a description, and what is wrong with it.
struct MappingDescriptionProblem: Error, Equatable {
    var member: String
    var sentence: String
}
