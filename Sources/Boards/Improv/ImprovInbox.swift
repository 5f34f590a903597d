// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization

/// The packets that came from a board and that nobody has taken yet: fed by whoever reads the port, asked by one task at a time.
public final class ImprovInbox: Sendable {
    private struct State {
        var reader = ImprovReader()
        var frames: [ImprovFrame] = []
        var waiter: Waiter<ImprovFrame?>?
        var hasHeard = false
    }

    /// More than a scan brings; of a board that says more while nobody listens, the oldest go.
    static let capacity = 512

    private let state = Mutex(State())

    public init() {}

    /// Takes what was read from the port.
    public func take(_ bytes: [UInt8]) {
        state.withLock { state in
            let frames = state.reader.take(bytes).filter(\.isFromBoard)
            guard !frames.isEmpty else { return }
            state.hasHeard = true
            state.frames += frames
            if state.frames.count > Self.capacity { state.frames.removeFirst(state.frames.count - Self.capacity) }
            guard let waiter = state.waiter else { return }
            state.waiter = nil
            if waiter.resume(returning: state.frames[0]) { state.frames.removeFirst() }
        }
    }

    /// Whether a board that speaks Improv has said anything yet.
    public var hasHeard: Bool { state.withLock { $0.hasHeard } }

    /// The next packet; nil once the time is over, and where the task is cancelled.
    func next(within limit: Duration) async -> ImprovFrame? {
        let waiter = Waiter<ImprovFrame?>()
        state.withLock { state in
            guard state.frames.isEmpty else {
                waiter.resume(returning: state.frames.removeFirst())
                return
            }
            state.waiter = waiter
        }
        return await waiter.value(within: limit) { [self] _ in
            state.withLock { if $0.waiter === waiter { $0.waiter = nil } }
            waiter.resume(returning: nil)
        }
    }

    /// Forgets what came and was not asked for.
    func clear() { state.withLock { $0.frames = [] } }
}
