// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Hears from boards what they report, beside the questions to the cloud.
struct LiveWatching: Sendable {
    let client: RainKitClient
    let output: Output

    /// Ends with `take`, or by an error where the deployment lets nobody listen.
    func run(_ watched: [NodeID: WatchedNode], _ take: @Sendable (NodeChange) -> Bool) async throws {
        for try await event in client.liveEvents(of: Array(watched.keys)) {
            switch event {
            case .listening: output.say("listening")
            case .interrupted(_, let reason):
                output.say("note: the connection for live changes is made again: \(reason)")
            case .report(let report):
                for change in await watched[report.node]?.take(report) ?? [] where !take(change) { return }
            }
        }
    }
}
