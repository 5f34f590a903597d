// SPDX-License-Identifier: Apache-2.0
import Glibc

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
