// SPDX-License-Identifier: Apache-2.0

/// The time that bytes take on a wire of some speed, in one direction: ten bits a byte.
struct SerialWire {
    private let bytesPerSecond: UInt64?
    /// When the wire is free again, in microseconds.
    private var free: UInt64 = 0

    /// - Parameter baud: nil for a wire that takes no time.
    init(baud: Int?) { bytesPerSecond = baud.map { UInt64($0) / 10 } }

    /// When what is put on the wire now has arrived at its end, in milliseconds of the loop's clock.
    mutating func arrival(of count: Int, now: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return now }
        free = max(free, now * 1000) + UInt64(count) * 1_000_000 / bytesPerSecond
        return (free + 999) / 1000
    }

    /// How many of so many bytes may leave now, so that the wire is never more than one millisecond ahead.
    mutating func room(for count: Int, now: UInt64) -> Int {
        guard let bytesPerSecond else { return count }
        guard free <= now * 1000 else { return 0 }
        let room = min(count, max(1, Int(bytesPerSecond / 500)))
        free = max(free, now * 1000 - 1000) + UInt64(room) * 1_000_000 / bytesPerSecond
        return room
    }

    /// When more may leave.
    var due: UInt64? { bytesPerSecond == nil ? nil : (free + 999) / 1000 }
}
