// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainCore

/// The tokens that a provider issues for a sign-in. To the client they are opaque, except for their expiry.
public struct Tokens: Sendable, Equatable {
    /// The kind of proof that each request carries.
    public var kind: CredentialKind
    /// The proof for each request: an access token, a password, the `Cookie` header's value.
    public var access: Secret
    /// The proof that gets new tokens: a refresh token, or the password for another sign-in. Nil if the provider gives none. Then the
    /// session ends with the access token, unless it ``signsInAgain``.
    public var refresh: Secret?
    /// When `refresh` expires, by this machine's clock; nil if unknown.
    public var refreshExpires: UnixTime?
    /// Whether the provider can get new tokens with its own data, usually the client's credentials.
    public var signsInAgain = false
    /// Names the signed-in user (OpenID Connect's ID token).
    public var identity: Secret?
    /// When `access` arrived, by this machine's clock.
    public var received: UnixTime
    /// When `access` expires, by this machine's clock; nil if unknown.
    public var expires: UnixTime?
    /// How many seconds before the expiry tokens are renewed; nil for the default.
    public var renewalMargin: Double?
    /// Other values that the provider stores with them, by name: their owner (`principalID`), a user name, a CSRF token.
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

    /// Creates tokens from a JSON Web Token. Its stated lifetime is counted from its arrival, so that a wrong local clock does not matter.
    /// Without `iat` only the stated expiry is known.
    public init(jsonWebToken access: Secret, refresh: Secret?, identity: Secret?, received: UnixTime) {
        self.init(access: access, refresh: refresh, identity: identity, received: received)
        guard let claims = JSONWebToken.claims(of: access), let end = claims["exp"]?.double else { return }
        if let issued = claims["iat"]?.double, end > issued {
            expires = received + (end - issued)
        } else {
            expires = UnixTime(seconds: end)
        }
    }

    /// Corrects the expiry of a token that states its expiry but not its time of issue, if the server's clock is this far ahead.
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

    /// How many seconds the server's clock was ahead of this machine's, from the answer with the tokens.
    package var serverIsAhead: Double? {
        get { self["server_ahead"].flatMap(Double.init) }
        set { self["server_ahead"] = newValue.map { "\($0)" } }
    }

    /// Keeps the old values that a renewal did not return.
    mutating func carryOver(from old: Tokens) {
        if refresh == nil {
            refresh = old.refresh
            refreshExpires = refreshExpires ?? old.refreshExpires
        }
        identity = identity ?? old.identity
        extras.merge(old.extras) { new, _ in new }
    }

    /// Whether there is a way to get new tokens, even if it has expired by the local clock.
    var haveRenewal: Bool { signsInAgain || refresh != nil }

    /// Returns whether the session can get new tokens without the user.
    public func canBeRenewed(at now: UnixTime) -> Bool {
        if signsInAgain { return true }
        guard refresh != nil else { return false }
        return refreshExpires.map { now < $0 } ?? true
    }

    /// How many seconds before the expiry tokens are renewed. For a short lifetime it is a tenth of it.
    private static let usualMargin = 60.0

    /// How far a clock may be set back as a usual correction, in seconds.
    private static let usualCorrection = 60.0

    /// Returns whether the access token should be renewed first, because it expires soon. Also true if it arrived later than now: the clock
    /// has been set back, so the expiry is unknown.
    public func shouldBeRenewed(at now: UnixTime) -> Bool {
        guard let expires else { return false }
        // A token that arrived as it expired comes from another program, so the moment of its arrival is unknown.
        if received < expires, now.seconds < received.seconds - Self.usualCorrection { return true }
        return now.seconds >= expires.seconds - (renewalMargin ?? min(Self.usualMargin, (lifetime ?? 0) / 10))
    }

    /// The lifetime of the access token in seconds; nil if unknown.
    var lifetime: Double? { expires.map { max(0, $0.seconds - received.seconds) } }

    /// Returns whether the access token has expired.
    public func haveExpired(at now: UnixTime) -> Bool { expires.map { now >= $0 } ?? false }
}

/// The kind of proof that a session holds (`authType` in other clients).
public struct CredentialKind: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An OAuth access token, in whichever header it is sent.
    public static let oauth = CredentialKind(rawValue: "oauth")
    /// User name and password with each request (RFC 7617). The user name is the extra `user`.
    public static let basic = CredentialKind(rawValue: "basic")
    /// A web session's cookies. Other values for the requests are in the extras.
    public static let cookie = CredentialKind(rawValue: "cookie")
}
