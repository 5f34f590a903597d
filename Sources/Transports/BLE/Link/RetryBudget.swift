// SPDX-License-Identifier: Apache-2.0

/// How often and how fast a connection is tried again, within a time.
///
/// A value, so that the policy can be read and tested by itself.
struct RetryBudget: Sendable {
    /// With half of all attempts aborted, so many in a row fail once in 16 million connections: it is not the radio's chance then.
    static let maximumAttempts = 24
    private(set) var attempts = 0
    private var pause = Duration.milliseconds(50)
    let end: ContinuousClock.Instant

    init(within limit: Duration, now: ContinuousClock.Instant = .now) { end = now + limit }

    func left(now: ContinuousClock.Instant = .now) -> Duration { max(end - now, .zero) }

    /// The pause before the next attempt, or nil when there is none: at once at first, then growing to a second.
    mutating func next(now: ContinuousClock.Instant = .now) -> Duration? {
        attempts += 1
        guard attempts < Self.maximumAttempts, now < end else { return nil }
        guard attempts > 1 else { return .zero }
        defer { pause = min(pause * 3 / 2, .seconds(1)) }
        return min(pause, end - now)
    }
}
