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
    private static let versions: [Int64] = [1, 2]

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

    private static func unknownVersion(_ version: Int64?) -> String {
        guard let version, version > versions.last! else {
            return "the stored session has no version that this program knows; sign in again to replace it"
        }
        return
            "a newer version of this program stored the session (format \(version)); update this one, or sign in again"
    }

    private static func object(_ texts: [String: String]) -> JSONValue {
        .object(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
    }

    private static func texts(_ json: JSONValue?) -> [String: String] {
        var texts: [String: String] = [:]
        for member in json?.members ?? [] { texts[member.name] = member.value.string }
        return texts
    }

    /// - Throws: `storeUnreadable` if the text is not a session, or one of a later version.
    public init(serialized text: Secret) throws(AccountError) {
        guard let json = try? JSONValue(parsing: text.revealBytes()) else {
            let problem = text.isEmpty ? "empty" : "not JSON"
            throw AccountError(
                .storeUnreadable, message: "the stored session is \(problem); sign in again to replace it")
        }
        guard let version = json["schemaVersion"]?.integer, Self.versions.contains(version) else {
            throw AccountError(.storeUnreadable, message: Self.unknownVersion(json["schemaVersion"]?.integer))
        }
        guard let provider = json["provider"]?.string, let userID = json["userID"]?.string, !userID.isEmpty,
            let userName = json["userName"]?.string, let access = json["accessToken"]?.string, !access.isEmpty,
            let received = json["received"]?.double
        else {
            throw AccountError(
                .storeUnreadable, message: "the stored session is incomplete; sign in again to replace it")
        }
        let optional = { (name: String) in json[name]?.string.map { Secret($0) } }
        let time = { (name: String) in json[name]?.double.map { UnixTime(seconds: $0) } }
        var tokens = Tokens(
            kind: json["kind"]?.string.map(CredentialKind.init) ?? .oauth, access: Secret(access),
            refresh: optional("refreshToken"), identity: optional("identityToken"),
            received: UnixTime(seconds: received), expires: time("expires"))
        tokens.refreshExpires = time("refreshExpires")
        tokens.signsInAgain = json["signsInAgain"]?.bool ?? false
        tokens.renewalMargin = json["renewalMargin"]?.double
        tokens.extras = Self.texts(json["extras"]).mapValues { Secret($0) }
        self.init(
            provider: provider, userID: UserID(userID), userName: userName, tokens: tokens,
            serverIsAhead: json["serverIsAhead"]?.double, attributes: json["attributes"]?.members ?? [],
            context: Self.texts(json["context"]))
    }
}
