// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Decides which of the redirects that arrive is the answer of the sign-in page: the first one that belongs to the attempt. It does not
/// matter which source brought it.
final class RedirectMatcher: Sendable {
    enum Verdict: Sendable, Equatable {
        case answer(AuthorizationResponse)
        /// Not the answer to this attempt, and why. The sign-in keeps waiting.
        case stray(OAuth2FormatError)
        /// An answer to another attempt, or of another server. The sign-in keeps waiting.
        case foreign(ForeignAnswer)
        /// The answer has been accepted before this one.
        case late
    }

    private let addresses: [RedirectURI]
    private let state: State?
    private let issuer: String?
    private let requiresIssuer: Bool
    private let mayLackState: Bool
    private let answersWithoutParameters: Bool
    /// Whether the answer comes in the fragment, behind a `#`. Browsers do not send fragments to servers.
    let expectsFragment: Bool
    private let accepted = Mutex<AuthorizationResponse?>(nil)
    private let foreign = Mutex(Foreign())
    private let report: ReportForeignAnswer?

    private struct Foreign {
        var last: ForeignAnswer?
        /// What was told already: an attacker may send answers without end.
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

    /// Tells the program of an answer that was not accepted, once for each flaw. For sources whose sender is not the person who waits.
    func tell(_ answer: ForeignAnswer) {
        let isNew = foreign.withLock { $0.toldFlaws.insert(answer.flaw.message).inserted }
        if isNew { report?(answer.warning) }
    }

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

    /// The query of a request to the redirect URI, without the `?`.
    func consider(query: [UInt8]) -> Verdict {
        consider { () throws(OAuth2FormatError) in
            try response(at: (Substring(String(decoding: query, as: UTF8.self)), "")) {
                () throws(OAuth2FormatError) in
                try AuthorizationResponse(query: query)
            }
        }
    }

    /// Some servers, such as SPiD, redirect a person who gives up with the state alone. Such a redirect counts as `abandoned`; its state is
    /// checked like that of any answer.
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

/// Brings redirects to the matcher: a loopback listener, a socket, pasted lines.
protocol RedirectSource: Sendable {
    /// Returns once the matcher has its answer, when nothing more can come, or when the task is cancelled.
    func serve(_ matcher: RedirectMatcher) async throws(AccountError)
}

/// Is told at once of an answer that was not accepted, in an error with the code `untrustedAnswer`; the sign-in goes on waiting. It may
/// be called from any thread, once for each thing that can be wrong.
public typealias ReportForeignAnswer = @Sendable (AccountError) -> Void

/// An answer in the sign-in page's form that belongs to another sign-in or comes from another server (RFC 6749, section 10.12; RFC 9207,
/// section 2.4).
///
/// It is never used, and never ends the wait: any page can send a browser here with a forged one.
struct ForeignAnswer: Sendable, Equatable {
    /// What is wrong with it.
    let flaw: OAuth2FormatError
    /// OAuth's `error`, where it is a refusal.
    let refusal: String?

    init(_ flaw: OAuth2FormatError, _ response: AuthorizationResponse) {
        self.flaw = flaw
        if case .refused(let error) = response.outcome {
            refusal = presentable(error.code.rawValue)
        } else {
            refusal = nil
        }
    }

    private var words: String {
        "\(flaw.message)\(refusal.map { "; it says \($0)" } ?? ""): it belongs to another sign-in, or is forged"
    }

    /// While the sign-in waits.
    var warning: AccountError {
        AccountError(
            .untrustedAnswer,
            message:
                "an answer of a sign-in page was not accepted, as \(words); the sign-in goes on waiting for its own")
    }

    /// When it has waited in vain, for the reason that `end` says.
    func failure(after end: AccountError) -> AccountError {
        AccountError(
            .untrustedAnswer,
            message: "the answer that came was not accepted, as \(words). Of its own, \(end.message)")
    }
}
