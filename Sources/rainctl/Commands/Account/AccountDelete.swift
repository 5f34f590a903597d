// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

struct AccountDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "delete",
        abstract: "Delete your account permanently, after you confirm with a code from the cloud.",
        discussion: """
            Example: rainctl account delete

            If you give no code, the cloud first sends a code. A guest account is deleted at once, without a code.
            """)

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var code: CodeOptions

    @OptionGroup var locale: LocaleOption

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let time = TimeBudget(timeout)
        let client = try context.client()
        let account = try client.account()
        let rainMaker = try account.rainMakerAccount(for: "the removal of accounts")
        let user = try await account.session.userName()
        if !code.isGiven {
            try time.asking { () throws(CommandFailure) in try confirm(user, context) }
            let locale = locale.locale
            let step = try await time.run {
                try await rainMaker.requestDeletion(locale: locale)
            }
            if case .deleted = step { return try deleted(user, client, context) }
        }
        guard let entered = try code.read(sentTo: user, within: time, context) else {
            return context.output.result(
                DeletionResult(profile: account.name, userName: user, isDeleted: false))
        }
        try await code.entering(entered, sentTo: user, within: time, context) {
            try await rainMaker.confirmDeletion(code: $0)
        }
        try deleted(user, client, context)
    }

    private func confirm(_ user: String, _ context: Context) throws(CommandFailure) {
        if yes { return }
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_confirmation",
                message: "This deletes the account of \(user.onOneLine) for good. To confirm, add --yes.")
        }
        let question = "Delete the account of \(user.onOneLine), its boards and its data, for good? Type yes: "
        guard let answer = Screen.shared.blocking({ Terminal.ask(question) }), answer.lowercased() == "yes" else {
            throw CommandFailure(.cancelled, message: "Cancelled: nothing was deleted.")
        }
    }

    private func deleted(_ user: String, _ client: RainKitClient, _ context: Context) throws {
        let account = try client.account()
        let inUse = AccountInUse(context, at: account.name)
        try client.forget(account)
        inUse.tell()
        context.output.result(
            DeletionResult(profile: account.name, userName: user, isDeleted: true, accountInUse: inUse.another))
    }
}

/// An account's deletion, done or waiting for the code that was sent.
struct DeletionResult: CommandResult {
    let profile: String
    let userName: String
    let deleted: Bool
    let next: String?
    /// The account that commands use now. Absent if they use none, or the same one as before.
    let accountInUse: String?

    init(profile: String, userName: String, isDeleted: Bool, accountInUse: String? = nil) {
        self.accountInUse = accountInUse
        (self.profile, self.userName, deleted) = (profile, userName, isDeleted)
        next = isDeleted ? nil : commandLine("account delete --code-stdin")
    }

    var isProse: Bool { true }

    var text: String {
        let user = userName.onOneLine
        guard let next else { return "The account of \(user) is deleted, and you are signed out." }
        return "A code was sent to \(user). To delete the account, run: \(next)"
    }
}
