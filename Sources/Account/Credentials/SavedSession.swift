// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// A session in its stored form: its user, its provider and its tokens.
public struct SavedSession: Sendable, Equatable {
    /// The provider's name, such as `rainmaker`. No other provider uses the session.
    public var provider: String
    /// The user's id at the provider.
    public var userID: UserID
    /// The name with which the user signed in, such as an e-mail address; the id if the provider gives no other name.
    public var userName: String
    /// The tokens of the session. Stores get them in clear text (``serialized``).
    public var tokens: Tokens
    /// How many seconds the server's clock was ahead of this machine's at its last answer; nil if unknown.
    public var serverIsAhead: Double?

    /// The provider's data about the user at sign-in, for reading offline.
    public var attributes: [JSONValue.Member]
    /// The provider's settings that the session is bound to, such as its server; see ``IdentityProvider/context``.
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

    /// The user, from the stored session.
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

    /// Version 2 has members that only some sessions need. A session without them is written as version 1, which older programs read too.
    private static let versions = [1, 2]

    /// The session as JSON text, with tokens in clear text: only for a credential store.
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
        try self.init(serialized: text, remedy: "sign in again to replace it")
    }

    /// - Parameter remedy: the end of the sentence about a text that is not a session.
    init(serialized text: Secret, remedy: String) throws(AccountError) {
        guard let json = try? JSONValue(parsing: text.revealBytes()) else {
            let problem = text.isEmpty ? "empty" : "not JSON"
            throw AccountError(
                .storeUnreadable, message: "the stored session is \(problem); \(remedy)")
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
                message: "the stored session cannot be used: \(error.message); \(remedy)")
        }
        if let version, !Self.versions.contains(version) {
            throw AccountError(
                .storeUnreadable,
                message:
                    "a newer version of this program wrote the stored session (format \(version); this version reads 1 and 2). Update this "
                    + "program, or sign in again to replace the session")
        }
        guard let session else {
            throw AccountError(
                .storeUnreadable, message: "the stored session is incomplete; \(remedy)")
        }
        self = session
    }

    /// Returns nil without the members that every session has. A member of the wrong type must not count as missing. Otherwise the session
    /// would be valid for any server, or never expire.
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
