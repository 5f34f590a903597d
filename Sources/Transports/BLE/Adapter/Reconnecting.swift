// SPDX-License-Identifier: Apache-2.0

/// When lost Bluetooth is opened again: at once, then at growing intervals for as long as an outage is waited out, and after that once for
/// each caller. A value, so that the policy can be read and tested by itself.
struct Reconnecting {
    static let shortestPause = Duration.milliseconds(50)
    static let longestPause = Duration.seconds(1)

    private var pause = shortestPause
    private let end: ContinuousClock.Instant
    /// Before the first attempt. A bus that disconnects this program each time is not asked without a pause.
    let first: Duration

    /// - Parameter opened: when what was lost had been opened.
    init(opened: ContinuousClock.Instant, lost: ContinuousClock.Instant) {
        end = lost + AdapterLoss.patience
        first = opened.duration(to: lost) < .seconds(1) ? Self.shortestPause : .zero
    }

    /// The pause before the next attempt; nil where the failure is to be reported.
    mutating func next(now: ContinuousClock.Instant = .now) -> Duration? {
        guard now < end else { return nil }
        defer { pause = min(pause * 2, Self.longestPause) }
        return min(pause, now.duration(to: end))
    }
}
