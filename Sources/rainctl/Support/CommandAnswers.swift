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

    /// All of them, or what there is when the time is over. Throws what the cloud has said last where it has not told anything in that time.
    func all(within limit: Duration) async throws -> [NodeCommandRecord] {
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(100)
        var records: [NodeCommandRecord] = []
        var fault: AccountError?
        while true {
            do throws(AccountError) {
                records = try await cloud.commandRecords(request)
                fault = nil
                if !records.isEmpty, records.allSatisfy(\.status.isFinal) { return records }
            } catch {
                // The command is on its way: a call that fails for the moment is made again.
                guard error.isTransient else { throw failure(error) }
                fault = error
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else {
                if records.isEmpty, let fault { throw untold(fault) }
                return records
            }
            try await Task.sleep(for: min(pause, left))
            pause = min(pause * 3 / 2, .seconds(2))
        }
    }

    private func untold(_ error: AccountError) -> CommandFailure {
        var failure = CommandFailure(error)
        failure.message +=
            " The cloud has the command, and did not say what became of it: rainctl node command result \(request.rawValue.onOneLine) "
            + "shows the answers."
        return failure
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
