// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO

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

/// Takes a person to the sign-in page: opens a browser, prints the address, or both. A browser that does not open is no error, as the
/// address can be opened by hand.
///
/// The answer is waited for meanwhile. When the wait is over the task is cancelled, and must come back then.
public typealias ShowSignInPage = @Sendable (_ url: String) async -> Void

/// The steps that all agents share once their listener is ready: make the request, show the page, wait for the redirect.
struct SignInPageOpener: Sendable {
    var pasted: (any PastedAddresses)?
    var limit: Duration
    var clock: any Clock<Duration>
    var report: ReportForeignAnswer?
    var show: ShowSignInPage

    func authorize(
        _ attempt: (RedirectTarget) throws(AccountError) -> AuthorizationAttempt, at target: RedirectTarget,
        hearing listener: (any RedirectSource)?
    ) async throws(AccountError) -> AuthorizationResponse {
        let attempt = try attempt(target)
        let url = try attempt.url()
        let matcher = RedirectMatcher(attempt, at: target, report: report)
        var sources: [any RedirectSource] = []
        if let listener { sources.append(listener) }
        if let pasted { sources.append(PasteSource(addresses: pasted)) }
        // The browser may be back before whatever opens it has ended: the answer is waited for from now on.
        async let _: Void = show(url)
        do throws(AccountError) {
            return try await firstMatchingRedirect(for: matcher, from: sources, within: limit, by: clock)
        } catch {
            guard error.code == .noAnswer, let foreign = matcher.foreignAnswer else { throw error }
            throw foreign.failure(after: error)
        }
    }
}

package func redirectURI(_ text: String) throws(AccountError) -> RedirectURI {
    do throws(OAuth2FormatError) {
        return try RedirectURI(text)
    } catch {
        throw AccountError(
            .invalidConfiguration,
            message: "\"\(ShownText.withoutUserInfo(text))\" cannot be redirected to: \(error.message)")
    }
}

/// Waits until one of the sources brings the redirect that `matcher` accepts, for `limit` at most. All sources have ended when this
/// returns.
func firstMatchingRedirect(
    for matcher: RedirectMatcher, from sources: [any RedirectSource], within limit: Duration,
    by clock: any Clock<Duration>
) async throws(AccountError) -> AuthorizationResponse {
    enum End: Sendable { case source(AccountError?), deadline, interrupted }
    let outcome: Result<AuthorizationResponse, AccountError> = await withTaskGroup(of: End.self) { group in
        for source in sources {
            group.addTask {
                do throws(AccountError) {
                    try await source.serve(matcher)
                    return .source(nil)
                } catch {
                    return .source(error)
                }
            }
        }
        group.addTask { (try? await clock.sleep(for: limit)) == nil ? .interrupted : .deadline }
        defer { group.cancelAll() }

        var left = sources.count
        var failure: AccountError?
        while let end = await group.next() {
            if let answer = matcher.answer { return .success(answer) }
            switch end {
            case .source(let error):
                left -= 1
                failure = error ?? failure
                guard left == 0 else { continue }
                if Task.isCancelled { return .failure(cancelled) }
                return .failure(failure ?? AccountError(.noAnswer, message: "no answer of the sign-in page was given"))
            case .deadline:
                return .failure(
                    AccountError(
                        .noAnswer,
                        message:
                            "the sign-in page has not answered after \(limit.components.seconds) seconds; try again"))
            case .interrupted:
                return .failure(cancelled)
            }
        }
        return .failure(cancelled)
    }
    return try outcome.get()
}

private let cancelled = AccountError(.cancelled, message: "cancelled while waiting for the sign-in page")

/// Runs blocking work on a thread of its own. When the calling task is cancelled, `interrupt` becomes readable: the work polls it
/// beside what it waits for, and must end then.
func onListeningThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: Int32) -> Result
) async throws(AccountError) -> Result {
    do throws(ThreadError) {
        return try await onInterruptibleThread { work($0.reader) }
    } catch {
        switch error {
        case .noPipe(let code):
            throw AccountError(
                .cannotListen, message: "the system gives no pipe: \(String(cString: strerror(code)))")
        case .noThread: throw AccountError(.cannotListen, message: "the system starts no thread")
        }
    }
}

/// The last system call's error in words.
func systemWords() -> String { String(cString: strerror(errno)) }
