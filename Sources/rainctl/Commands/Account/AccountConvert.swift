// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

struct AccountConvert: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "convert", abstract: "Convert your guest account to an account with a name.",
        discussion: """
            Example: rainctl account convert me@example.com --password-file password.txt

            If you give no code, the cloud first sends a code to the e-mail address. If rainctl cannot ask for the code, run the command \
            again with --code-stdin.
            """)

    @Argument(help: "The e-mail address that becomes the account's name.")
    var user: String

    @OptionGroup var password: PasswordOptions

    @OptionGroup var code: CodeOptions

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws { try checkStandardInput(password.passwordStdin, code.codeStdin) }

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let client = try context.client()
        let account = try client.account()
        let rainMaker = try account.rainMakerAccount(for: "the conversion of guest accounts")
        let guest = try await account.session.userID()
        let user = user
        if !code.isGiven {
            try await time.run { try await rainMaker.requestGuestConversion(to: user) }
        }
        guard let entered = try code.read(sentTo: user, within: time, context) else {
            return context.output.result(ConversionResult(profile: account.name, pending: user))
        }
        let password = try password.readNew(context, within: time)
        // The new session goes into the guest's store, under its own name.
        let named = try await context.client(account: nil).newAccount(user: user, in: .kind(account.place.kind))
        let profile = try await code.entering(entered, sentTo: user, within: time, context) { code in
            let profile = try await rainMaker.confirmGuestConversion(
                to: user, password: password, code: code, signingIn: named.session)
            if named.newSession?.account?.key.account != account.place.account {
                try await account.session.forget(guest)
                try client.forget(account)
            }
            return profile
        }
        context.output.result(ConversionResult(profile: account.name, converted: profile))
    }
}

/// A guest's conversion to an account with a name, finished or waiting for the code that was sent.
struct ConversionResult: CommandResult {
    let profile: String
    let userName: String
    let userID: String?
    let converted: Bool
    let next: String?

    /// The code was sent to `userName`.
    init(profile: String, pending userName: String) {
        (self.profile, self.userName, userID, converted) = (profile, userName, nil, false)
        next = commandLine("account convert \(userName.asShellWord) --code-stdin --password-file FILE")
    }

    init(profile: String, converted user: UserInfo) {
        (self.profile, userName, userID, converted, next) = (profile, user.userName, user.userID.rawValue, true, nil)
    }

    var isProse: Bool { true }

    var text: String {
        guard let next else { return "Your guest account is now the account \(userName.onOneLine). You are signed in." }
        return "A code was sent to \(userName.onOneLine). To finish, run: \(next)"
    }
}
