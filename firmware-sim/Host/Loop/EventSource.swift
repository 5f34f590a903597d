// SPDX-License-Identifier: Apache-2.0

/// Something that the event loop watches over: descriptors, and times at which something is due.
protocol EventSource: AnyObject {
    /// The descriptors to wait for now, with the events of `poll(2)`.
    var interests: [Interest] { get }
    /// When ``wake(now:)`` wants to be called at the latest, in milliseconds of ``MonotonicClock``.
    var due: UInt64? { get }
    /// One of the descriptors is ready.
    func ready(_ descriptor: Int32, events: Int16, now: UInt64)
    /// Called in each pass of the loop, whatever happened.
    func wake(now: UInt64)
    /// Gives back what the system does not release by itself.
    func shutDown()
}

struct Interest: Equatable {
    var descriptor: Int32
    var events: Int16
}
