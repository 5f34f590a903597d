// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Hears from boards what they report, beside the questions to the cloud.
struct LiveWatching: Sendable {
    let client: RainKitClient
    let output: Output

    /// Ends with `take`, when the time is over, or by an error where the deployment lets nobody listen.
    func run(
        _ watched: [NodeID: WatchedNode], until end: ContinuousClock.Instant?,
        _ take: @Sendable (NodeChange) -> Bool
    ) async throws {
        let events = client.liveEvents(of: Array(watched.keys))
        try await Self.follow(events, watched, until: end, say: { output.say($0) }, take)
    }

    /// The end of the time and a cancellation come before the next event and the next change: there is always a next one where boards report
    /// without pause.
    static func follow(
        _ events: AsyncThrowingStream<LiveEvent, any Error>, _ watched: [NodeID: WatchedNode],
        until end: ContinuousClock.Instant?, say: (String) -> Void, _ take: @Sendable (NodeChange) -> Bool
    ) async throws {
        func isOver() -> Bool { Task.isCancelled || end.map { ContinuousClock.now >= $0 } ?? false }
        for try await event in events {
            if isOver() { return }
            switch event {
            case .listening: say("listening")
            case .interrupted(_, let reason):
                say("note: the connection for live changes is made again: \(reason)")
            case .report(let report):
                for change in await watched[report.node]?.take(report) ?? [] {
                    guard !isOver(), take(change) else { return }
                }
            }
        }
    }
}
