// SPDX-License-Identifier: Apache-2.0

/// A clock without its type: elapsed time and waiting, for polling and deadlines.
///
/// It is made from any clock whose durations are `Duration`, so that tests can pass one that they move by hand.
public struct Timekeeper: Sendable {
    /// The time since this value was made.
    public let elapsed: @Sendable () -> Duration
    /// Waits for this duration; throws `CancellationError` if the task is cancelled first.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// Uses this clock; ``elapsed`` counts from now on.
    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let origin = clock.now
        elapsed = { origin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
    }

    /// Uses `ContinuousClock`, which also advances while the machine sleeps.
    public static var continuous: Timekeeper { Timekeeper(ContinuousClock()) }
}

/// The pauses between repeated requests: none at first, then a short pause that grows to a longer one.
public struct PollSchedule: Sendable {
    private var pause: Duration
    private let ceiling: Duration
    private var isFirst = true

    /// The first pause is zero. The following ones begin with `first` and grow by half each time, up to `ceiling`.
    public init(from first: Duration, to ceiling: Duration) {
        pause = first
        self.ceiling = ceiling
    }

    /// For the board's Wi-Fi status: a request costs the board a millisecond, and the result is needed within 0.3 s.
    public static var boardStatus: PollSchedule { PollSchedule(from: .milliseconds(20), to: .milliseconds(200)) }

    /// For a mapping in the cloud. With this growth the pause reaches 100 ms only after the first two seconds.
    public static var cloudStatus: PollSchedule { PollSchedule(from: .milliseconds(30), to: .seconds(2), growth: 103) }

    /// For a node's connection to the cloud, which takes a board several seconds.
    public static var nodeStatus: PollSchedule { PollSchedule(from: .milliseconds(200), to: .seconds(2)) }

    /// For a service that could not be reached.
    public static var unreachable: PollSchedule { PollSchedule(from: .milliseconds(100), to: .seconds(2)) }

    private var growth: Int64 = 150

    private init(from first: Duration, to ceiling: Duration, growth: Int64) {
        self.init(from: first, to: ceiling)
        self.growth = growth
    }

    public mutating func next() -> Duration {
        if isFirst {
            isFirst = false
            return .zero
        }
        defer { pause = min(pause * growth / 100, ceiling) }
        return pause
    }
}
