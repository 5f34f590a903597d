// SPDX-License-Identifier: Apache-2.0
import RainCore

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
