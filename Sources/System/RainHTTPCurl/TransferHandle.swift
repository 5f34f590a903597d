// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Names one transfer to whoever may cancel it, and knows which came first: its start, or its cancellation, as when the calling
/// task already was cancelled.
final class TransferHandle: Sendable {
    private enum State: Int, AtomicRepresentable { case new, started, cancelled }

    private let state = Atomic(State.new)

    /// False if it is cancelled already.
    func start() -> Bool {
        state.compareExchange(expected: .new, desired: .started, ordering: .acquiringAndReleasing).exchanged
    }

    /// Whether it was started before, so that there is something to stop.
    func cancel() -> Bool { state.exchange(.cancelled, ordering: .acquiringAndReleasing) == .started }
}
