// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A request of a proxy, or of a server in front of a portal, for a name and password (HTTP 401 and 407, RFC 9110, section 11).
public struct AuthenticationChallenge: Sendable, Equatable {
    /// `basic`, in lower case.
    public var scheme: String
    /// The server's name for the protected area.
    public var realm: String?
    /// `host` or `host:port`.
    public var host: String
    /// Whether a proxy asks (407), and not the server or a gateway in front of it (401).
    public var isProxy: Bool
    /// The number of refused answers so far.
    public var previousFailureCount: Int

    public init(scheme: String, realm: String?, host: String, isProxy: Bool = false, previousFailureCount: Int = 0) {
        self.scheme = scheme
        self.realm = realm
        self.host = host
        self.isProxy = isProxy
        self.previousFailureCount = previousFailureCount
    }
}

/// The answer to a challenge.
public enum ChallengeAnswer: Sendable, Equatable {
    /// Use a name and password for this session. Nothing is stored.
    case useCredential(user: String, password: Secret)
    /// Continue without an answer: the refusal remains.
    case performDefaultHandling
    /// Give up the sign-in.
    case cancel
}

/// Answers challenges. After each refused answer it is asked again, with ``AuthenticationChallenge/previousFailureCount`` one higher, at
/// most three times in one sign-in.
///
/// ```swift
/// struct Proxy: ChallengeResolver {
///     func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer {
///         guard challenge.previousFailureCount == 0 else { return .performDefaultHandling }
///         return .useCredential(user: "user", password: password)
///     }
/// }
/// ```
public protocol ChallengeResolver: Sendable {
    /// Answers one challenge, while the sign-in waits. It may ask the user: return `cancel` if they give up.
    func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer
}
