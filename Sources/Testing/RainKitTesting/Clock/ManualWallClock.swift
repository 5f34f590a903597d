// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Synchronization

/// Civil time that stands still until a test moves it.
public final class ManualWallClock: WallClock {
    private let time: Mutex<UnixTime>

    public init(seconds: Double = 1_800_000_000) { time = Mutex(UnixTime(seconds: seconds)) }

    public var now: UnixTime { time.withLock { $0 } }

    public func advance(seconds: Double) { time.withLock { $0 = $0 + seconds } }
}
