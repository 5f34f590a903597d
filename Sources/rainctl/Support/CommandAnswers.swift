// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The answers of boards to a command, asked for until all are there.
struct CommandAnswers: Sendable {
    let cloud: RainMakerCloud
    let request: RequestID

    /// Throws `no_such_request` where the cloud does not know the request.
    func now() async throws(CommandFailure) -> [NodeCommandRecord] {
        do throws(AccountError) { return try await cloud.commandRecords(request) } catch { throw failure(error) }
    }

    /// All of them, or what there is when the time is over.
    func all(within limit: Duration) async throws -> [NodeCommandRecord] {
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(100)
        var records: [NodeCommandRecord] = []
        while true {
            do throws(AccountError) {
                records = try await cloud.commandRecords(request)
                if !records.isEmpty, records.allSatisfy(\.status.isFinal) { return records }
            } catch {
                // The command is on its way: a call that fails for the moment is made again.
                guard error.isTransient else { throw failure(error) }
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return records }
            try await Task.sleep(for: min(pause, left))
            pause = min(pause * 3 / 2, .seconds(2))
        }
    }

    private func failure(_ error: AccountError) -> CommandFailure {
        guard error.serverCode == RainMakerCloud.unknownRequest else { return CommandFailure(error) }
        return CommandFailure(
            .other, reason: "no_such_request",
            message: """
                The cloud knows no command with the request id \(request.rawValue.onOneLine), or has forgotten it: \
                rainctl node command send shows the id.
                """)
    }
}
