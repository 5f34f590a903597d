// SPDX-License-Identifier: Apache-2.0

/// The time that bytes take on a wire of some speed, in one direction: ten bits a byte.
struct SerialWire {
    private let bytesPerSecond: UInt64?
    /// When the wire is free again, in microseconds.
    private var free: UInt64 = 0
    /// When what was put on the wire last began and ended to be carried, in microseconds.
    private(set) var last: Range<UInt64> = 0..<0
    /// How many bytes it has carried.
    private(set) var bytes = 0

    /// - Parameter baud: nil for a wire that takes no time.
    init(baud: Int?) { bytesPerSecond = baud.map { UInt64($0) / 10 } }

    /// When what is put on the wire now has arrived at its end, in milliseconds of the loop's clock.
    mutating func arrival(of count: Int, now: UInt64) -> UInt64 {
        guard let bytesPerSecond else { return now }
        carry(count, bytesPerSecond, from: max(free, now * 1000))
        return (free + 999) / 1000
    }

    /// How many of so many bytes may leave now, so that the wire is never more than one millisecond ahead.
    mutating func room(for count: Int, now: UInt64) -> Int {
        guard let bytesPerSecond else { return count }
        guard free <= now * 1000 else { return 0 }
        let room = min(count, max(1, Int(bytesPerSecond / 500)))
        carry(room, bytesPerSecond, from: max(free, now * 1000 - 1000))
        return room
    }

    private mutating func carry(_ count: Int, _ bytesPerSecond: UInt64, from start: UInt64) {
        free = start + UInt64(count) * 1_000_000 / bytesPerSecond
        last = start..<free
        bytes += count
    }

    /// When more may leave.
    var due: UInt64? { bytesPerSecond == nil ? nil : (free + 999) / 1000 }
}

/// How long a wire with two directions has carried anything: an echo that comes while a command is still typed counts once.
struct WireLoad {
    /// In microseconds.
    private(set) var busy: UInt64 = 0
    private var end: UInt64 = 0

    mutating func add(_ span: Range<UInt64>) {
        guard span.upperBound > end else { return }
        busy += span.upperBound - max(span.lowerBound, end)
        end = span.upperBound
    }
}
