// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Tells the second call from all others.
final class Once: Sendable {
    private let calls = Atomic(0)

    func isSecond() -> Bool { calls.wrappingAdd(1, ordering: .relaxed).newValue == 2 }
}
