// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainAccount
import RainCore
import RainKit

/// Passes on the address of a sign-in with a custom scheme. The desktop starts this when a browser opens such an address.
struct AccountCallback: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "callback",
        abstract: "Pass the browser's last address to the waiting sign-in. The desktop runs this command.",
        discussion: "Example: rainctl account callback com.example.app:/callback?code=…&state=…", shouldDisplay: false)

    @Argument(help: "The address that the browser opened.")
    var url: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let outcome: CallbackHandOver.Outcome
        do throws(AccountError) {
            outcome = try CallbackHandOver.deliver(Secret(url), folder: context.folders.runtimeFolder())
        } catch {
            guard error.code == .noAnswer else { throw error }
            // `noAnswer` means that no sign-in waits, because its socket does not exist.
            throw CommandFailure(
                .unavailable, reason: "\(error.code)", message: error.message.asSentence.withAdvice(error.remedies))
        }
        switch outcome {
        case .taken: context.output.result(CallbackResult())
        case .refused:
            throw CommandFailure(
                .badData, reason: "wrong_answer",
                message: "A sign-in is waiting, but this address belongs to a different sign-in.")
        }
    }
}

/// The waiting sign-in has received the address.
struct CallbackResult: CommandResult {
    let taken = true

    var text: String { "" }
}
