// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

/// One system that signs people in. It speaks that system's protocol and keeps nothing: what it answers is kept by
/// ``AccountSession``, which also decides when to renew.
public protocol IdentityProvider: Sendable {
    /// The provider's name in stored sessions, such as `rainmaker`.
    var name: String { get }

    /// What its owners call it, for messages: `Schibsted SPiD`. The ``name`` if nothing else is known.
    var title: String { get }

    /// Where the services are that the tokens are for. They are sent nowhere else.
    var resources: [ServiceURL] { get }

    /// Which of its settings its sessions are bound to, such as `base` and `companyId`: a stored session that was made with others
    /// is not used (`wrongContext`), so that no token goes to another address. A session that was stored without one of them is bound to
    /// the value with which it is first used.
    var context: [String: String] { get }

    /// Its own names for the ways to sign in that give an access token, where it has others too. Empty by default.
    var modesWithToken: [String] { get }

    /// - Throws: ``AccountError/Code-swift.struct/invalidCredentials`` and its neighbours for a refusal that the user can mend,
    ///   `secondStepRequired` if a one-time code is wanted too, `invalidConfiguration` for a way the provider does not have.
    func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens

    /// Whether such tokens can be renewed with what this provider was given: some servers renew for clients with a secret only.
    func canRenew(_ tokens: Tokens) -> Bool

    /// New tokens for old ones. What the provider does not send anew is carried over.
    func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens

    /// Asks the service who the tokens' user is. It renews nothing: the session does, and asks again.
    /// - Throws: `expired`, or any error with status 401, for an access token that is no longer accepted.
    func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo

    /// The user whom the tokens themselves name, for when the service cannot be asked; nil if they name nobody.
    func user(claimedBy tokens: Tokens) -> UserInfo?

    /// Ends the session at the provider, or all of the user's sessions.
    /// - Returns: what the provider has no way to end; ``SignOutReport/complete`` if there is nothing.
    @discardableResult
    func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport

    /// Puts the proof of identity on a request, where and how this provider wants it.
    func authorize(_ request: inout HTTPRequest, with tokens: Tokens)
}

extension IdentityProvider {
    public var title: String { name }
    public var context: [String: String] { [:] }
    public var modesWithToken: [String] { [] }
    public func user(claimedBy tokens: Tokens) -> UserInfo? { nil }
    public func canRenew(_ tokens: Tokens) -> Bool { true }

    /// What a provider throws for a way in that it does not have.
    public func unsupported(_ credentials: SignInCredentials) -> AccountError {
        AccountError(.unsupported, message: "\(title) has no sign-in by \(credentials.way)")
    }
}

/// How a person, or a program, proves to be the user. A provider throws `unsupported` for a way that it does not have.
public enum SignInCredentials: Sendable {
    /// User name and password, which pass through this program.
    case password(user: String, password: Secret)
    /// The answer to a ``SignInChallenge``: the code that the user was sent.
    case oneTimeCode(SignInChallenge, code: Secret)
    /// What a browser brought back from the provider's sign-in page (RFC 6749, section 4.1.3).
    /// `nonce` is what the authorization request named, for the id token to repeat.
    case authorizationCode(Secret, redirectURI: String, codeVerifier: Secret?, nonce: String? = nil)
    /// A new account without a name, good for a while.
    case guest
    /// Tokens that were given already: in a redirect's fragment (RFC 6749, section 4.2.2) or at the end of a device grant (RFC 8628).
    /// `nonce` is what the authorization request named, for an id token to repeat; `isDirect` is whether they came from the token
    /// endpoint and not through a browser, where an id token proves nothing without its signature.
    case tokens(TokenResponse, nonce: String? = nil, isDirect: Bool = false)
    /// Nobody's but the program's own: its client id and secret are all (RFC 6749, section 4.4).
    case clientCredentials
    /// Somebody else's word for the user, in the form that the token endpoint takes (RFC 7523, section 2.1).
    case assertion(Secret)
    /// Another provider's token, out of which this provider's extension makes an assertion.
    case thirdParty(ThirdPartyToken)

    /// What people call the way.
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

/// What another provider gave the user, such as Facebook.
public struct ThirdPartyToken: Sendable, Equatable {
    /// Whose it is, as the provider that takes it says: `facebook`, `googleplus`.
    public var provider: String
    /// The other provider's access token.
    public var token: Secret
    /// When it ends, where that is known.
    public var expires: UnixTime?
    /// Which application it was given to.
    public var applicationID: String

    public init(provider: String, token: Secret, expires: UnixTime?, applicationID: String) {
        self.provider = provider
        self.token = token
        self.expires = expires
        self.applicationID = applicationID
    }
}

/// A sign-in that waits for a one-time code: the server has sent one to the user, and wants it with this `session`.
public struct SignInChallenge: Sendable, Equatable {
    /// Whom the code was sent to, by the name that the server wants with it.
    public var userName: String
    /// What the server sent to recognise this sign-in by. It goes back with the code; once it has ended the answer is `challengeExpired`.
    public var session: Secret

    public init(userName: String, session: Secret) {
        self.userName = userName
        self.session = session
    }
}

/// Why tokens could not be renewed.
public enum RenewalError: Error, Sendable {
    /// The provider answered, and its answer is that this session is over.
    case refused(AccountError)
    /// Anything else, a network fault above all: the session may well be alive, so it is kept.
    case unavailable(AccountError)
}

/// Whom the service knows the signed-in user to be.
public struct UserInfo: Sendable, Equatable {
    /// What boards are told to map themselves to.
    public var userID: UserID
    /// What the user signs in with: an e-mail address or a telephone number.
    public var userName: String
    /// The name for people; like all below, nil where the provider does not say.
    public var name: String?
    /// The e-mail address. It may be unconfirmed.
    public var email: String?
    /// The telephone number, from RainMaker with `+` and country code. It may be unconfirmed.
    public var phoneNumber: String?
    /// The language in which the provider writes to the user, such as `en-us`.
    public var locale: String?
    /// Whether signing in takes a one-time code after the password.
    public var usesSecondFactor: Bool?
    /// Everything that the provider says about the user, in its own words and order. It is stored with the session, to be read offline.
    public var attributes: [JSONValue.Member] = []

    public init(userID: UserID, userName: String) {
        self.userID = userID
        self.userName = userName
    }
}
