// SPDX-License-Identifier: Apache-2.0
import RainIO
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
        /// For the last question, of what `leftForWaiting` has left.
        let moment = min(.milliseconds(250), limit / 4)
        var pause = Duration.milliseconds(100)
        var records: [NodeCommandRecord] = []
        // Nobody is left who could answer.
        if !asked.isEmpty, open.isEmpty { return records }
        /// Why nothing is known for the moment: at first nothing was told yet.
        var fault: AccountError? = Self.silence
        while true {
            let start = ContinuousClock.now
            do throws(AccountError) {
                if let answer = try await latest(within: max(ContinuousClock.now.duration(to: end), moment)) {
                    (records, fault) = (answer, nil)
                    if isWhole(records) { return records }
                } else if ContinuousClock.now - start >= .seconds(1) {
                    // An answer that has been owed for long is none; a question that the end of the time has cut off says nothing.
                    fault = Self.silence
                }
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

    private static let silence = AccountError(.timeout, message: "the cloud did not answer in time")

    /// Those who can answer, where this process has sent it.
    private var open: [NodeID] { asked.filter { node in !refused.contains { $0.node == node } } }

    /// Whether each board has said its last word. A list may have some boards before others.
    private func isWhole(_ records: [NodeCommandRecord]) -> Bool {
        guard asked.isEmpty else {
            return open.allSatisfy { node in records.contains { $0.node == node && $0.status.isFinal } }
        }
        return !records.isEmpty && records.allSatisfy(\.status.isFinal)
    }

    /// What the cloud knows; nil where it has not told that in time.
    private func latest(within limit: Duration) async throws(AccountError) -> [NodeCommandRecord]? {
        let (cloud, request) = (cloud, request)
        let answer = await withDeadline(limit, sleep: { try await Task.sleep(for: $0) }) {
            () async throws(AccountError) in try await cloud.commandRecords(request)
        }
        if answer == nil, Task.isCancelled { throw AccountError(.cancelled, message: "Cancelled.") }
        return try answer?.get()
    }

    /// The command is out, whatever the cloud says now: its id is told, and what is known of the boards.
    private func untold(_ error: AccountError, _ records: [NodeCommandRecord]) -> CommandFailure {
        var failure = failure(error)
        if error.serverCode != RainMakerCloud.unknownRequest {
            failure.message +=
                " The cloud has the command, and did not say what became of it: rainctl node command result \(request.rawValue.asShellWord) "
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
