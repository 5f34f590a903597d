import HTTPCore
import Vocabulary

/// One system that signs people in. It speaks that system's protocol and keeps nothing: what it answers is kept by
/// ``AccountSession``, which also decides when to renew.
public protocol IdentityProvider: Sendable {
    /// The provider's name in stored sessions, such as `rainmaker`.
    var name: String { get }

    /// Where the services are that the tokens are for. They are sent nowhere else.
    var resources: [ServiceURL] { get }

    /// - Throws: ``AccountError/Code-swift.struct/invalidCredentials`` and its neighbours for a refusal that the user can mend,
    ///   `secondStepRequired` if a one-time code is wanted too, `invalidConfiguration` for a way the provider does not have.
    func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens

    /// New tokens for old ones. What the provider does not send anew is carried over.
    func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens

    func profile(_ tokens: Tokens) async throws(AccountError) -> Profile

    /// Whom the tokens themselves name, for when the profile cannot be had; nil if they do not.
    func profile(claimedBy tokens: Tokens) -> Profile?

    /// Ends the session at the provider, or all of the user's sessions.
    func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError)

    /// Puts the proof of identity on a request, where and how this provider wants it.
    func authorize(_ request: inout HTTPRequest, with tokens: Tokens)
}

/// How a person proves to be the user. A provider throws `invalidConfiguration` for a way that it does not have.
public enum SignInCredentials: Sendable {
    case password(user: String, password: Secret)
    /// The answer to a ``SignInChallenge``: the code that the user was sent.
    case oneTimeCode(SignInChallenge, code: Secret)
    /// What a browser brought back from the provider's sign-in page (RFC 6749, section 4.1.3).
    /// `nonce` is what the authorization request named, for the id token to repeat.
    case authorizationCode(Secret, redirectURI: String, codeVerifier: Secret?, nonce: String? = nil)
    /// A new account without a name, good for a while.
    case guest
}

/// A sign-in that waits for a one-time code: the server has sent one to the user, and wants it with this `session`.
public struct SignInChallenge: Sendable, Equatable {
    public var userName: String
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
