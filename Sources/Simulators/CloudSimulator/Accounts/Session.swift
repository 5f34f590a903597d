// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// The session of one sign-in. It ends by a sign-out everywhere, or when its refresh token is revoked or expires.
struct Session: Codable, Sendable, Equatable {
    var id: String
    var userID: String
    /// The OAuth client of the session.
    var clientID = TokenIssuer.clientID
    /// The granted scope, if the client asked for one.
    var scope: String?
    /// When the user gave the password, in milliseconds since 1970.
    var startedAt: Int64
    /// Nil once revoked: then no token is refreshed any more.
    var refreshToken: RefreshToken?
    /// Only access tokens of this generation are valid. Expiring all of them begins the next generation.
    var generation: Int64 = 0
    /// Access tokens that were signed out before they expired: their `jti` and expiry (seconds since 1970).
    var endedAccess: [String: Int64] = [:]

    mutating func end(access tokenID: String, expiresAt: Int64, now: Int64) {
        endedAccess = endedAccess.filter { $0.value > now / 1000 }
        endedAccess[tokenID] = expiresAt
    }
}

extension CloudAPI {
    struct Begun {
        var tokens: TokenIssuer.Tokens
        var refreshToken: String
    }

    /// Begins a session for a user who has just been authenticated.
    func beginSession(
        for user: User, id: String = makeUUID(), clientID: String = TokenIssuer.clientID, scope: String? = nil,
        nonce: String? = nil
    ) throws(APIError) -> Begun {
        let now = now
        var session = Session(id: id, userID: user.id, startedAt: now)
        session.clientID = clientID
        session.scope = scope
        let refresh = RefreshToken.issue(session: id, expiresAt: now + options.refreshLifetime.milliseconds)
        session.refreshToken = refresh.token
        let begun = session
        let tokens = try issue(user, begun, nonce: nonce)
        try change { $0.begin(begun) }
        return Begun(tokens: tokens, refreshToken: refresh.text)
    }

    /// Returns new tokens for a refresh token. A token that was replaced long ago ends its session: either it was stolen, or its
    /// replacement was.
    ///
    /// - Parameter clientID: the client that presents it, which must be the session's own; nil for `login2`, which knows no clients.
    func renew(
        _ text: String, clientID: String? = nil
    ) throws(APIError) -> (tokens: TokenIssuer.Tokens, refreshToken: String?) {
        let now = now
        let rotation = options.rotation
        let (verdict, session, user) = try change { state -> (RefreshToken.Verdict, Session?, User?) in
            guard let id = RefreshToken.session(of: text), var session = state.sessions[id],
                var token = session.refreshToken, clientID == nil || clientID == session.clientID
            else { return (.unknown, nil, nil) }
            let verdict = token.redeem(text, at: now, rotation: rotation)
            session.refreshToken = token
            state.sessions[id] = verdict == .reused ? nil : session
            return (verdict, session, state.users[session.userID])
        }
        journal.refresh(user: user?.userName, outcome: verdict.outcome)
        switch verdict {
        case .accepted, .rotated, .grace: break
        case .reused, .unknown, .expired: throw .refreshFailed
        }
        guard let session, let user else { throw .refreshFailed }
        return (try issue(user, session), verdict.replacement)
    }

    private func issue(
        _ user: User, _ session: Session, nonce: String? = nil
    ) throws(APIError) -> TokenIssuer.Tokens {
        do throws(SimulatorError) {
            return try issuer.issue(for: user, in: session, nonce: nonce, at: now)
        } catch {
            throw APIError(error)
        }
    }

    /// Does the same as ``changeState(_:)``, with the API's own error.
    func change<Result: Sendable>(_ body: (inout CloudState) -> Result) throws(APIError) -> Result {
        do throws(SimulatorError) {
            return try changeState(body)
        } catch {
            throw APIError(error)
        }
    }
}

/// Makes the tokens of a sign-in or a refresh, and checks access tokens.
struct TokenIssuer: Sendable {
    let signer: JSONWebTokenSigner
    /// The lifetime of an access token and an id token.
    let lifetime: Duration
    let issuer: String

    /// The OAuth client id of the phone apps, which is the token's audience.
    static let clientID = "1h7ujqjs8140n17v0ahb4n51m2"

    struct Tokens {
        var id: String
        var access: String
    }

    struct Access {
        var userID: String
        var sessionID: String
        var tokenID: String
        var generation: Int64
        /// Seconds since 1970.
        var expiresAt: Int64
    }

    /// - Parameter nonce: the client's nonce, which the id token repeats (OpenID Connect Core, 2).
    func issue(
        for user: User, in session: Session, nonce: String? = nil, at now: Int64
    ) throws(SimulatorError) -> Tokens {
        let seconds = now / 1000
        let expires = seconds + lifetime.components.seconds
        let common: [JSONValue.Member] = [
            .init("sub", .string(user.id)), .init("iss", .string(issuer)), .init("origin_jti", .string(session.id)),
            .init("auth_time", .integer(session.startedAt / 1000)), .init("iat", .integer(seconds)),
            .init("exp", .integer(expires)), .init("jti", .string(makeUUID())), .init("event_id", .string(makeUUID())),
        ]
        let contact: [JSONValue.Member] =
            user.userName.hasPrefix("+")
            ? [.init("phone_number", .string(user.userName))]
            : [.init("email", .string(user.userName)), .init("email_verified", true)]
        let id =
            common + contact + [
                .init("token_use", "id"), .init("aud", .string(session.clientID)),
                .init("cognito:username", .string(user.id)), .init("custom:user_id", .string(user.id)),
            ] + (nonce.map { [.init("nonce", .string($0))] } ?? [])
        let access =
            common + [
                .init("token_use", "access"), .init("client_id", .string(session.clientID)),
                .init("username", .string(user.id)),
                .init("scope", .string(session.scope ?? "aws.cognito.signin.user.admin")),
                .init("generation", .integer(session.generation)),
            ]
        return Tokens(id: try signer.sign(.object(id)), access: try signer.sign(.object(access)))
    }

    /// Returns the claims of an access token that was issued here and has not expired; nil for an id token.
    func access(_ token: String, at now: Int64) -> Access? {
        guard let claims = signer.verify(token), claims["token_use"]?.string == "access",
            let user = claims["sub"]?.string, let session = claims["origin_jti"]?.string,
            let identifier = claims["jti"]?.string, let expires = claims["exp"]?.integer, now / 1000 < expires,
            let generation = claims["generation"]?.integer
        else { return nil }
        return Access(
            userID: user, sessionID: session, tokenID: identifier, generation: generation, expiresAt: expires)
    }
}

/// The cloud's record of a session's refresh token: which tokens are accepted, and until when.
///
/// Only hashes are kept. Only this type decides whether a presented token is valid. With rotation each token is replaced when it is used
/// (RFC 9700, 4.14.2). If an old token is used again, it was stolen, or its replacement was lost. Within the grace period it gets another
/// replacement, in addition to the first one. After that the caller must end the session.
struct RefreshToken: Codable, Sendable, Equatable {
    enum Verdict: Equatable {
        /// Accepted, and not replaced.
        case accepted
        /// Accepted, and replaced by this token.
        case rotated(String)
        /// Replaced a short while ago, and replaced again by this token.
        case grace(String)
        /// Replaced too long ago.
        case reused
        /// Never issued here.
        case unknown
        case expired

        /// The token that the client must keep from now on.
        var replacement: String? {
            switch self {
            case .rotated(let text), .grace(let text): text
            case .accepted, .reused, .unknown, .expired: nil
            }
        }

        /// The outcome in the journal.
        fileprivate var outcome: String {
            switch self {
            case .accepted: "accepted"
            case .rotated: "rotated"
            case .grace: "grace"
            case .reused: "reused"
            case .unknown: "unknown"
            case .expired: "expired"
            }
        }
    }

    struct Rotation {
        /// How long a replaced token still works, in milliseconds.
        var grace: Int64
    }

    private struct Replaced: Codable, Equatable {
        var hash: [UInt8]
        var at: Int64
    }

    /// The maximum number of replaced tokens that are remembered for a session, and of valid tokens at once.
    static let remembered = 16

    private var live: [[UInt8]]
    private var replaced: [Replaced] = []
    private var expiresAt: Int64

    /// Issues the session's first token: the text for the client, and its record. Times are in milliseconds.
    static func issue(session: String, expiresAt: Int64) -> (text: String, token: RefreshToken) {
        let text = makeText(session: session)
        return (text, RefreshToken(live: [hash(text)], expiresAt: expiresAt))
    }

    /// Returns the session that the token names.
    static func session(of text: String) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// Whether the token works now. Does not use it.
    func accepts(_ text: String, at now: Int64) -> Bool {
        let presented = Self.hash(text)
        return now < expiresAt && live.contains { equalInConstantTime($0, presented) }
    }

    /// - Parameter rotation: nil if tokens are not replaced.
    mutating func redeem(_ text: String, at now: Int64, rotation: Rotation?) -> Verdict {
        let presented = Self.hash(text)
        if let old = replaced.first(where: { equalInConstantTime($0.hash, presented) }) {
            guard let rotation, now < old.at + rotation.grace, now < expiresAt, let next = add(to: text) else {
                return .reused
            }
            return .grace(next)
        }
        guard live.contains(where: { equalInConstantTime($0, presented) }) else { return .unknown }
        guard now < expiresAt else { return .expired }
        guard rotation != nil, let next = add(to: text) else { return .accepted }
        live.removeAll { equalInConstantTime($0, presented) }
        replaced = (replaced + [Replaced(hash: presented, at: now)]).suffix(Self.remembered)
        return .rotated(next)
    }

    /// Adds a valid token to the session of `text`.
    private mutating func add(to text: String) -> String? {
        guard let session = Self.session(of: text) else { return nil }
        let next = Self.makeText(session: session)
        live = (live + [Self.hash(next)]).suffix(Self.remembered)
        return next
    }

    private init(live: [[UInt8]], expiresAt: Int64) {
        self.live = live
        self.expiresAt = expiresAt
    }

    private static func makeText(session: String) -> String {
        var random = OpenSSLRandom()
        return session + "." + Base64.urlText(random.bytes(48))
    }

    private static func hash(_ text: String) -> [UInt8] { OpenSSLHashes.sha256(Array(text.utf8)) }
}
