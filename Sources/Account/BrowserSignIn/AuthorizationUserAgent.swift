// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Takes a person to a provider's sign-in page, in a browser of their own, and brings back what the page answered.
///
/// It never shows the page itself: only the browser that the person trusts may see their password (RFC 8252, section 8.12).
/// Agents differ in how the answer comes back: ``LoopbackUserAgent``, ``RelayUserAgent``, ``PasteUserAgent``,
/// ``CustomSchemeUserAgent``.
public protocol AuthorizationUserAgent: Sendable {
    /// Gets ready for an answer, shows the page that `attempt` asks for, and waits for the first answer that belongs to it.
    /// Other answers, such as one with another state, get a page that says so and are otherwise ignored.
    ///
    /// Whatever was opened is closed again when this returns, at once if the calling task is cancelled.
    /// - Parameter attempt: makes the request, now that the redirect URI is known.
    /// - Throws: ``AccountError/Code-swift.struct/noAnswer`` when the agent's time is over, `cannotListen` if no answer could be
    ///   received, `cancelled`, or what `attempt` throws.
    /// - Returns: a code or a refusal, whose state and issuer were checked.
    func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse
}

/// Where an agent can be reached this time.
public struct RedirectTarget: Sendable, Equatable {
    /// What the `state` parameter of the request looks like (RFC 6749, section 4.1.1).
    public enum StateForm: Sendable, Equatable {
        /// Random, and nothing else.
        case random
        /// `port:N`: a relay page redirects the browser to that port of this machine. Extended, `:` and a random part follow; not every
        /// page accepts that.
        case relay(port: UInt16, isExtended: Bool)
    }

    /// The `redirect_uri` of the request (RFC 6749, section 4.1.1).
    public var redirectURI: RedirectURI
    /// Other addresses that the browser may end on, so that an address pasted from there is recognised.
    public var aliases: [RedirectURI] = []
    /// Random for every redirect but that of a relay page, which needs the port in it.
    public var stateForm = StateForm.random

    public init(redirectURI: RedirectURI, aliases: [RedirectURI] = [], stateForm: StateForm = .random) {
        self.redirectURI = redirectURI
        self.aliases = aliases
        self.stateForm = stateForm
    }

    /// The state to send, `fresh` being random.
    public func state(_ fresh: State) -> State {
        switch stateForm {
        case .random: fresh
        case .relay(let port, isExtended: false): State("port:\(port)") ?? fresh
        case .relay(let port, isExtended: true): State("port:\(port):\(fresh.secret.revealString())") ?? fresh
        }
    }

    /// Relay pages may drop the state. A state without a random part protects nothing, so an answer without it is accepted.
    var mayLackState: Bool {
        if case .relay(_, isExtended: false) = stateForm { true } else { false }
    }
}

/// One sign-in that waits for its answer.
public struct AuthorizationAttempt: Sendable {
    /// The page's address with all its parameters (RFC 6749, section 4.1.1). An answer must bring its state back.
    public var request: AuthorizationRequest
    /// The server's `iss`, if it is known (RFC 9207).
    public var issuer: String?
    /// Whether a redirect with the state alone is an answer: the person gave up.
    public var answersWithoutParameters = false
    /// Whether an answer must name its issuer (RFC 9207). One that does not is ignored then.
    public var requiresIssuer: Bool

    public init(_ request: AuthorizationRequest, issuer: String? = nil, requiresIssuer: Bool = false) {
        self.request = request
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
    }

    func url() throws(AccountError) -> String {
        do throws(OAuth2FormatError) {
            return try request.url()
        } catch {
            throw AccountError(
                .invalidConfiguration, message: "the sign-in page's address cannot be made: \(error.message)")
        }
    }
}
