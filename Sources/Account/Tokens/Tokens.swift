// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// What a provider gives for a sign-in: proofs that are opaque to the client, but for when they expire.
public struct Tokens: Sendable, Equatable {
    /// What kind of proof goes with each request.
    public var kind: CredentialKind
    /// Goes with each request: an access token, a password, the `Cookie` header's value.
    public var access: Secret
    /// Brings new ones: a refresh token, or the password of a session that is signed in to again. nil where the provider gives none,
    /// and then the session ends with the access token, unless it ``signsInAgain``.
    public var refresh: Secret?
    /// When `refresh` expires, by this machine's clock; nil if nobody said.
    public var refreshExpires: UnixTime?
    /// The provider brings new tokens with what it has itself, its client's credentials above all.
    public var signsInAgain = false
    /// Tells who signed in (OpenID Connect's id token).
    public var identity: Secret?
    /// When `access` came, by this machine's clock.
    public var received: UnixTime
    /// When `access` expires, by this machine's clock; nil if nobody said.
    public var expires: UnixTime?
    /// How many seconds before the end tokens are renewed; nil for the usual.
    public var renewalMargin: Double?
    /// What else the provider keeps with them by name: whom they are for (`principalID`), a user name, a CSRF token.
    public var extras: [String: Secret] = [:]

    public init(
        kind: CredentialKind = .oauth, access: Secret, refresh: Secret? = nil, identity: Secret? = nil,
        received: UnixTime, expires: UnixTime? = nil
    ) {
        self.kind = kind
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

    /// One of ``extras`` as text; nil if there is none of that name.
    public subscript(name: String) -> String? {
        get { extras[name]?.revealString() }
        set { extras[name] = newValue.map { Secret($0) } }
    }

    /// By how many seconds the server's clock was ahead of this machine's, by its own word in the answer that brought the tokens.
    package var serverIsAhead: Double? {
        get { self["server_ahead"].flatMap(Double.init) }
        set { self["server_ahead"] = newValue.map { "\($0)" } }
    }

    /// What a renewal did not bring anew goes on as it was.
    mutating func carryOver(from old: Tokens) {
        if refresh == nil {
            refresh = old.refresh
            refreshExpires = refreshExpires ?? old.refreshExpires
        }
        identity = identity ?? old.identity
        extras.merge(old.extras) { new, _ in new }
    }

    /// Whether there is anything to get new tokens with, be it beyond its end by the clock here.
    var haveRenewal: Bool { signsInAgain || refresh != nil }

    /// Whether new tokens can be had without the user.
    public func canBeRenewed(at now: UnixTime) -> Bool {
        if signsInAgain { return true }
        guard refresh != nil else { return false }
        return refreshExpires.map { now < $0 } ?? true
    }

    /// How long before the end tokens are renewed: a minute, or a tenth of a short life.
    static let usualMargin = 60.0

    /// How far a clock is set back before that is more than the usual correction, in seconds.
    static let usualCorrection = 60.0

    /// Whether the access token is so near its end that it should be renewed first; or came later than now, so that the clock has been
    /// set back and the end is not known.
    public func shouldBeRenewed(at now: UnixTime) -> Bool {
        guard let expires else { return false }
        // What came as it ended came from elsewhere: the moment is not known.
        if received < expires, now.seconds < received.seconds - Self.usualCorrection { return true }
        return now.seconds >= expires.seconds - (renewalMargin ?? min(Self.usualMargin, (lifetime ?? 0) / 10))
    }

    /// How many seconds the access token is good in all; nil if nobody said.
    var lifetime: Double? { expires.map { max(0, $0.seconds - received.seconds) } }

    /// Whether the access token is beyond its end.
    public func haveExpired(at now: UnixTime) -> Bool { expires.map { now >= $0 } ?? false }
}

/// What kind of proof a session holds (`authType` in other clients' words).
public struct CredentialKind: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An access token of OAuth's kind, whichever header it goes in.
    public static let oauth = CredentialKind(rawValue: "oauth")
    /// User name and password with each request (RFC 7617). The user name is the extra `user`.
    public static let basic = CredentialKind(rawValue: "basic")
    /// A web session's cookies. What goes with them is in the extras.
    public static let cookie = CredentialKind(rawValue: "cookie")
}
