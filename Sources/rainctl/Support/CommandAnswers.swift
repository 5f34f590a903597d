// SPDX-License-Identifier: Apache-2.0
import RainKit

/// The answers of boards to a command, asked for until all are there.
struct CommandAnswers: Sendable {
    let cloud: RainMakerCloud
    let request: RequestID
    /// Where this process has sent it: those that it was to go to, and those to which the cloud did not send it.
    var asked: [NodeID] = []
    var refused: [ParameterOutcome] = []

    /// Throws `no_such_request` where the cloud does not know the request.
    func now() async throws(CommandFailure) -> [NodeCommandRecord] {
        do throws(AccountError) { return try await cloud.commandRecords(request) } catch { throw failure(error) }
    }

    /// All of them, or what there is when the time is over. Throws what the cloud has said last where it has not told anything in that time, and
    /// a refusal at once.
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
                guard error.isTransient else { throw untold(error, records) }
                fault = error
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else {
                if records.isEmpty, let fault { throw untold(fault, records) }
                return records
            }
            do { try await Task.sleep(for: min(pause, left)) } catch {
                throw untold(AccountError(.cancelled, message: "Cancelled."), records)
            }
            pause = min(pause * 3 / 2, .seconds(2))
        }
    }

    /// The command is out, whatever the cloud says now: its id is told, and what is known of the boards.
    private func untold(_ error: AccountError, _ records: [NodeCommandRecord]) -> CommandFailure {
        var failure = failure(error)
        if error.serverCode != RainMakerCloud.unknownRequest {
            failure.message +=
                " The cloud has the command, and did not say what became of it: rainctl node command result \(request.rawValue.onOneLine) "
                + "shows the answers."
        }
        if !asked.isEmpty || !records.isEmpty {
            failure.result = CommandRecordsResult(request, records, refused: refused, asked: asked)
        }
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
