// SPDX-License-Identifier: Apache-2.0
import RainCore

/// A source of pasted addresses: a person, or a program in their place, gives the address that the browser ended on.
public protocol PastedAddresses: Sendable {
    /// The next line; nil when no more will come. Cancelling the task ends the wait.
    func next() async throws(AccountError) -> Secret?

    /// Says why the last line was not the answer.
    func refuse(_ reason: String) async

    /// Called when no more lines are needed: restores what was changed at a terminal.
    func finish() async
}

extension PastedAddresses {
    public func finish() async {}
}

/// Has the person paste the address that the browser ended on, where no browser can reach this machine: over SSH, in a container.
public struct PasteUserAgent: AuthorizationUserAgent {
    private let target: String
    private let opener: SignInPageOpener

    /// - Parameter redirectURI: a registered one. Nothing needs to answer there.
    public init(
        redirectURI: String, pasted: any PastedAddresses, within limit: Duration = .seconds(300),
        by clock: any Clock<Duration> = ContinuousClock(), show: @escaping ShowSignInPage
    ) {
        target = redirectURI
        opener = SignInPageOpener(pasted: pasted, limit: limit, clock: clock, show: show)
    }

    public func authorize(
        _ attempt: @Sendable (RedirectTarget) throws(AccountError) -> AuthorizationAttempt
    ) async throws(AccountError) -> AuthorizationResponse {
        try await opener.authorize(attempt, at: RedirectTarget(redirectURI: try redirectURI(target)), hearing: nil)
    }
}

struct PasteSource: RedirectSource {
    let addresses: any PastedAddresses

    /// Pasted lines are read no more after this many that are not the answer.
    private static let maximumTries = 50

    func serve(_ matcher: RedirectMatcher) async throws(AccountError) {
        do throws(AccountError) {
            try await read(matcher)
        } catch {
            await addresses.finish()
            throw error
        }
        await addresses.finish()
    }

    private func read(_ matcher: RedirectMatcher) async throws(AccountError) {
        var refusal: String?
        for _ in 0..<Self.maximumTries {
            guard let line = try await addresses.next() else {
                // An answer of another sign-in is named by the opener.
                guard let refusal, !Task.isCancelled else { return }
                throw AccountError(.noAnswer, message: "no answer of the sign-in page was given: \(refusal)")
            }
            var text = line.revealString()[...]
            // White space, quotes and angle brackets are often copied along with an address.
            while let first = text.first, first.isWhitespace || "\"'<".contains(first) { text.removeFirst() }
            while let last = text.last, last.isWhitespace || "\"'>".contains(last) { text.removeLast() }
            if text.isEmpty { continue }
            switch matcher.consider(url: String(text)) {
            case .answer, .late: return
            case .stray(let error):
                let words = Self.words(for: error, isAddress: text.firstRange(of: ":/") != nil)
                refusal = words
                await addresses.refuse(words)
            case .foreign(let answer):
                refusal = nil
                await addresses.refuse(Self.words(for: answer.flaw, isAddress: true))
            }
        }
        throw AccountError(
            .noAnswer,
            message: "none of the pasted addresses was the sign-in page's answer\(refusal.map { ": \($0)" } ?? "")")
    }

    private static func words(for error: OAuth2FormatError, isAddress: Bool) -> String {
        switch error.code {
        case _ where !isAddress: "that is not an address; copy the whole address that the browser ends on"
        case .mismatch: "that address belongs to another sign-in, or to none (\(error.message))"
        case .missing: "that address has no answer in it yet: finish at the sign-in page, then copy the address"
        default: "that address cannot be read (\(error.message)); copy the whole of it"
        }
    }
}
