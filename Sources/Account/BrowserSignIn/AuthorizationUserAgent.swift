// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainIO

/// Shows the user a provider's sign-in page in their own browser, and returns the page's answer.
///
/// It never shows the page itself: only the browser that the user trusts may see their password (RFC 8252, section 8.12). Agents differ in
/// how they receive the answer: ``LoopbackUserAgent``, ``RelayUserAgent``, ``PasteUserAgent``, ``CustomSchemeUserAgent``.
public protocol AuthorizationUserAgent: Sendable {
    /// Prepares to receive an answer, shows the page for `attempt`, and waits for the first answer that belongs to it. Other answers, such
    /// as one with another state, get an error page and are otherwise ignored.
    ///
    /// All resources are closed when this returns, at once if the calling task is cancelled.
    /// - Parameter attempt: makes the request for the redirect URI.
    /// - Throws: ``AccountError/Code-swift.struct/noAnswer`` after the agent's time limit, `cannotListen` if no answer can be received,
    ///   `cancelled`, or the errors of `attempt`.
    /// - Returns: a code or a refusal, whose state and issuer were checked.
    func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse
}

/// The address at which an agent receives the answer to one attempt.
public struct RedirectTarget: Sendable, Equatable {
    /// The form of the request's `state` parameter (RFC 6749, section 4.1.1).
    public enum StateForm: Sendable, Equatable {
        /// A random state.
        case random
        /// `port:N`: a relay page redirects the browser to that port of this machine. In the extended form, `:` and a random part follow.
        /// Not every page accepts that.
        case relay(port: UInt16, isExtended: Bool)
    }

    /// The `redirect_uri` of the request (RFC 6749, section 4.1.1).
    public var redirectURI: RedirectURI
    /// Other addresses at which the browser may arrive, so that they are recognized when they are pasted.
    public var aliases: [RedirectURI] = []
    /// The form of the state. It is random, except for a relay page, which needs the port in it.
    public var stateForm = StateForm.random

    public init(redirectURI: RedirectURI, aliases: [RedirectURI] = [], stateForm: StateForm = .random) {
        self.redirectURI = redirectURI
        self.aliases = aliases
        self.stateForm = stateForm
    }

    /// Returns the state to send; `fresh` is a random one.
    public func state(_ fresh: State) -> State {
        switch stateForm {
        case .random: fresh
        case .relay(let port, isExtended: false): State("port:\(port)") ?? fresh
        case .relay(let port, isExtended: true): State("port:\(port):\(fresh.secret.revealString())") ?? fresh
        }
    }

    /// Whether an answer without a state is accepted. Relay pages may drop the state, and a state without a random part protects nothing.
    var mayLackState: Bool {
        if case .relay(_, isExtended: false) = stateForm { true } else { false }
    }
}

/// A sign-in that waits for its answer.
public struct AuthorizationAttempt: Sendable {
    /// The page's address with all its parameters (RFC 6749, section 4.1.1). An answer must repeat its state.
    public var request: AuthorizationRequest
    /// The server's `iss`, if it is known (RFC 9207).
    public var issuer: String?
    /// Whether a redirect with only the state is an answer, meaning that the user gave up.
    public var answersWithoutParameters = false
    /// Whether an answer must name its issuer (RFC 9207). If so, an answer without a name is ignored.
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
                .invalidConfiguration, message: "the address of the sign-in page cannot be built: \(error.message)")
        }
    }
}

/// Shows the user the sign-in page: opens a browser, prints the address, or both. It is not an error if no browser opens, because the user
/// can open the address.
///
/// The agent waits for the answer meanwhile. After the wait the task is cancelled, and must then return.
public typealias ShowSignInPage = @Sendable (_ url: String) async -> Void

/// The steps that all agents share when they are ready to receive: make the request, show the page, wait for the redirect.
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
        // The browser may be back before `show` returns, so waiting begins now.
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
            message: "\"\(ShownText.withoutUserInfo(text))\" cannot be a redirect URI: \(error.message)")
    }
}

/// Waits until one of the sources has the redirect that `matcher` accepts, at most for `limit`. All sources have ended when this returns.
private func firstMatchingRedirect(
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
                return .failure(failure ?? AccountError(.noAnswer, message: "the sign-in page gave no answer"))
            case .deadline:
                return .failure(
                    AccountError(
                        .noAnswer,
                        message:
                            "nobody has finished the sign-in in the browser within \(limit.components.seconds) seconds; try again"
                    ))
            case .interrupted:
                return .failure(cancelled)
            }
        }
        return .failure(cancelled)
    }
    return try outcome.get()
}

private let cancelled = AccountError(.cancelled, message: "cancelled while waiting for the sign-in page")

/// Runs blocking work on its own thread. When the calling task is cancelled, `interrupt` becomes readable. The work must poll it too, and
/// end then.
func onListeningThread<Result: Sendable>(
    _ work: @escaping @Sendable (_ interrupt: Int32) -> Result
) async throws(AccountError) -> Result {
    do throws(ThreadError) {
        return try await onInterruptibleThread { work($0.reader) }
    } catch {
        switch error {
        case .noPipe(let code):
            throw AccountError(
                .cannotListen, message: "the system cannot create a pipe: \(systemErrorText(code))")
        case .noThread: throw AccountError(.cannotListen, message: "the system cannot start a thread")
        }
    }
}
