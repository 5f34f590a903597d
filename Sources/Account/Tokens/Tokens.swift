import JSON
import Vocabulary

/// What a provider gives for a sign-in: proofs that are opaque to the client, but for when they expire.
public struct Tokens: Sendable, Equatable {
    /// Goes with each request.
    public var access: Secret
    /// Brings new ones; nil where the provider gives none, and then the session ends with the access token.
    public var refresh: Secret?
    /// Tells who signed in (OpenID Connect's id token).
    public var identity: Secret?
    /// When `access` came, by this machine's clock.
    public var received: UnixTime
    /// When `access` expires, by this machine's clock; nil if nobody said.
    public var expires: UnixTime?

    public init(
        access: Secret, refresh: Secret? = nil, identity: Secret? = nil, received: UnixTime, expires: UnixTime? = nil
    ) {
        self.access = access
        self.refresh = refresh
        self.identity = identity
        self.received = received
        self.expires = expires
    }

    /// The lifetime that JSON Web Tokens state about themselves is laid on the moment they came, so that a clock that is wrong
    /// here does not matter. Without `iat` the stated end is all there is.
    public init(jsonWebToken access: Secret, refresh: Secret?, identity: Secret?, received: UnixTime) {
        self.init(access: access, refresh: refresh, identity: identity, received: received)
        guard let claims = JSONWebToken.claims(of: access), let end = claims["exp"]?.double else { return }
        if let issued = claims["iat"]?.double, end > issued {
            expires = received + (end - issued)
        } else {
            expires = UnixTime(seconds: end)
        }
    }

    /// For a token that says when it ends and not when it was issued: its end by this machine's clock, where the server's is that far
    /// ahead.
    mutating func correctEnd(serverIsAhead seconds: Double) {
        guard let claims = JSONWebToken.claims(of: access), let end = claims["exp"]?.double else { return }
        if let issued = claims["iat"]?.double, end > issued { return }
        expires = UnixTime(seconds: end - seconds)
    }

    /// What a renewal did not bring anew goes on as it was.
    mutating func carryOver(from old: Tokens) {
        refresh = refresh ?? old.refresh
        identity = identity ?? old.identity
    }

    /// How long before the end tokens are renewed: a minute, or a tenth of a short life.
    static let renewalMargin = 60.0

    /// Whether the access token is so near its end that it should be renewed first.
    public func shouldBeRenewed(at now: UnixTime) -> Bool {
        guard let expires else { return false }
        let lifetime = max(0, expires.seconds - received.seconds)
        return now.seconds >= expires.seconds - min(Self.renewalMargin, lifetime / 10)
    }

    /// Whether the access token is beyond its end.
    public func haveExpired(at now: UnixTime) -> Bool { expires.map { now >= $0 } ?? false }
}
