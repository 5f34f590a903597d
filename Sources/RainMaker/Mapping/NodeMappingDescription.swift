// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// What one's own backend looks like to ``HTTPNodeMapping``: which requests tell it who owns a node, and where its answers say what
/// came of it. `docs/own-cloud.md` describes the file.
public struct NodeMappingDescription: Sendable, Equatable, Codable {
    /// The version that this program reads.
    public static let currentVersion = 1

    /// The version of the format; any but ``currentVersion`` is `unreadableDefinition`.
    public var schemaVersion: Int
    /// Signs the user in to the backend with a one-time code of the identity provider. Every other request then carries the token that the
    /// backend answered.
    public var signIn: SignIn?
    /// Ends the session that ``signIn`` began. Without it the session ends when the backend's token does.
    public var signOut: Call?
    /// Whether the backend may be sent the identity provider's own access token, where ``signIn`` is missing or the provider has no
    /// one-time codes for another client. Without ``signIn`` it has to be true.
    public var sendsProviderToken: Bool?
    /// The user's half of a mapping by secret.
    public var add: Add
    /// How far a mapping has come; without it a success of ``add`` is final.
    public var status: Status?
    /// A challenge for boards that prove themselves by a signature, and what takes the signature: both or none.
    public var challenge: Challenge?
    /// Takes a board's signature over the challenge. Its success is final.
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

    /// A request that exchanges a one-time code of the identity provider for a token of the backend's own. It carries no other proof.
    public struct SignIn: Sendable, Equatable, Codable {
        /// As in ``Call``, but not `GET`: the code belongs in the body.
        public var method: String
        /// As in ``Call``.
        public var url: String
        /// As in ``Call``; `{code}` is needed here.
        public var body: JSONValue?
        /// The id of the backend's own client at the identity provider: the code is made for it, and nobody else can redeem it.
        public var client: String
        /// Where the answer has the backend's token, as a path with dots.
        public var token: String
    }

    /// A request that tells the backend the node, its user and their secret.
    public struct Add: Sendable, Equatable, Codable {
        /// As in ``Call``.
        public var method: String
        /// As in ``Call``; `{node_id}` is needed here or in the body. A secret here is refused, as servers log addresses.
        public var url: String
        /// As in ``Call``; `{secret_key}`, `{tags}` and `{metadata}` stand here.
        public var body: JSONValue?
        /// Where the answer names its request, as a path with dots; the node's id stands in where it does not.
        public var request: String?
    }

    /// A request that asks how far a mapping has come.
    public struct Status: Sendable, Equatable, Codable {
        /// As in ``Call``.
        public var method: String
        /// As in ``Call``; `{request_id}` is needed here or in the body.
        public var url: String
        /// As in ``Call``.
        public var body: JSONValue?
        /// Where the answer says the state, as a path with dots.
        public var state: String
        /// The words for each state. A word that stands nowhere means: not decided yet.
        public var confirmed: [String]
        /// The words for a mapping that waits for the node.
        public var requested: [String]?
        /// The words for a request that became void because the node did not report in time.
        public var timedOut: [String]?
        /// The words for a request that the backend refuses: the node reported another user or secret.
        public var discarded: [String]?
    }

    /// A request for a text that a board is to sign.
    public struct Challenge: Sendable, Equatable, Codable {
        /// As in ``Call``.
        public var method: String
        /// As in ``Call``.
        public var url: String
        /// As in ``Call``; `{lifetime}` becomes the number of seconds that the challenge is good for.
        public var body: JSONValue?
        /// Where the answer names its request and the text to sign, as paths with dots.
        public var request: String
        /// See ``request``. The board signs the text's UTF-8 bytes.
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
    /// Descriptions are a few hundred bytes.
    public static let limits = JSONLimits(maximumBytes: 64 << 10, maximumDepth: 16, maximumValues: 2000)

    /// Reads a description.
    /// - Parameter origin: what to call it in errors: a path.
    /// - Throws: `unreadableDefinition`, naming the member that is wrong.
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
            throw Self.unreadable(origin, "it has no schemaVersion; the one that is read is \(Self.currentVersion)")
        }
        guard version == Self.currentVersion else {
            throw Self.unreadable(
                origin, "its schemaVersion is \(version) and this program reads \(Self.currentVersion)")
        }
        do throws(JSONError) {
            self = try JSONCoder.decode(NodeMappingDescription.self, from: json)
        } catch {
            throw Self.unreadable(origin, "\(error)")
        }
        // A misspelt member would be a request that lacks something.
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

/// What is wrong with a description, and in which member.
struct MappingDescriptionProblem: Error, Equatable {
    var member: String
    var sentence: String
}
