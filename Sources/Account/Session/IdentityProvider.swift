// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

/// A system that signs people in. An implementation speaks the system's protocol and stores nothing. ``AccountSession`` stores its answers
/// and decides when to renew.
public protocol IdentityProvider: Sendable {
    /// The provider's name in stored sessions, such as `rainmaker`.
    var name: String { get }

    /// The name for messages, as the provider's owners write it: `Schibsted SPiD`. The ``name`` by default.
    var title: String { get }

    /// The services that the tokens are for. Tokens are sent nowhere else.
    var resources: [ServiceURL] { get }

    /// The settings that its sessions are bound to, such as `base` and `companyId`. A stored session with other values is not used
    /// (`wrongContext`), so that no token goes to another address. A stored session without one of these settings is bound to the value
    /// with which it is first used.
    var context: [String: String] { get }

    /// The provider's names for the sign-in modes that give an access token, if it also has others. Empty by default.
    var modesWithToken: [String] { get }

    /// Signs in.
    /// - Throws: ``AccountError/Code-swift.struct/invalidCredentials`` and similar codes for a refusal that the user can fix. Also
    ///   `secondStepRequired` if a one-time code is needed too, and `invalidConfiguration` for a mode that the provider does not have.
    func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens

    /// Returns whether this client can renew such tokens. Some servers renew only for clients with a secret.
    func canRenew(_ tokens: Tokens) -> Bool

    /// Returns new tokens for old ones. Values that the provider does not send again are copied from the old tokens.
    func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens

    /// Asks the service for the tokens' user. It renews nothing: the session does, and asks again.
    /// - Throws: `expired`, or any error with status 401, for an access token that is no longer accepted.
    func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo

    /// Returns the user whom the tokens themselves name, for use while the service is unavailable; nil if they name nobody.
    func user(claimedBy tokens: Tokens) -> UserInfo?

    /// Ends the session at the provider, or all of the user's sessions.
    /// - Returns: the tokens that the provider cannot revoke; ``SignOutReport/complete`` if there are none.
    @discardableResult
    func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport

    /// Adds the proof of identity to a request, in the form that this provider needs.
    func authorize(_ request: inout HTTPRequest, with tokens: Tokens)
}

extension IdentityProvider {
    public var title: String { name }
    public var context: [String: String] { [:] }
    public var modesWithToken: [String] { [] }
    public func user(claimedBy tokens: Tokens) -> UserInfo? { nil }
    public func canRenew(_ tokens: Tokens) -> Bool { true }

    /// Returns the error for a sign-in mode that a provider does not have.
    public func unsupported(_ credentials: SignInCredentials) -> AccountError {
        AccountError(.unsupported, message: "\(title) has no sign-in by \(credentials.way)")
    }
}

/// The credentials of a user or a program. A provider throws `unsupported` for a kind that it does not support.
public enum SignInCredentials: Sendable {
    /// A user name and password, which pass through this program.
    case password(user: String, password: Secret)
    /// The answer to a ``SignInChallenge``: the code that was sent to the user.
    case oneTimeCode(SignInChallenge, code: Secret)
    /// The answer of the provider's sign-in page (RFC 6749, section 4.1.3). `nonce` is the value of the authorization request, which the ID
    /// token must repeat.
    case authorizationCode(Secret, redirectURI: String, codeVerifier: Secret?, nonce: String? = nil)
    /// A new account without a name, valid for some time.
    case guest
    /// Tokens that were issued already: in a redirect's fragment (RFC 6749, section 4.2.2) or at the end of a device grant (RFC 8628).
    /// `nonce` is the value of the authorization request, which an ID token must repeat. `isDirect` is whether they came from the token
    /// endpoint and not through a browser. An ID token that came through a browser proves nothing without its signature.
    case tokens(TokenResponse, nonce: String? = nil, isDirect: Bool = false)
    /// The program's own client id and secret, without a user (RFC 6749, section 4.4).
    case clientCredentials
    /// An assertion about the user by another party, in the form of the token endpoint (RFC 7523, section 2.1).
    case assertion(Secret)
    /// A token of another provider, from which this provider's extension makes an assertion.
    case thirdParty(ThirdPartyToken)

    /// The name of the sign-in mode, for people.
    public var way: String {
        switch self {
        case .password: "password"
        case .oneTimeCode: "one-time code"
        case .authorizationCode: "browser"
        case .guest: "guest"
        case .tokens: "tokens"
        case .clientCredentials: "client credentials"
        case .assertion, .thirdParty: "assertion"
        }
    }
}

/// A token that another provider, such as Facebook, issued to the user.
public struct ThirdPartyToken: Sendable, Equatable {
    /// The name of the other provider, as the accepting provider writes it: `facebook`, `googleplus`.
    public var provider: String
    /// The other provider's access token.
    public var token: Secret
    /// When the token expires, if known.
    public var expires: UnixTime?
    /// The application that the token was issued to.
    public var applicationID: String

    public init(provider: String, token: Secret, expires: UnixTime?, applicationID: String) {
        self.provider = provider
        self.token = token
        self.expires = expires
        self.applicationID = applicationID
    }
}

/// A sign-in that waits for a one-time code. The server has sent a code to the user, and needs it with this `session`.
public struct SignInChallenge: Sendable, Equatable {
    /// The recipient of the code, by the name that the server needs with it.
    public var userName: String
    /// The server's id for this sign-in, which is sent with the code. After it has expired, the answer is `challengeExpired`.
    public var session: Secret

    public init(userName: String, session: Secret) {
        self.userName = userName
        self.session = session
    }
}

/// The reason why tokens could not be renewed.
public enum RenewalError: Error, Sendable {
    /// The provider has ended this session.
    case refused(AccountError)
    /// Any other error, mostly of the network. The session may still be valid, so it is kept.
    case unavailable(AccountError)
}

/// The service's data about the signed-in user.
public struct UserInfo: Sendable, Equatable {
    /// The user id that boards send to map themselves.
    public var userID: UserID
    /// The name with which the user signs in: an e-mail address or a telephone number.
    public var userName: String
    /// The name for people. Like all values below, it is nil if the provider does not give it.
    public var name: String?
    /// The e-mail address. It may be unconfirmed.
    public var email: String?
    /// The telephone number, from RainMaker with `+` and country code. It may be unconfirmed.
    public var phoneNumber: String?
    /// The language in which the provider writes to the user, such as `en-us`.
    public var locale: String?
    /// Whether sign-in needs a one-time code after the password.
    public var usesSecondFactor: Bool?
    /// All data of the provider about the user, under its own names and in its order. It is stored with the session and can be read
    /// offline.
    public var attributes: [JSONValue.Member] = []

    public init(userID: UserID, userName: String) {
        self.userID = userID
        self.userName = userName
    }
}
