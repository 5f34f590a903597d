// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc

/// How a wait for descriptors ended.
package enum PollOutcome: Sendable, Equatable {
    /// At least one entry has found something.
    case ready
    /// The deadline came first.
    case timedOut
    /// The system's error (`poll(2)`): out of memory, or more descriptors than the process may have.
    case failed(Int32)
}

/// Blocks the thread until one of the descriptors is ready or the deadline comes; a signal in between changes nothing.
///
/// - Parameter deadline: nil to wait without end; one that is over only looks.
package func pollDescriptors(_ entries: inout [PollEntry], until deadline: MonotonicDeadline? = nil) -> PollOutcome {
    var polled = entries.map { pollfd(fd: $0.descriptor ?? -1, events: $0.events.rawValue, revents: 0) }
    while true {
        let count = poll(&polled, nfds_t(polled.count), deadline?.pollMilliseconds ?? -1)
        guard count >= 0 else {
            if errno == EINTR || errno == EAGAIN { continue }
            return .failed(errno)
        }
        for index in entries.indices { entries[index].found = PollEvents(rawValue: polled[index].revents) }
        if count > 0 { return .ready }
        // A wait longer than poll(2) can be told of ends early.
        if let deadline, deadline.isOver { return .timedOut }
    }
}

/// The same for one descriptor.
///
/// - Returns: whether anything was found, be it an error, before the deadline.
package func pollDescriptor(
    _ descriptor: Int32, for events: PollEvents, until deadline: MonotonicDeadline? = nil
) -> Bool {
    var entries = [PollEntry(descriptor, for: events)]
    return pollDescriptors(&entries, until: deadline) == .ready
}

/// What a descriptor is polled for, or what was found.
package struct PollEvents: OptionSet, Sendable, Hashable {
    package let rawValue: Int16

    package init(rawValue: Int16) { self.rawValue = rawValue }
    private init(_ events: Int32) { self.init(rawValue: Int16(truncatingIfNeeded: events)) }

    package static let readable = PollEvents(POLLIN)
    package static let writable = PollEvents(POLLOUT)
    /// The other end is gone. Found also where it was not asked for, as is ``failed``.
    package static let hungUp = PollEvents(POLLHUP)
    /// The descriptor has an error, or is none.
    package static let failed = PollEvents(POLLERR | POLLNVAL)
    /// A read does not block: there are bytes, the end, or an error to be found.
    package static let input: PollEvents = [.readable, .hungUp, .failed]
}

/// One descriptor to wait for.
package struct PollEntry: Sendable {
    /// Left out where it is negative or nil.
    package var descriptor: Int32?
    package var events: PollEvents
    /// What the last ``pollDescriptors(_:until:)`` found.
    package internal(set) var found: PollEvents = []

    package init(_ descriptor: Int32?, for events: PollEvents) {
        self.descriptor = descriptor
        self.events = events
    }

    package static func readable(_ descriptor: Int32?) -> PollEntry { PollEntry(descriptor, for: .readable) }
    package static func writable(_ descriptor: Int32?) -> PollEntry { PollEntry(descriptor, for: .writable) }

    /// Whether anything was found, be it an error.
    package var isReady: Bool { !found.isEmpty }
}

/// A moment of `CLOCK_MONOTONIC`, at which a wait of a thread is over.
package struct MonotonicDeadline: Sendable, Hashable, Comparable {
    /// As ``monotonicMicroseconds()`` counts them.
    package var microseconds: UInt64

    package init(microseconds: UInt64) { self.microseconds = microseconds }

    /// So long from now on; at once where the duration is negative, and centuries from now where it is endless.
    package static func after(_ duration: Duration) -> MonotonicDeadline {
        let (seconds, attoseconds) = duration.components
        let left = max(0, min(seconds, 1 << 40)) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
        return MonotonicDeadline(microseconds: monotonicMicroseconds() + UInt64(left))
    }

    package static func after(milliseconds: Int64) -> MonotonicDeadline { after(.milliseconds(milliseconds)) }

    package var isOver: Bool { microseconds <= monotonicMicroseconds() }

    /// What is left of it; zero once it is over.
    package var left: Duration {
        let now = monotonicMicroseconds()
        return now >= microseconds ? .zero : .microseconds(Int64(clamping: microseconds - now))
    }

    package static func < (left: MonotonicDeadline, right: MonotonicDeadline) -> Bool {
        left.microseconds < right.microseconds
    }

    /// For `poll(2)`: rounded up, so that nobody wakes up just before the time.
    var pollMilliseconds: Int32 {
        let now = monotonicMicroseconds()
        return now >= microseconds ? 0 : Int32(clamping: (microseconds - now + 999) / 1000)
    }
}

/// Microseconds of `CLOCK_MONOTONIC`, which nobody sets.
package func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
}

/// The same in milliseconds.
package func monotonicMilliseconds() -> Int64 { Int64(monotonicMicroseconds() / 1000) }

/// Wakes a thread that polls descriptors, from any other.
package final class WakePipe: Sendable {
    /// Readable from ``ring()`` on, until ``drain()``: to be polled beside what is waited for.
    package let reader: Int32
    private let writer: Int32

    /// Nil where the system gives no pipe, and says why in `errno`.
    package init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return nil }
        (reader, writer) = (ends[0], ends[1])
    }

    // The thread that rings and the one that polls both hold the pipe, so it is not closed under either.
    deinit {
        close(reader)
        close(writer)
    }

    package func ring() {
        var byte: UInt8 = 1
        // A full pipe rings as well as another byte in it.
        _ = write(writer, &byte, 1)
    }

    package func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(reader, &bytes, bytes.count) == bytes.count {}
    }
}
