// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The commands for accounts, besides signing in and out.
struct AccountCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Manage your accounts, and get tokens for scripts and gateways.",
        subcommands: [
            AccountSignup.self, AccountConfirm.self, AccountResend.self, AccountUpdate.self, AccountPassword.self,
            AccountData.self, AccountPublicProfile.self, AccountDataRequest.self, AccountConvert.self,
            AccountDelete.self, AccountVersions.self,
            AccountCallback.self, AccountCurl.self, AccountExchange.self, AccountExport.self, AccountFetch.self,
            AccountHeader.self, AccountImport.self,
            AccountList.self, AccountProviders.self, AccountRefresh.self, AccountStatus.self,
            AccountToken.self, AccountUse.self, AccountWebSession.self,
        ])
}

struct AccountList: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List the accounts on this machine. A star marks the account in use.",
        discussion: "Example: rainctl account list --json")

    @Flag(help: "List the accounts of all deployments (default: the accounts of the deployment in use).")
    var all = false

    @OptionGroup var which: ProviderOption

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options, list: format)
        let known = try context.accounts.known.load()
        let deployment = try context.providerName(which.provider) ?? context.deployment().name
        let entries = all ? known.entries : known.entries(at: deployment)
        let accounts = entries.map { entry in
            AccountListResult.Entry(
                profile: entry.deployment, account: entry.name, userName: entry.userName, userID: entry.userID,
                store: entry.store.rawValue,
                current: entry.name == context.accountName ?? known.current(at: entry.deployment)?.name)
        }
        context.output.result(AccountListResult(accounts: accounts, showsProfile: all))
        if entries.isEmpty { context.output.say("Nobody is signed in\(all ? "" : " to \(deployment)").") }
    }
}

/// The accounts on this machine.
struct AccountListResult: CommandResult {
    let accounts: [Entry]
    /// Whether the lines show each account's deployment.
    @TextOnly var showsProfile: Bool

    var text: String { accounts.map { $0.line(showsProfile: showsProfile) }.joined(separator: "\n") }

    struct Entry: Encodable, Sendable {
        let profile: String
        let account: String
        let userName: String
        let userID: String
        let store: String
        let current: Bool

        fileprivate func line(showsProfile: Bool) -> String {
            let place = showsProfile ? "\(profile)  " : ""
            let user = userName == account ? "" : "  \(userName.onOneLine)"
            return "\(current ? "*" : " ") \(place)\(account.onOneLine)\(user)  (\(store))"
        }
    }
}

extension AccountListResult: ListResult {
    var table: ListTable {
        ListTable(member: "accounts", columns: ["profile", "account", "user_name", "user_id", "store", "current"])
    }
}

struct AccountUse: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "use", abstract: "From now on, use this account.",
        discussion: "Example: rainctl account use me@example.com")

    @Argument(help: "The account's name. To list accounts, run rainctl account list.", completion: .accounts)
    var name: String

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let deployment = try context.providerName(which.provider) ?? context.deployment().name
        try context.accounts.known.use(name, at: deployment)
        context.output.result(AccountUseResult(profile: deployment, account: name))
    }
}

/// The account that is now in use at its deployment.
struct AccountUseResult: ConfirmingResult {
    let profile: String
    let account: String

    var text: String { "Using account \(account.onOneLine) at \(profile.onOneLine)" }
}
