// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the accounts on this machine; the one in use has a star.",
        discussion: "Example: rainctl account list --json")

    @Flag(help: "Those of all deployments, not only of the one in use.")
    var all = false

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
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
