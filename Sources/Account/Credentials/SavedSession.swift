// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// A session as it is stored: whose, with which provider, and its tokens.
public struct SavedSession: Sendable, Equatable {
    /// The provider's name, such as `rainmaker`: no other provider uses the session.
    public var provider: String
    /// Whose session it is, by the provider's id.
    public var userID: UserID
    /// What the user signed in with, such as an e-mail address; the id where the provider names nothing else.
    public var userName: String
    /// What the session proves itself with. Stores are handed it in clear (``serialized``).
    public var tokens: Tokens
    /// How many seconds the server's clock was ahead of this machine's when it was last heard of; nil if it never was.
    public var serverIsAhead: Double?

    /// What the provider said about the user at sign-in, to be read offline.
    public var attributes: [JSONValue.Member]
    /// Which of the provider's settings the session is good with, such as its server; see ``IdentityProvider/context``.
    public var context: [String: String]

    public init(
        provider: String, userID: UserID, userName: String, tokens: Tokens, serverIsAhead: Double? = nil,
        attributes: [JSONValue.Member] = [], context: [String: String] = [:]
    ) {
        self.provider = provider
        self.userID = userID
        self.userName = userName
        self.tokens = tokens
        self.serverIsAhead = serverIsAhead
        self.attributes = attributes
        self.context = context
    }

    /// The user as far as the stored session tells.
    public var userInfo: UserInfo {
        let own = JSONValue.object(attributes)
        var user = UserInfo(userID: userID, userName: userName)
        user.name = own["name"]?.string
        user.email = own["email"]?.string
        user.phoneNumber = own["phone_number"]?.string
        user.locale = own["locale"]?.string
        user.attributes = attributes
        return user
    }

    /// The second version has what only some sessions have; one that has none of it is written in the first, which older programs
    /// read too.
    private static let versions = [1, 2]

    /// The session as JSON text, tokens in clear: for a credential store and nothing else.
    public var serialized: Secret {
        let optional = { (secret: Secret?) -> JSONValue in secret.map { .string($0.revealString()) } ?? .null }
        let more = laterMembers
        let members: [JSONValue.Member] = [
            .init("schemaVersion", .integer(more.isEmpty ? 1 : 2)), .init("provider", .string(provider)),
            .init("userID", .string(userID.rawValue)), .init("userName", .string(userName)),
            .init("accessToken", .string(tokens.access.revealString())),
            .init("refreshToken", optional(tokens.refresh)),
            .init("identityToken", optional(tokens.identity)), .init("received", .number(tokens.received.seconds)),
            .init("expires", tokens.expires.map { .number($0.seconds) } ?? .null),
            .init("serverIsAhead", serverIsAhead.map { .number($0) } ?? .null),
        ]
        return Secret(JSONValue.object(members + more).serialized(pretty: true) + [0x0A])
    }

    private var laterMembers: [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if tokens.kind != .oauth { members.append(.init("kind", .string(tokens.kind.rawValue))) }
        if let end = tokens.refreshExpires { members.append(.init("refreshExpires", .number(end.seconds))) }
        if tokens.signsInAgain { members.append(.init("signsInAgain", true)) }
        if let margin = tokens.renewalMargin { members.append(.init("renewalMargin", .number(margin))) }
        if !tokens.extras.isEmpty {
            members.append(.init("extras", Self.object(tokens.extras.mapValues { $0.revealString() })))
        }
        if !attributes.isEmpty { members.append(.init("attributes", .object(attributes))) }
        if !context.isEmpty { members.append(.init("context", Self.object(context))) }
        return members
    }

    private static func object(_ texts: [String: String]) -> JSONValue {
        .object(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
    }

    private static func texts(_ json: JSONMembers?) throws(JSONError) -> [String: String] {
        var texts: [String: String] = [:]
        for member in json?.value.members ?? [] { texts[member.name] = try json?.text(member.name) }
        return texts
    }

    /// - Throws: `storeUnreadable` if the text is not a session, or one of a later version.
    public init(serialized text: Secret) throws(AccountError) {
        guard let json = try? JSONValue(parsing: text.revealBytes()) else {
            let problem = text.isEmpty ? "empty" : "not JSON"
            throw AccountError(
                .storeUnreadable, message: "the stored session is \(problem); sign in again to replace it")
        }
        let version: Int?
        var session: SavedSession?
        do throws(JSONError) {
            let members = try JSONMembers(json)
            version = try members.integer("schemaVersion")
            if version.map(Self.versions.contains) == true { session = try Self.session(members) }
        } catch {
            throw AccountError(
                .storeUnreadable,
                message: "the stored session cannot be used: \(error.message); sign in again to replace it")
        }
        if let version, !Self.versions.contains(version) {
            throw AccountError(
                .storeUnreadable,
                message: "a newer program wrote the stored session (version \(version); this one reads 1 and 2); "
                    + "update this program, or sign in again to replace the session")
        }
        guard let session else {
            throw AccountError(
                .storeUnreadable, message: "the stored session is incomplete; sign in again to replace it")
        }
        self = session
    }

    /// Nil without the members that every session has. A member of the wrong type must not count as absent: the session would be for any
    /// server, or never end.
    private static func session(_ json: JSONMembers) throws(JSONError) -> SavedSession? {
        guard let provider = try json.text("provider"), let userID = try json.text("userID"), !userID.isEmpty,
            let userName = try json.text("userName"), let access = try json.text("accessToken"), !access.isEmpty,
            let received = try json.number("received")
        else { return nil }
        func time(_ name: String) throws(JSONError) -> UnixTime? {
            try json.number(name).map { UnixTime(seconds: $0) }
        }
        var tokens = Tokens(
            kind: try json.text("kind").map(CredentialKind.init) ?? .oauth, access: Secret(access),
            refresh: try json.text("refreshToken").map { Secret($0) },
            identity: try json.text("identityToken").map { Secret($0) },
            received: UnixTime(seconds: received), expires: try time("expires"))
        tokens.refreshExpires = try time("refreshExpires")
        tokens.signsInAgain = try json.flag("signsInAgain") ?? false
        tokens.renewalMargin = try json.number("renewalMargin")
        tokens.extras = try texts(json.object("extras")).mapValues { Secret($0) }
        return SavedSession(
            provider: provider, userID: UserID(userID), userName: userName, tokens: tokens,
            serverIsAhead: try json.number("serverIsAhead"),
            attributes: try json.object("attributes")?.value.members ?? [],
            context: try texts(json.object("context")))
    }
}
