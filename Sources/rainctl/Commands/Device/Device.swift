// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// Talks to a board without setting it up.
struct Device: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Find boards, look at one, talk to it, claim it, or make it forget its Wi-Fi.",
        subcommands: [
            DeviceDiscover.self, DeviceInfo.self, DeviceScan.self, DeviceClaim.self, DeviceReset.self,
            DeviceMonitor.self, DeviceSend.self, DeviceParams.self,
        ])
}

/// What all commands share that ask a board one question.
protocol DeviceCommand: AsyncParsableCommand {
    var device: DeviceOptions { get }
    var timeout: DurationArgument { get }
    var options: GlobalOptions { get }
}

extension DeviceCommand {
    /// Opens the board, asks, and closes it, all within the command's time.
    ///
    /// - Parameter followsLog: whether a board that takes no commands on its cable is asked in the way that its log names.
    func withBoard<Answer: Sendable>(
        followsLog: Bool = true, within time: TimeBudget? = nil,
        _ ask: @escaping @Sendable (any Board) async throws -> Answer
    ) async throws -> (Answer, Output) {
        let context = try device.context(options)
        let time = time ?? TimeBudget(timeout)
        let target = try await BoardTarget(device, context, context.boardClient(), within: time)
        let answer = try await target.askingForProofAgain(context, within: time) { target in
            let board = try await target.open(within: time, followsLog: followsLog)
            return try await time.run(unfinished: "the board has not answered yet") {
                do {
                    let answer = try await ask(board)
                    await board.close()
                    return answer
                } catch {
                    await board.close()
                    throw error
                }
            }
        }
        return (answer, context.output)
    }
}
