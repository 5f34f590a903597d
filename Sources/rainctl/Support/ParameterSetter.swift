// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Sets values, and waits for the boards to report them where that is asked for.
struct ParameterSetter: Sendable {
    let cloud: RainMakerCloud
    let waits: Bool

    /// What became of it at one board.
    struct Outcome: Sendable {
        let node: NodeID
        /// Why the cloud did not hand the values on.
        var failure: String?
        /// Whether the board has reported them; nil where nobody waited.
        var isReported: Bool?
    }

    func set(_ wanted: [(node: Node, changes: [ParameterChange])]) async throws(AccountError) -> [Outcome] {
        var outcomes: [Outcome] = []
        if wanted.count == 1 {
            // An error of the only board is the command's own.
            try await cloud.set(wanted[0].changes, at: wanted[0].node.id)
            outcomes = [Outcome(node: wanted[0].node.id)]
        } else {
            outcomes = try await cloud.set(wanted.map { ($0.node.id, $0.changes) })
                .map { Outcome(node: $0.node, failure: $0.failure) }
        }
        guard waits else { return outcomes }
        for index in outcomes.indices where outcomes[index].failure == nil {
            guard let changes = wanted.first(where: { $0.node.id == outcomes[index].node })?.changes else { continue }
            try await waitForReport(of: changes, by: outcomes[index].node)
            outcomes[index].isReported = true
        }
        return outcomes
    }

    /// Returns once the cloud has the values from the board itself; the command's deadline ends it otherwise.
    private func waitForReport(of changes: [ParameterChange], by node: NodeID) async throws(AccountError) {
        var pause = Duration.milliseconds(200)
        while true {
            let values = try await cloud.parameters(of: node)
            let isThere = changes.allSatisfy { change in
                guard let value = values[change.path.component]?[change.path.parameter] else { return false }
                // 50 and 50.0 are one number.
                if let wanted = change.value.double { return value.double == wanted }
                return value == change.value
            }
            if isThere { return }
            do { try await Task.sleep(for: pause) } catch { throw AccountError(.cancelled, message: "cancelled") }
            pause = min(pause * 3 / 2, .seconds(2))
        }
    }
}
