import RainJSON
import RainKit
import RainCore

/// The second half of a sign-up: the code that was sent, entered now or by a later command.
struct Confirmation {
    let user: String
    let tags: [String]
    let code: CodeOptions
    let time: TimeBudget

    /// Confirms with a code that is given or asked for; where there is none, says what to run once it has come.
    func orNext(_ account: AccountAccess, _ context: Context) async throws {
        guard let code = try code.read(sentTo: user, within: time, context) else {
            let next = "rainctl account confirm \(user.onOneLine) --code-stdin"
            return context.output.result(
                members(account, isConfirmed: false) + [.init("next", .string(next))],
                text: "A code was sent to \(user.onOneLine). Confirm the account with it: \(next)")
        }
        try await confirm(code, account, context)
    }

    func confirm(_ code: Secret, _ account: AccountAccess, _ context: Context) async throws {
        let (user, tags) = (user, tags)
        try await time.run {
            try await account.user.confirmSignUp(user, code: code, tags: tags)
        }
        context.output.result(
            members(account, isConfirmed: true),
            text: "The account of \(user.onOneLine) is confirmed. Sign in: rainctl login \(user.onOneLine)")
    }

    private func members(_ account: AccountAccess, isConfirmed: Bool) -> [JSONValue.Member] {
        [
            .init("profile", .string(account.deployment.name)), .init("user_name", .string(user)),
            .init("confirmed", .bool(isConfirmed)),
        ]
    }
}
