import JSON
import Vocabulary

/// A session as it is stored: whose, with which provider, and its tokens.
public struct SavedSession: Sendable, Equatable {
    public var provider: String
    public var userID: UserID
    public var userName: String
    public var tokens: Tokens
    /// How many seconds the server's clock was ahead of this machine's when it was last heard of; nil if it never was.
    public var serverIsAhead: Double?

    public init(
        provider: String, userID: UserID, userName: String, tokens: Tokens, serverIsAhead: Double? = nil
    ) {
        self.provider = provider
        self.userID = userID
        self.userName = userName
        self.tokens = tokens
        self.serverIsAhead = serverIsAhead
    }

    private static let schemaVersion: Int64 = 1

    /// The session as JSON text, tokens in clear: for a credential store and nothing else.
    public var serialized: Secret {
        let optional = { (secret: Secret?) -> JSONValue in secret.map { .string($0.revealString()) } ?? .null }
        let json: JSONValue = [
            "schemaVersion": .integer(Self.schemaVersion), "provider": .string(provider),
            "userID": .string(userID.rawValue), "userName": .string(userName),
            "accessToken": .string(tokens.access.revealString()), "refreshToken": optional(tokens.refresh),
            "identityToken": optional(tokens.identity), "received": .number(tokens.received.seconds),
            "expires": tokens.expires.map { .number($0.seconds) } ?? .null,
            "serverIsAhead": serverIsAhead.map { .number($0) } ?? .null,
        ]
        return Secret(json.serialized(pretty: true) + [0x0A])
    }

    /// - Throws: `storeUnreadable` if the text is not a session, or one of a later version.
    public init(serialized text: Secret) throws(AccountError) {
        guard let json = try? JSONValue(parsing: text.revealBytes()) else {
            throw AccountError(.storeUnreadable, message: "the stored session is not JSON; sign in again to replace it")
        }
        guard json["schemaVersion"]?.integer == Self.schemaVersion else {
            throw AccountError(
                .storeUnreadable, message: "the stored session is of a version this program does not know")
        }
        guard let provider = json["provider"]?.string, let userID = json["userID"]?.string, !userID.isEmpty,
            let userName = json["userName"]?.string, let access = json["accessToken"]?.string, !access.isEmpty,
            let received = json["received"]?.double
        else {
            throw AccountError(
                .storeUnreadable, message: "the stored session is incomplete; sign in again to replace it")
        }
        let optional = { (name: String) in json[name]?.string.map { Secret($0) } }
        self.init(
            provider: provider, userID: UserID(userID), userName: userName,
            tokens: Tokens(
                access: Secret(access), refresh: optional("refreshToken"), identity: optional("identityToken"),
                received: UnixTime(seconds: received),
                expires: json["expires"]?.double.map { UnixTime(seconds: $0) }),
            serverIsAhead: json["serverIsAhead"]?.double)
    }
}
