// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// A command that asks the RainMaker cloud as the user, and prints one result.
protocol CloudCommand: AsyncParsableCommand {
    associatedtype Result: CommandResult

    var options: GlobalOptions { get }
    var timeout: DurationArgument { get }

    func result(_ scene: CloudScene) async throws -> Result
}

/// The tools of such a command.
struct CloudScene: Sendable {
    let context: Context
    let client: RainKitClient
    let cloud: any NodeCloud
    let time: TimeBudget

    /// Asks the user to type yes. Throws `missing_confirmation` if nobody can be asked, and `cancelled` for any other answer.
    func confirm(_ question: String, otherwise statement: String) throws(CommandFailure) {
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_confirmation", message: "\(statement). To confirm, add --yes.")
        }
        let answer = time.asking { Screen.shared.blocking { Terminal.ask("\(question) Type yes: ") } }
        guard let answer, answer.lowercased() == "yes" else {
            throw CommandFailure(.cancelled, message: "Cancelled: nothing was changed.")
        }
    }
}

extension CloudCommand {
    func run() async throws {
        let context = try Context(options, list: (self as? any ListCommand)?.format)
        let client = try context.rainMakerClient()
        let scene = CloudScene(
            context: context, client: client, cloud: try client.rainMakerNodes(), time: TimeBudget(timeout))
        context.output.result(try await context.screen.waiting("Asking the cloud") { try await result(scene) })
    }
}
