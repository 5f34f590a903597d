// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A proxy, or a server in front of a portal, asks for a name and password before it lets a request through (HTTP 401 and 407, RFC 9110,
/// section 11).
public struct AuthenticationChallenge: Sendable, Equatable {
    /// `basic`, in lower case.
    public var scheme: String
    /// What the server calls the place that wants the name and password.
    public var realm: String?
    /// `host` or `host:port`.
    public var host: String
    /// Whether a proxy asks (407), and not the server or what stands in front of it (401).
    public var isProxy: Bool
    /// How often what was answered before was refused.
    public var previousFailureCount: Int

    public init(scheme: String, realm: String?, host: String, isProxy: Bool = false, previousFailureCount: Int = 0) {
        self.scheme = scheme
        self.realm = realm
        self.host = host
        self.isProxy = isProxy
        self.previousFailureCount = previousFailureCount
    }
}

/// What to answer a challenge with.
public enum ChallengeAnswer: Sendable, Equatable {
    /// A name and password, for this session: nothing is stored.
    case useCredential(user: String, password: Secret)
    /// Go on as if nobody had been asked: the refusal stands.
    case performDefaultHandling
    /// Give the sign-in up.
    case cancel
}

/// Answers challenges. It is asked again after each refusal of its answer, with ``AuthenticationChallenge/previousFailureCount`` one
/// higher, and three times at most in one sign-in.
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
    /// Answers one challenge; the sign-in waits for it. A person may be asked: return `cancel` when they give up.
    func resolve(_ challenge: AuthenticationChallenge) async -> ChallengeAnswer
}
