// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A value that a closure passes to its test.
final class Once<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)
    var value: Value? { stored.withLock { $0 } }
    func set(_ value: Value) { stored.withLock { $0 = value } }
}
