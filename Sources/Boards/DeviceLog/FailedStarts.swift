// SPDX-License-Identifier: Apache-2.0

/// Counts the starts in a row that ended with a board that does not come up: one may be a button that was held, the second is no accident.
struct FailedStarts: Sendable {
    private var count = 0
    private var hasFailed = false

    /// Whether nothing will come of waiting.
    var isDown: Bool { count >= 2 }

    mutating func restarted() {
        if !hasFailed { count = 0 }
        hasFailed = false
    }

    mutating func failed() {
        guard !hasFailed else { return }
        hasFailed = true
        count += 1
    }
}
