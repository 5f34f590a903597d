// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

struct AccountToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print an access token that is good for a while, and nothing else.",
        discussion: "Example: rainctl account token")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let account = try Context(options).client(which).account()
        let token = try await withTimeout(timeout.duration) { try await account.session.accessToken() }
        StandardStreams.out(token.revealString() + "\n")
    }
}
