// SPDX-License-Identifier: Apache-2.0

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
