// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Identifies one transfer, so that it can be cancelled, and records which came first: its start or its cancellation. The cancellation
/// comes first where the calling task was cancelled already.
final class TransferHandle: Sendable {
    private enum State: Int, AtomicRepresentable { case new, started, cancelled }

    private let state = Atomic(State.new)

    /// False if it is cancelled already.
    func start() -> Bool {
        state.compareExchange(expected: .new, desired: .started, ordering: .acquiringAndReleasing).exchanged
    }

    /// Whether the caller does not want it any more.
    var isCancelled: Bool { state.load(ordering: .acquiring) == .cancelled }

    /// Whether it was started before, so that there is something to stop.
    func cancel() -> Bool { state.exchange(.cancelled, ordering: .acquiringAndReleasing) == .started }
}
