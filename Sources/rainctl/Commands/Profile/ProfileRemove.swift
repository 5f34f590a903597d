// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct ProfileRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a deployment of your own.",
        discussion: """
            Example: rainctl profile remove lab

            Nobody may be signed in there: without its profile a session could not be ended any more.
            """)

    @Argument(help: "Its name.", completion: .profiles)
    var name: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let accounts = try context.accounts.known.load().entries(at: name)
        // Without its deployment, a session could not be ended any more.
        if let account = accounts.first {
            throw CommandFailure(
                .usage, reason: "in_use",
                message: """
                    \(account.name.onOneLine) is signed in there: first run rainctl logout --profile \(name) --account \
                    \(account.name.asShellWord).
                    """)
        }
        try context.deploymentFile.change { content throws(AccountError) in try content.remove(name) }
        context.output.result(ProfileChangeResult(change: .removed, profile: name))
    }
}
