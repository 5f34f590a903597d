// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// The exchanges that are under way on a transport, so that closing it ends them at once.
package final class OpenExchanges: Sendable {
    private struct State {
        var isClosed = false
        var nextID = 0
        var ends: [Int: AsyncStream<Never>.Continuation] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `body`; when the transport is closed first, `body` is cancelled, awaited, and the result is nil. On a closed transport it
    /// does not begin.
    package func run<Answer: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () async throws(Failure) -> Answer
    ) async -> Result<Answer, Failure>? {
        let (closing, end) = AsyncStream.makeStream(of: Never.self)
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            defer { state.nextID += 1 }
            state.ends[state.nextID] = end
            return state.nextID
        }
        guard let id else { return nil }
        defer { state.withLock { _ = $0.ends.removeValue(forKey: id) } }
        return await race(
            against: {
                for await _ in closing {}
                try Task.checkCancellation()
            }, body)
    }

    /// Ends what is under way, and whatever comes after it.
    package func close() {
        let ends = state.withLock { state in
            state.isClosed = true
            return state.ends.values
        }
        for end in ends { end.finish() }
    }
}
