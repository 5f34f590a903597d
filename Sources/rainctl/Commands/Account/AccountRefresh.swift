// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Renew the tokens now, however long the old ones would still live.",
        discussion: "Example: rainctl account refresh")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        let status = try await withTimeout(timeout.duration) { try await account.session.renew() }
        context.output.result(RenewalResult(session: SessionResult(account, status)))
    }
}
