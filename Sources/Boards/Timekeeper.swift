// SPDX-License-Identifier: Apache-2.0

/// A clock without its type: elapsed time and waiting, as polling and deadlines need them.
///
/// Made from any clock whose durations are `Duration`, so that tests can hand in one that they move by hand.
public struct Timekeeper: Sendable {
    /// The time since this value was made.
    public let elapsed: @Sendable () -> Duration
    /// Waits that long; throws `CancellationError` when the task is cancelled first.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// Follows that clock; ``elapsed`` counts from now on.
    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
    }

    /// The time of `ContinuousClock`, which also advances while the machine sleeps.
    public static var continuous: Timekeeper { Timekeeper(ContinuousClock()) }
}
