// SPDX-License-Identifier: Apache-2.0

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
