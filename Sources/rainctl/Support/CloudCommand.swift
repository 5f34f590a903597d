// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// A command that asks the RainMaker cloud something in the user's name, and prints one result.
protocol CloudCommand: AsyncParsableCommand {
    associatedtype Result: CommandResult

    var options: GlobalOptions { get }
    var timeout: DurationArgument { get }

    func result(_ scene: CloudScene) async throws -> Result
}

/// What such a command works with.
struct CloudScene: Sendable {
    let context: Context
    let client: RainKitClient
    let cloud: RainMakerCloud
    let time: TimeBudget

    var choice: NodeChoice { NodeChoice(client: client) }

    /// Asks a person to type yes; throws `missing_confirmation` where nobody can be asked, and `cancelled` for any other answer.
    func confirm(_ question: String, otherwise statement: String) throws(CommandFailure) {
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_confirmation", message: "\(statement): add --yes if you mean it.")
        }
        let answer = time.asking { Terminal.ask("\(question) Type yes: ") }
        guard let answer, answer.lowercased() == "yes" else {
            throw CommandFailure(.cancelled, message: "Cancelled: nothing was changed.")
        }
    }
}

extension CloudCommand {
    func run() async throws {
        let context = try Context(options)
        let client = try context.rainMakerClient()
        let scene = CloudScene(
            context: context, client: client, cloud: try client.rainMakerNodes(), time: TimeBudget(timeout))
        context.output.result(try await result(scene))
    }
}
