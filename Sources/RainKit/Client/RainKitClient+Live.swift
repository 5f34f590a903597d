// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainJSON
import RainMaker
import Synchronization

extension RainKitClient {
    /// Returns the reports and the alerts of the account's boards as they arrive, if the deployment supports that.
    ///
    /// ```swift
    /// for try await event in kit.liveEvents(of: [node.id]) {
    ///     if case .report(let report) = event { print(report.node, report.values) }
    /// }
    /// ```
    ///
    /// Reports over AWS IoT's basic ingest, which is the firmware's default, do not arrive here: ask for those values as well. The sequence
    /// ends with a `RainKitError` that trying again would not fix, such as `unsupported` if the deployment has no live events. Leaving the loop
    /// closes the connection.
    public func liveEvents(of nodes: [NodeID]) -> AsyncThrowingStream<LiveEvent, any Error> {
        let queue = LiveEventQueue()
        // Cancelled by its handle: when the loop is left, the connection ends.
        let listening = LiveListening(
            Task {
                do throws(AccountError) {
                    let account = try accountInUse()
                    try await cloud().listen(to: nodes, with: liveTools(account.certificateAuthorities)) {
                        queue.add($0)
                    }
                } catch {
                    queue.finish(RainKitError(error))
                }
            })
        return AsyncThrowingStream { try await listening.next(from: queue) }
    }

    /// - Parameter authorities: a file with the authorities to trust.
    func liveTools(_ authorities: String?) -> LiveTools {
        let tools = configuration.tools
        return LiveTools(
            opener: tools.connections(authorities), hashes: tools.crypto, sha1: OpenSSLHashes.sha1,
            randomBytes: tools.randomBytes, clock: tools.clock, sleep: { try await tools.timer.sleep(for: $0) })
    }
}

/// Live events that wait to be taken, up to a number of events and of bytes. The oldest ones are dropped first: newer values are worth
/// more, and a program that is late asks the cloud.
final class LiveEventQueue: Sendable {
    static let maximumEvents = 1000
    static let maximumBytes = 4 << 20

    private struct State {
        var events: [(event: LiveEvent, weight: Int)] = []
        /// The index of the first waiting event in ``events``.
        var first = 0
        var weight = 0
        var end: RainKitError?
        var waiter: CheckedContinuation<LiveEvent?, any Error>?

        var count: Int { events.count - first }

        mutating func take() -> LiveEvent? {
            guard first < events.count else { return nil }
            let (event, weight) = events[first]
            // A placeholder, so that an event is released once it was taken.
            events[first] = (.listening([]), 0)
            self.weight -= weight
            first += 1
            if first > LiveEventQueue.maximumEvents || first == events.count {
                events.removeFirst(first)
                first = 0
            }
            return event
        }
    }
    private let state = Mutex(State())

    /// The approximate number of waiting bytes.
    var weight: Int { state.withLock { $0.weight } }

    func add(_ event: LiveEvent) {
        let weight =
            switch event {
            case .report(let report): report.values.weight
            case .alert(let alert): alert.weight
            default: 256
            }
        let waiter = state.withLock { state -> CheckedContinuation<LiveEvent?, any Error>? in
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter
            }
            state.events.append((event, weight))
            state.weight += weight
            while state.count > 1, state.count > Self.maximumEvents || state.weight > Self.maximumBytes {
                _ = state.take()
            }
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// - Parameter error: why there are no more events.
    func finish(_ error: RainKitError) {
        let waiter = state.withLock { state in
            state.end = error
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(throwing: error)
    }

    /// Returns the next event, once there is one; nil if the calling task is cancelled. Only one task may ask at a time.
    func next() async throws -> LiveEvent? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<LiveEvent?, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .success(nil) }
                    if let event = state.take() { return .success(event) }
                    if let end = state.end { return .failure(end) }
                    state.waiter = continuation
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: nil)
        }
    }
}

extension NodeAlert {
    fileprivate var weight: Int {
        switch content {
        case .text(let text): 256 + text.utf8.count
        case .values(let values): values.weight
        }
    }
}

/// The task that listens. It ends with the last reference to this value.
final class LiveListening: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }
    deinit { task.cancel() }

    func next(from queue: LiveEventQueue) async throws -> LiveEvent? {
        let event = try await queue.next()
        // The event is nil only if the task is cancelled. Nobody asks again then.
        if event == nil { task.cancel() }
        return event
    }
}
