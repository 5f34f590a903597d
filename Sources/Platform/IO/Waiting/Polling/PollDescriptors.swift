// SPDX-License-Identifier: Apache-2.0
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
