// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit
import RainMaker

/// Signs in a person at a terminal who has no session, or creates an account first. Another command needs the session.
struct SignInConversation {
    let context: Context
    let time: TimeBudget

    /// Whether this error is the lack of a session that a person at this terminal can remedy.
    static func helps(after error: any Error, _ context: Context) -> Bool {
        guard context.mayAsk, context.providerName(nil) == nil, let error = error as? RainKitError,
            case .account(let cause) = error.cause
        else { return false }
        return [.notSignedIn, .expired].contains(cause.code)
    }

    /// Asks for the user and the password, and signs in. The session is kept as `rainctl login` keeps it.
    /// - Parameter purpose: what the session is for, such as "to put the board into your account".
    func signIn(after error: any Error, purpose: String) async throws {
        let ended = error as? RainKitError
        var known: String?
        if case .account(let cause)? = ended?.cause, cause.code == .expired {
            known = cause.account.flatMap { $0.isUserName ? $0 : nil }
            context.screen.say("Your session has ended. Sign in again \(purpose).")
        } else {
            context.screen.say("Nobody is signed in. Sign in \(purpose).")
        }
        let newcomer = try context.newcomer(known, at: context.deployment().name, isWanted: true)
        let client = try context.client(account: newcomer.account)
        let choice = try StoreOptions.parse([]).choice(context)
        if let user = newcomer.user {
            context.screen.say("User: \(user.onOneLine)")
            return try await signIn(SignInUser(user: user), client, choice)
        }
        guard let user = try ask("E-mail address (n for a new account): ", mayBeNew: true) else {
            return try await signUp(client, choice)
        }
        try await signIn(SignInUser(user: user, isTyped: true), client, choice)
    }

    private func signIn(_ user: SignInUser, _ client: RainKitClient, _ choice: StoreChoice) async throws {
        let account = try await time.run {
            try await client.newAccount(user: user.isTyped ? nil : user.user, in: choice)
        }
        var login = try Login.parse([])
        login.user = user.user
        let result = try await login.signIn(user, client, account, time, context)
        context.tellPlace(of: account.newSession)
        context.screen.say(result.text)
    }

    private func signUp(_ client: RainKitClient, _ choice: StoreChoice) async throws {
        guard let user = try ask("E-mail address for the new account: ", mayBeNew: false) else { return }
        let account = try client.account()
        let rainMaker = try account.rainMakerAccount(for: "new accounts")
        let password = try PasswordOptions.parse([]).readNew(context, within: time)
        try await time.run { try await rainMaker.signUp(user, password: password, locale: nil) }
        let code = try CodeOptions.parse([])
        let confirmation = Confirmation(user: user, tags: [], code: code, time: time)
        guard let entered = try code.read(sentTo: user, within: time, context) else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        try await confirmation.confirmOnly(entered, account, context)
        let signedIn = try await time.run {
            let account = try await client.newAccount(user: user, in: choice)
            _ = try await account.session.signIn(.password(user: user, password: password))
            return account
        }
        context.tellPlace(of: signedIn.newSession)
        context.screen.say("Created the account, and signed in as \(user.onOneLine).")
    }

    /// Returns a user name, asked for up to three times; nil for the answer `n`.
    private func ask(_ question: String, mayBeNew: Bool) throws(CommandFailure) -> String? {
        var triesLeft = 3
        while true {
            let answer = time.asking { context.screen.blocking { Terminal.ask(question) } }
            guard let answer else { throw CommandFailure(.cancelled, message: "Cancelled.") }
            if mayBeNew, answer.lowercased() == "n" { return nil }
            do throws(AccountError) {
                try RainMakerAccount.check(userName: answer)
                return answer
            } catch {
                triesLeft -= 1
                guard triesLeft > 0 else { throw CommandFailure(error) }
                context.screen.say(error.message.asSentence)
            }
        }
    }
}
