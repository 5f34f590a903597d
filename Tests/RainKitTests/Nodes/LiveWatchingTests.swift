// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainJSON
import Synchronization
import Testing

@testable import RainKit
@testable import RainMaker

/// If boards report without pause, there is always a next event.
@Suite("Watching nodes live: when it ends")
struct LiveWatchingTests {
    private static let id = NodeID("n1")

    private func watched() throws -> [NodeID: WatchedNode] {
        let node = try #require(
            Node([
                "id": "n1",
                "config": ["devices": [["name": "Light", "params": [["name": "Power"], ["name": "Hue"]]]]],
            ]))
        return [Self.id: WatchedNode(node)]
    }

    /// Endless reports, each of which changes a value.
    private func reports() -> AsyncThrowingStream<LiveEvent, any Error> {
        let count = Mutex(0)
        return AsyncThrowingStream {
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .report(
                NodeReport(node: Self.id, values: ["Light": ["Hue": .integer(Int64(number)), "Power": true]]))
        }
    }

    @Test("by the end of its time, before the next event")
    func deadline() async throws {
        let taken = Mutex(0)
        try await LiveWatching.follow(reports(), watched(), time: .continuous, until: .zero) { _ in
            taken.withLock { $0 += 1 }
            return true
        }
        #expect(taken.withLock(\.self) == 0)
    }

    @Test("by a cancellation, before the next event")
    func cancellation() async throws {
        let (reports, watched) = (reports(), try watched())
        let taken = Mutex(0)
        let task = Task {
            try await LiveWatching.follow(reports, watched, time: .continuous, until: nil) { _ in
                if taken.withLock({ count in
                    count += 1
                    return count == 3
                }) {
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                return true
            }
        }
        try await task.value
        #expect(taken.withLock(\.self) == 3)
    }

    @Test("after enough changes; changes of parameters that no configuration has do not count")
    func count() async throws {
        let events = AsyncThrowingStream<LiveEvent, any Error> { continuation in
            for number in 0..<100 {
                let flood = JSONValue.object((0..<100).map { .init("New\(number)-\($0)", ["Power": true]) })
                continuation.yield(.report(NodeReport(node: Self.id, values: flood)))
            }
            continuation.yield(.report(NodeReport(node: Self.id, values: ["Light": ["Power": false]])))
            continuation.finish()
        }
        let changes = Mutex<[NodeWatchEvent]>([])
        try await LiveWatching.follow(events, watched(), time: .continuous, until: nil) { change in
            changes.withLock { $0.append(change) }
            return false
        }
        #expect(changes.withLock(\.count) == 1)
    }
}
