// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainOAuth
import Synchronization

/// Decides which of the redirects that arrive, from wherever, is the answer. The first that belongs to the attempt is; all others
/// are strays, before it and after it.
final class RedirectMatcher: Sendable {
    enum Verdict: Sendable, Equatable {
        case answer(AuthorizationResponse)
        /// Not for us, and why; the wait goes on.
        case stray(OAuth2FormatError)
        /// The answer had come before.
        case late
    }

    private let addresses: [RedirectURI]
    private let state: State?
    private let issuer: String?
    private let requiresIssuer: Bool
    private let mayLackState: Bool
    private let answersWithoutParameters: Bool
    /// Whether the answer comes behind a `#`, which browsers keep to themselves.
    let expectsFragment: Bool
    private let accepted = Mutex<AuthorizationResponse?>(nil)

    init(_ attempt: AuthorizationAttempt, at target: RedirectTarget) {
        addresses = [target.redirectURI] + target.aliases
        state = attempt.request.state
        issuer = attempt.issuer
        requiresIssuer = attempt.requiresIssuer
        mayLackState = target.mayLackState
        answersWithoutParameters = attempt.answersWithoutParameters
        expectsFragment = attempt.request.responseType != .code
    }

    var answer: AuthorizationResponse? { accepted.withLock { $0 } }

    /// An address that a browser was sent to.
    func consider(url: String) -> Verdict {
        consider { () throws(OAuth2FormatError) in
            guard let address = addresses.first(where: { $0.answer(in: url) != nil }) else {
                throw OAuth2FormatError(.mismatch, "the address is not the one that the sign-in page leads to")
            }
            return try response(at: address.answer(in: url)) { () throws(OAuth2FormatError) in
                try AuthorizationResponse(url: url, to: address)
            }
        }
    }

    /// What stood behind the `?` of the right address.
    func consider(query: [UInt8]) -> Verdict {
        consider { () throws(OAuth2FormatError) in
            try response(at: (Substring(String(decoding: query, as: UTF8.self)), "")) {
                () throws(OAuth2FormatError) in
                try AuthorizationResponse(query: query)
            }
        }
    }

    /// Some servers, SPiD for one, send a person who gives up back with the state and nothing else. Whether it is ours is checked as
    /// for any answer.
    private func response(
        at answer: (query: Substring, fragment: Substring)?,
        _ read: () throws(OAuth2FormatError) -> AuthorizationResponse
    ) throws(OAuth2FormatError) -> AuthorizationResponse {
        do throws(OAuth2FormatError) {
            return try read()
        } catch {
            guard answersWithoutParameters, error.code == .missing, let answer, answer.fragment.isEmpty,
                let parameters = try? ParameterList(parsing: answer.query.utf8), parameters.names == ["state"],
                let state = parameters["state"].flatMap(State.init)
            else { throw error }
            return AuthorizationResponse(.refused(OAuthError(.abandoned)), state: state)
        }
    }

    private func consider(_ read: () throws(OAuth2FormatError) -> AuthorizationResponse) -> Verdict {
        let response: AuthorizationResponse
        do throws(OAuth2FormatError) {
            response = try read()
            if let state {
                try response.check(
                    state: state, issuer: issuer, requiresIssuer: requiresIssuer, mayLackState: mayLackState)
            }
        } catch {
            return .stray(error)
        }
        return accepted.withLock { accepted in
            guard accepted == nil else { return .late }
            accepted = response
            return .answer(response)
        }
    }
}

/// Something that brings redirects to the desk.
protocol RedirectSource: Sendable {
    /// Returns once the desk has its answer, when nothing more can come, or when the task is cancelled.
    func serve(_ desk: RedirectMatcher) async throws(AccountError)
}
