// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc

/// How a wait for descriptors ended.
package enum PollOutcome: Sendable, Equatable {
    /// At least one entry has an event.
    case ready
    /// The deadline came first.
    case timedOut
    /// The system's error (`poll(2)`): out of memory, or more descriptors than the process may have.
    case failed(Int32)
}

/// Blocks the thread until one of the descriptors is ready or the deadline comes. A signal does not end the wait.
///
/// - Parameter deadline: nil to wait without end. A past deadline does not wait.
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
        // A wait that is longer than poll(2) supports ends early.
        if let deadline, deadline.isOver { return .timedOut }
    }
}

/// Blocks the thread until one descriptor is ready or the deadline comes.
///
/// - Returns: whether there was an event before the deadline; an error counts as one.
package func pollDescriptor(
    _ descriptor: Int32, for events: PollEvents, until deadline: MonotonicDeadline? = nil
) -> Bool {
    var entries = [PollEntry(descriptor, for: events)]
    return pollDescriptors(&entries, until: deadline) == .ready
}

/// The events that a descriptor is polled for, or that were found.
package struct PollEvents: OptionSet, Sendable, Hashable {
    package let rawValue: Int16

    package init(rawValue: Int16) { self.rawValue = rawValue }
    private init(_ events: Int32) { self.init(rawValue: Int16(truncatingIfNeeded: events)) }

    package static let readable = PollEvents(POLLIN)
    package static let writable = PollEvents(POLLOUT)
    /// The other end is gone. Found even if not requested, like ``failed``.
    package static let hungUp = PollEvents(POLLHUP)
    /// The descriptor has an error or is invalid.
    package static let failed = PollEvents(POLLERR | POLLNVAL)
    /// A read does not block: there are bytes, the end, or an error.
    package static let input: PollEvents = [.readable, .hungUp, .failed]
}

/// One descriptor to wait for.
package struct PollEntry: Sendable {
    /// An entry with a negative or nil descriptor is skipped.
    package var descriptor: Int32?
    package var events: PollEvents
    /// The events that the last ``pollDescriptors(_:until:)`` found.
    package internal(set) var found: PollEvents = []

    package init(_ descriptor: Int32?, for events: PollEvents) {
        self.descriptor = descriptor
        self.events = events
    }

    package static func readable(_ descriptor: Int32?) -> PollEntry { PollEntry(descriptor, for: .readable) }
    package static func writable(_ descriptor: Int32?) -> PollEntry { PollEntry(descriptor, for: .writable) }

    /// Whether there was an event; an error counts as one.
    package var isReady: Bool { !found.isEmpty }
}

/// A moment of `CLOCK_MONOTONIC` at which a thread's wait ends.
package struct MonotonicDeadline: Sendable, Hashable, Comparable {
    /// In the units of ``monotonicMicroseconds()``.
    package var microseconds: UInt64

    package init(microseconds: UInt64) { self.microseconds = microseconds }

    /// Returns the moment after a duration from now. A negative duration gives now; an endless one gives centuries from now.
    package static func after(_ duration: Duration) -> MonotonicDeadline {
        let (seconds, attoseconds) = duration.components
        let left = max(0, min(seconds, 1 << 40)) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
        return MonotonicDeadline(microseconds: monotonicMicroseconds() + UInt64(left))
    }

    package static func after(milliseconds: Int64) -> MonotonicDeadline { after(.milliseconds(milliseconds)) }

    package var isOver: Bool { microseconds <= monotonicMicroseconds() }

    /// The time until the deadline; zero once it is over.
    package var left: Duration {
        let now = monotonicMicroseconds()
        return now >= microseconds ? .zero : .microseconds(Int64(clamping: microseconds - now))
    }

    package static func < (left: MonotonicDeadline, right: MonotonicDeadline) -> Bool {
        left.microseconds < right.microseconds
    }

    /// For `poll(2)`: rounded up, so that the thread does not wake up just before the deadline.
    var pollMilliseconds: Int32 {
        let now = monotonicMicroseconds()
        return now >= microseconds ? 0 : Int32(clamping: (microseconds - now + 999) / 1000)
    }
}

/// Returns the microseconds of `CLOCK_MONOTONIC`, which cannot be set.
package func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
}

/// Returns the milliseconds of `CLOCK_MONOTONIC`.
package func monotonicMilliseconds() -> Int64 { Int64(monotonicMicroseconds() / 1000) }

/// Wakes a thread that polls descriptors, from any other thread.
///
/// It works like a pipe to oneself, but needs only one descriptor (eventfd(2)). Handlers of signals have pipes of their own, because a
/// handler may only use a number that was stored before (signal-safety(7)).
package final class WakePipe: Sendable {
    /// Readable from ``ring()`` until ``drain()``. Poll it together with the other descriptors.
    package let reader: Int32

    /// Returns nil if the system could not create the descriptor; `errno` has the reason.
    package init?() {
        // The flags of eventfd(2) have the values of those of open(2).
        reader = eventfd(0, O_CLOEXEC | O_NONBLOCK)
        guard reader >= 0 else { return nil }
    }

    // The thread that rings and the one that polls both hold the object, so the descriptor is not closed while either uses it.
    deinit { if reader >= 0 { close(reader) } }

    package func ring() {
        var one: UInt64 = 1
        _ = write(reader, &one, MemoryLayout<UInt64>.size)
    }

    package func drain() {
        var rings: UInt64 = 0
        _ = read(reader, &rings, MemoryLayout<UInt64>.size)
    }
}
