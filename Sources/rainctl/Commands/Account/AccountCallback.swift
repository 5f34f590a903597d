// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

/// Started by the desktop when a browser opens an address with the custom scheme that a sign-in waits for.
struct AccountCallback: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "callback",
        abstract: "Hand a redirected address to the sign-in that waits for it (the desktop starts this).",
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
            // Here `noAnswer` means that no sign-in waits: its socket does not exist.
            throw CommandFailure(
                .unavailable, reason: "\(error.code)", message: error.message.asSentence.withAdvice(error.remedies))
        }
        switch outcome {
        case .taken: context.output.result(CallbackResult())
        case .refused:
            throw CommandFailure(
                .badData, reason: "wrong_answer", message: "A sign-in waits, and this address is not its answer.")
        }
    }
}

/// The sign-in that waited has taken the address.
struct CallbackResult: CommandResult {
    let taken = true

    var text: String { "" }
}
