// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Decides which redirect is the answer of the sign-in page: the first one that belongs to the attempt, from any source.
final class RedirectMatcher: Sendable {
    enum Verdict: Sendable, Equatable {
        case answer(AuthorizationResponse)
        /// This is not the answer to this attempt, for this reason. The sign-in keeps waiting.
        case stray(OAuth2FormatError)
        /// This answers another attempt, or comes from another server. The sign-in keeps waiting.
        case foreign(ForeignAnswer)
        /// Another answer was already accepted.
        case late
    }

    private let addresses: [RedirectURI]
    private let state: State?
    private let issuer: String?
    private let requiresIssuer: Bool
    private let mayLackState: Bool
    private let answersWithoutParameters: Bool
    /// Whether the answer is in the fragment, after a `#`. Browsers do not send fragments to servers.
    let expectsFragment: Bool
    private let accepted = Mutex<AuthorizationResponse?>(nil)
    private let foreign = Mutex(Foreign())
    private let report: ReportForeignAnswer?

    private struct Foreign {
        var last: ForeignAnswer?
        /// The flaws that were already reported. An attacker may send answers without end.
        var toldFlaws: Set<String> = []
    }

    init(_ attempt: AuthorizationAttempt, at target: RedirectTarget, report: ReportForeignAnswer? = nil) {
        self.report = report
        addresses = [target.redirectURI] + target.aliases
        state = attempt.request.state
        issuer = attempt.issuer
        requiresIssuer = attempt.requiresIssuer
        mayLackState = target.mayLackState
        answersWithoutParameters = attempt.answersWithoutParameters
        expectsFragment = attempt.request.responseType != .code
    }

    var answer: AuthorizationResponse? { accepted.withLock { $0 } }
    /// The last answer that was not accepted.
    var foreignAnswer: ForeignAnswer? { foreign.withLock { $0.last } }

    /// Reports an answer that was not accepted, once for each flaw. For sources whose sender is not the waiting user.
    func tell(_ answer: ForeignAnswer) {
        let isNew = foreign.withLock { $0.toldFlaws.insert(answer.flaw.message).inserted }
        if isNew { report?(answer.warning) }
    }

    /// Checks an address that a browser opened.
    func consider(url: String) -> Verdict {
        consider { () throws(OAuth2FormatError) in
            guard let address = addresses.first(where: { $0.answer(in: url) != nil }) else {
                throw OAuth2FormatError(.mismatch, "the address is not the redirect URI of this sign-in")
            }
            return try response(at: address.answer(in: url)) { () throws(OAuth2FormatError) in
                try AuthorizationResponse(url: url, to: address)
            }
        }
    }

    /// Checks the query of a request to the redirect URI, without the `?`.
    func consider(query: [UInt8]) -> Verdict {
        consider { () throws(OAuth2FormatError) in
            try response(at: (Substring(String(decoding: query, as: UTF8.self)), "")) {
                () throws(OAuth2FormatError) in
                try AuthorizationResponse(query: query)
            }
        }
    }

    /// Reads an answer. Some servers, such as SPiD, redirect a user who gives up with only the state. Such a redirect counts as
    /// `abandoned`, and its state is checked like that of any answer.
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
        } catch {
            return .stray(error)
        }
        do throws(OAuth2FormatError) {
            if let state {
                try response.check(
                    state: state, issuer: issuer, requiresIssuer: requiresIssuer, mayLackState: mayLackState)
            }
        } catch {
            let answer = ForeignAnswer(error, response)
            foreign.withLock { $0.last = answer }
            return .foreign(answer)
        }
        return accepted.withLock { accepted in
            guard accepted == nil else { return .late }
            accepted = response
            return .answer(response)
        }
    }
}

/// Passes redirects to the matcher: a loopback listener, a socket, pasted lines.
protocol RedirectSource: Sendable {
    /// Returns when the matcher has its answer, when no more redirects can arrive, or when the task is cancelled.
    func serve(_ matcher: RedirectMatcher) async throws(AccountError)
}

/// Called at once for an answer that was not accepted, with an error of the code `untrustedAnswer`. The sign-in keeps waiting. It may be
/// called from any thread, once for each flaw.
public typealias ReportForeignAnswer = @Sendable (AccountError) -> Void

/// An answer in the sign-in page's form that belongs to another sign-in or comes from another server (RFC 6749, section 10.12; RFC 9207,
/// section 2.4).
///
/// It is never used and never ends the wait, because any page can send a browser here with a forged answer.
struct ForeignAnswer: Sendable, Equatable {
    /// The flaw of the answer.
    let flaw: OAuth2FormatError
    /// OAuth's `error`, if the answer is a refusal.
    private let refusal: String?

    fileprivate init(_ flaw: OAuth2FormatError, _ response: AuthorizationResponse) {
        self.flaw = flaw
        if case .refused(let error) = response.outcome {
            refusal = presentable(error.code.rawValue)
        } else {
            refusal = nil
        }
    }

    private var words: String {
        "\(flaw.message)\(refusal.map { " (error: \($0))" } ?? ""): the answer belongs to another sign-in, or is forged"
    }

    /// The warning while the sign-in waits.
    fileprivate var warning: AccountError {
        AccountError(
            .untrustedAnswer,
            message:
                "an answer of a sign-in page was not accepted, because \(words); the sign-in is still waiting for the right answer"
        )
    }

    /// Returns the error after a wait without success. `end` has the reason for its end.
    func failure(after end: AccountError) -> AccountError {
        AccountError(
            .untrustedAnswer,
            message: "the received answer was not accepted, because \(words). After that, \(end.message)")
    }
}
