// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore

/// The second half of a sign-up: the code that was sent, entered now or by a later command.
struct Confirmation {
    let user: String
    let tags: [String]
    let code: CodeOptions
    let time: TimeBudget

    /// Confirms with a code that is given or asked for. Without one, prints the command that takes it later.
    func orNext(_ account: AccountAccess, _ context: Context) async throws {
        guard let entered = try code.read(sentTo: user, within: time, context) else {
            return context.output.result(
                ConfirmationResult(profile: account.name, userName: user, isConfirmed: false))
        }
        try await confirm(entered, account, context)
    }

    func confirm(_ entered: Secret, _ account: AccountAccess, _ context: Context) async throws {
        let (user, tags) = (user, tags)
        let rainMaker = try account.rainMakerAccount()
        do {
            try await code.entering(entered, sentTo: user, within: time, context) {
                try await rainMaker.confirmSignUp(user, code: $0, tags: tags)
            }
        } catch let error as AccountError where [.wrongCode, .codeExpired].contains(error.code) {
            var failure = CommandFailure(error)
            let word = user.onOneLine.asShellWord
            failure.message +=
                " Enter it with rainctl account confirm \(word), or have another one sent: "
                + "rainctl account resend \(word)."
            throw failure
        }
        context.output.result(
            ConfirmationResult(profile: account.name, userName: user, isConfirmed: true))
    }
}
