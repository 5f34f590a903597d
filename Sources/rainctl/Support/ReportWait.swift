// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainMaker

/// How long a command that changes something waits for the boards to report it.
///
/// With `--wait`, it waits for the whole time. Without it, a script does not wait. At a terminal the command waits a few seconds, because
/// boards that are online answer within one, and a person reads the outcome.
struct ReportWait: Sendable {
    /// Nil for no waiting.
    let limit: Duration?
    /// Whether a missing report is a failure.
    let isRequired: Bool

    /// The time for a person at a terminal.
    static let patience = Duration.seconds(3)

    /// Says at once which of the boards are offline, if the command waits for them.
    init(isRequired: Bool, for nodes: [Node], _ context: Context, _ time: TimeBudget) {
        let away = nodes.filter { $0.connectivity?.isConnected == false }.map(\.shownName)
        let isAtTerminal = context.output.form == .text && StandardStreams.outIsTerminal
        limit = Self.limit(
            isRequired: isRequired, isAtTerminal: isAtTerminal, hasOfflineBoards: !away.isEmpty, time.leftForWaiting)
        self.isRequired = isRequired
        guard isRequired, !away.isEmpty else { return }
        context.output.say(Self.note(offline: away, time.total))
    }

    /// The line about boards that are waited for although they are offline.
    /// - Parameter limit: the command's time limit, as text.
    static func note(offline names: [String], _ limit: String) -> String {
        "note: \(names.joined(separator: ", ")) \(names.count == 1 ? "is" : "are") offline: waiting up to \(limit) (--timeout) for an answer."
    }

    static func limit(
        isRequired: Bool, isAtTerminal: Bool, hasOfflineBoards: Bool, _ left: Duration
    ) -> Duration? {
        if isRequired { return left }
        // A board that is offline reports nothing within seconds.
        return isAtTerminal && !hasOfflineBoards ? min(patience, left) : nil
    }

    /// Returns the outcome without the failure to report, unless the report is required.
    func settled(_ outcome: ParameterSetOutcome) -> ParameterSetOutcome {
        guard limit != nil, !isRequired, outcome.isReported != true, !outcome.isSendingUnknown else { return outcome }
        var outcome = outcome
        (outcome.isReported, outcome.seen, outcome.unknown) = (nil, nil, nil)
        return outcome
    }

    func settled(_ outcome: EntryOutcome) -> EntryOutcome {
        guard limit != nil, !isRequired, outcome.isReported != true, !outcome.isSendingUnknown else { return outcome }
        var outcome = outcome
        (outcome.isReported, outcome.seen, outcome.unknown) = (nil, nil, nil)
        return outcome
    }
}
