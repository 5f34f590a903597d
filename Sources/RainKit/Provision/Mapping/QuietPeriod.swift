// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Until when the cloud asked to be left alone. One for all mappings of a run: the cloud is the same.
final class QuietPeriod: Sendable {
    private let end = Mutex(Duration.zero)

    var until: Duration { end.withLock { $0 } }

    func set(until end: Duration) { self.end.withLock { $0 = end } }
}
