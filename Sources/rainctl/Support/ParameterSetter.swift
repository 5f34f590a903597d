// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainJSON
import RainKit

/// Sets values, and waits for the boards to report them where that is asked for.
struct ParameterSetter: Sendable {
    let cloud: RainMakerCloud
    /// How long the boards are waited for; nil for not at all.
    let wait: Duration?

    /// What became of it at one board.
    struct Outcome: Sendable {
        let node: NodeID
        /// Why the cloud did not hand the values on, with its number for that.
        var failure: String?
        var serverCode: Int?
        /// Whether the board has reported them; nil where nobody waited, or it reports none of them.
        var isReported: Bool?
        /// Those that no board reports as they were set.
        var unreported: [ParameterPath] = []
        /// Whether these are all of them: nothing is waited for then.
        var isSentOnly = false
        /// What is known of the board where it has not reported them, behind its name: that it is offline, or what it reports.
        var seen: String?
        /// Why it is not known whether the board has reported them: the cloud does not tell.
        var untold: AccountError?
        /// Nor whether the cloud has sent them.
        var isSendingUntold = false
    }

    /// What came of waiting for a board.
    private enum Report: Sendable {
        case held
        case other(seen: String?)
        case untold(AccountError)
    }

    /// - Parameter isDone: whether a node's report shows that it was done; that it holds the values unless given.
    func set(
        _ wanted: [(node: Node, changes: [ParameterChange])], isDone: (@Sendable (Node) -> Bool)? = nil
    ) async throws -> [Outcome] {
        // What sending takes is not left for waiting.
        let end = wait.map { ContinuousClock.now + $0 }
        var outcomes: [Outcome] = []
        if wanted.count == 1 {
            // An error of the only board is the command's own.
            try await cloud.set(wanted[0].changes, at: wanted[0].node.id)
            outcomes = [Outcome(node: wanted[0].node.id)]
        } else {
            outcomes = try await cloud.set(wanted.map { ($0.node.id, $0.changes) })
                .map(Outcome.init)
        }
        if isDone == nil {
            for (index, (node, changes)) in zip(outcomes.indices, wanted) where outcomes[index].failure == nil {
                outcomes[index].leaveOut(changes.unreported(by: NodeConfiguration(node.configuration)), of: changes)
            }
        }
        guard let end else { return outcomes }
        let sent = outcomes.filter { $0.failure == nil && !$0.isSentOnly }.map(\.node)
        // All together: a board that is gone costs the others none of their time.
        let reports = try await withThrowingTaskGroup(of: (NodeID, Report).self) { group in
            for (node, changes) in wanted where sent.contains(node.id) {
                group.addTask {
                    let reported = changes.reported(by: NodeConfiguration(node.configuration))
                    let values = isDone == nil ? reported : []
                    let isDone = isDone ?? { Self.holds(reported, in: $0.parameters) }
                    return (node.id, try await report(of: node.id, until: end, values, isDone))
                }
            }
            var reports: [NodeID: Report] = [:]
            for try await (node, report) in group { reports[node] = report }
            return reports
        }
        for index in outcomes.indices {
            switch reports[outcomes[index].node] {
            // Who reports the values has them, whatever the cloud has told of sending them.
            case .held?:
                (outcomes[index].isReported, outcomes[index].untold) = (true, nil)
                outcomes[index].isSendingUntold = false
            case .other? where outcomes[index].isSendingUntold: break
            case .other(let seen)?: (outcomes[index].isReported, outcomes[index].seen) = (false, seen)
            case .untold(let error)?: outcomes[index].untold = error
            case nil: break
            }
        }
        return outcomes
    }

    /// Whether a board that is online has these values by its own last report. A value that it had before counts; what the cloud keeps of a
    /// board that is away does not.
    private func report(
        of node: NodeID, until end: ContinuousClock.Instant, _ values: [ParameterChange],
        _ isDone: @Sendable (Node) -> Bool
    ) async throws -> Report {
        var pause = Duration.milliseconds(200)
        var seen: String?
        /// Why the last question had no answer.
        var fault: AccountError?
        while true {
            let asked = ContinuousClock.now
            do throws(AccountError) {
                guard let known = try await latest(node, until: end) else {
                    // The time is over. An answer that was there a moment ago holds; one that has been owed for long is none.
                    let isSilent = ContinuousClock.now - asked >= .seconds(1)
                    return isSilent ? .untold(Self.silence) : fault.map { .untold($0) } ?? .other(seen: seen)
                }
                if known.connectivity?.isConnected == true, isDone(known) { return .held }
                let isAway = known.connectivity?.isConnected == false
                seen =
                    isAway
                    ? "is offline" : Self.others(values, in: known.parameters, NodeConfiguration(known.configuration))
                fault = nil
            } catch {
                // The values are on their way: a call that fails for the moment is made again, and a refusal does not call them back.
                guard error.code != .cancelled else { throw error }
                guard error.isTransient else { return .untold(error) }
                fault = error
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return fault.map { .untold($0) } ?? .other(seen: seen) }
            try await Task.sleep(for: min(pause, left))
            pause = min(pause * 3 / 2, .seconds(2))
        }
    }

    private static let silence = AccountError(.timeout, message: "the cloud did not answer in time")

    /// What the cloud knows of it; nil where it does not say so by then, so that there is a moment left to tell that.
    private func latest(_ node: NodeID, until end: ContinuousClock.Instant) async throws(AccountError) -> Node? {
        let cloud = cloud
        let left = max(ContinuousClock.now.duration(to: end), .milliseconds(1))
        let answer = await withDeadline(left, sleep: { try await Task.sleep(for: $0) }) {
            () async throws(AccountError) in try await cloud.node(node)
        }
        if answer == nil, Task.isCancelled { throw AccountError(.cancelled, message: "Cancelled.") }
        return try answer?.get()
    }

    static func holds(_ changes: [ParameterChange], in values: JSONValue?) -> Bool {
        changes.allSatisfy { change in
            values?[change.path.component]?[change.path.parameter]?.isReport(of: change.value) ?? false
        }
    }

    /// What stands there instead of these values, in words; nil where nothing else does.
    static func others(
        _ changes: [ParameterChange], in values: JSONValue?, _ configuration: NodeConfiguration?
    ) -> String? {
        let shown = values.map { SecretParameters(of: configuration).masked(in: $0) }
        let others = changes.compactMap { change -> String? in
            let path = change.path
            guard let value = shown?[path.component]?[path.parameter], !holds([change], in: values) else { return nil }
            return "\(path)=\(value.shown)".onOneLine
        }
        return others.isEmpty ? nil : "reports " + others.prefix(5).joined(separator: ", ")
    }
}

extension ParameterSetter.Outcome {
    /// What the cloud has told of one board of several. Of what it has not told it is no failure.
    init(_ outcome: ParameterOutcome) {
        node = outcome.node
        serverCode = outcome.serverCode
        untold = outcome.untold
        isSendingUntold = outcome.untold != nil
        failure = isSendingUntold ? nil : outcome.failure
    }

    /// Has those told that the board does not report.
    mutating func leaveOut(_ unreported: [ParameterPath], of changes: [ParameterChange]) {
        self.unreported = unreported
        isSentOnly = unreported.count == changes.count
    }
}

extension [ParameterChange] {
    /// Those whose values the board reports once they are set.
    func reported(by configuration: NodeConfiguration?) -> [ParameterChange] {
        let unreported = unreported(by: configuration)
        return filter { !unreported.contains($0.path) }
    }

    /// The others: what can only be written, and what has the board act, such as restart.
    func unreported(by configuration: NodeConfiguration?) -> [ParameterPath] {
        map(\.path).filter { path in
            configuration?.component(path.component)?.parameter(path.parameter)?.reportsWhatIsSet == false
        }
    }
}

extension TimeBudget {
    /// How long a board may be waited for, so that there is a moment left to say what became of it.
    var leftForWaiting: Duration { left - min(.milliseconds(500), left / 4) }
}
