// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountUse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Use this account from now on, at its deployment.",
        discussion: "Example: rainctl account use me@example.com")

    @Argument(help: "Its name (see: rainctl account list).", completion: .accounts)
    var name: String

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let deployment = try context.providerName(which.provider) ?? context.deployment().name
        try context.accounts.known.change { known throws(AccountError) in try known.use(name, at: deployment) }
        context.output.result(AccountUseResult(profile: deployment, account: name))
    }
}
