// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Synchronization

/// Civil time that stands still until a test moves it.
public final class ManualWallClock: WallClock {
    private let time: Mutex<UnixTime>

    /// - Parameter seconds: the time since 1970; by default a moment in January 2027.
    public init(seconds: Double = 1_800_000_000) { time = Mutex(UnixTime(seconds: seconds)) }

    public var now: UnixTime { time.withLock { $0 } }

    /// Moves the clock on, or back if it is negative.
    public func advance(seconds: Double) { time.withLock { $0 = $0 + seconds } }
}
