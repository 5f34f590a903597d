// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a command goes on in spite of: a member of its document, and an event.
struct Warning: Encodable, Sendable {
    /// For programs, in snake case, such as `proof_not_used`.
    let reason: String
    let message: String
}

/// The warnings of a command so far, in their order.
final class Warnings: Sendable {
    private struct State {
        var all: [Warning] = []
        var listener: (@Sendable (Warning) -> Void)?
    }

    private let state = Mutex(State())

    var all: [Warning] { state.withLock { $0.all } }

    func add(_ warning: Warning) {
        let listener = state.withLock { state in
            state.all.append(warning)
            return state.listener
        }
        listener?(warning)
    }

    /// Hands each warning from now on to `listener` as well.
    func listen(_ listener: @escaping @Sendable (Warning) -> Void) { state.withLock { $0.listener = listener } }
}
