// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainIO

/// The one thread of the simulator: waits for descriptors and times, and calls their sources.
final class EventLoop {
    private var sources: [any EventSource] = []
    /// The sources that are no longer called, until the end.
    private var left: [any EventSource] = []
    private var isStopping = false

    func add(_ source: any EventSource) { sources.append(source) }

    /// Stops calling the other sources, which keep their open files.
    func keepOnly(_ stays: (any EventSource) -> Bool) {
        left += sources.filter { !stays($0) }
        sources = sources.filter(stays)
    }

    func stop() { isStopping = true }

    /// Runs until ``stop()``, then shuts every source down.
    func run() {
        while !isStopping { turn() }
        for source in sources + left { source.shutDown() }
    }

    private func turn() {
        var owners: [any EventSource] = []
        var descriptors: [PollEntry] = []
        for source in sources {
            for interest in source.interests {
                owners.append(source)
                descriptors.append(PollEntry(interest.descriptor, for: PollEvents(rawValue: interest.events)))
            }
        }
        _ = pollDescriptors(&descriptors, until: deadline)
        let now = MonotonicClock.now
        for (owner, entry) in zip(owners, descriptors) where entry.isReady {
            // An earlier source of this pass may have closed it.
            guard let descriptor = entry.descriptor, owner.interests.contains(where: { $0.descriptor == descriptor })
            else { continue }
            owner.ready(descriptor, events: entry.found.rawValue, now: now)
        }
        for source in sources where sources.contains(where: { $0 === source }) { source.wake(now: now) }
    }

    private var deadline: MonotonicDeadline? {
        guard let due = sources.compactMap(\.due).min() else { return nil }
        let now = MonotonicClock.now
        return .after(milliseconds: due <= now ? 0 : Int64(clamping: due - now))
    }
}

/// A source of events for the loop: descriptors, and due times.
protocol EventSource: AnyObject {
    /// The descriptors to wait for now, with the events of `poll(2)`.
    var interests: [Interest] { get }
    /// The latest time for the next ``wake(now:)``, in milliseconds of ``MonotonicClock``.
    var due: UInt64? { get }
    /// Called when one of the descriptors is ready.
    func ready(_ descriptor: Int32, events: Int16, now: UInt64)
    /// Called in each pass of the loop, whatever happened.
    func wake(now: UInt64)
    /// Releases resources that the system does not release by itself.
    func shutDown()
}

struct Interest: Equatable {
    var descriptor: Int32
    var events: Int16
}

/// Milliseconds since the process began, by a clock that cannot be set.
enum MonotonicClock {
    private static let start = read()

    static var now: UInt64 {
        // Before the reading, because it is made at its first use and the clock advances meanwhile.
        let start = start
        return read() - start + 1
    }

    /// Converts `microseconds` of the system's own clock to this clock.
    static func milliseconds(atMicroseconds microseconds: UInt64) -> UInt64 {
        let milliseconds = microseconds / 1000 + 1
        return milliseconds <= start ? 0 : milliseconds - start + 1
    }

    private static func read() -> UInt64 { UInt64(monotonicMilliseconds()) }
}

/// Ends the loop on SIGTERM, SIGINT and SIGHUP and, if requested, when the parent process has ended.
final class TerminationSignals: EventSource {
    private let reading: Int32
    private let parent: pid_t?
    private let stop: () -> Void

    /// - Parameter watchesParent: checks every half second whether the process that started this one still exists.
    init(watchesParent: Bool, stop: @escaping () -> Void) {
        self.stop = stop
        parent = watchesParent ? getppid() : nil
        var ends: [Int32] = [-1, -1]
        precondition(pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0, "no pipe")
        reading = ends[0]
        signalPipe = ends[1]
        for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, tellSignal) }
        signal(SIGPIPE, SIG_IGN)
    }

    var interests: [Interest] { [Interest(descriptor: reading, events: Int16(POLLIN))] }
    var due: UInt64? { parent == nil ? nil : MonotonicClock.now + 500 }
    func ready(_ descriptor: Int32, events: Int16, now: UInt64) { stop() }
    func wake(now: UInt64) { if let parent, getppid() != parent { stop() } }
    func shutDown() {}
}

/// Written once before any signal can arrive, read only by the handler.
nonisolated(unsafe) private var signalPipe: Int32 = -1

private func tellSignal(_ number: Int32) {
    var byte: UInt8 = 1
    _ = write(signalPipe, &byte, 1)
}

/// Runs a call that may block for long on its own thread. A descriptor becomes readable when the call ends.
///
/// The process does not wait at its end for a call that is still running.
final class BackgroundCall {
    /// Readable once the call is over; nil unless a call is running. A process has many boards, and few descriptors.
    private(set) var descriptor: Int32?

    /// The thread's objects: the call, and its end of the pipe, which is closed when the call is over.
    private final class Work: Sendable {
        let body: @Sendable () -> Int32
        let writing: Int32

        init(writing: Int32, body: @escaping @Sendable () -> Int32) {
            self.writing = writing
            self.body = body
        }

        deinit { close(writing) }
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Begins the call. Returns false if the system has no descriptor or no thread for it; `errno` has the reason.
    func start(_ body: @escaping @Sendable () -> Int32) -> Bool {
        precondition(descriptor == nil, "a call is under way")
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { return false }
        let work = Work(writing: ends[1], body: body)
        let code = startThread {
            var outcome = Outcome(result: work.body(), error: errno)
            _ = write(work.writing, &outcome, MemoryLayout<Outcome>.size)
        }
        guard code == 0 else {
            close(ends[0])
            errno = code
            return false
        }
        descriptor = ends[0]
        return true
    }

    /// Returns the result of the finished call, and restores its `errno`. Call it once, when the descriptor is readable.
    func result() -> Int32 {
        guard let descriptor else { preconditionFailure("no call is under way") }
        var outcome = Outcome(result: 0, error: 0)
        while read(descriptor, &outcome, MemoryLayout<Outcome>.size) < 0, errno == EINTR {}
        close(descriptor)
        self.descriptor = nil
        errno = outcome.error
        return outcome.result
    }

    private struct Outcome {
        var result: Int32
        var error: Int32
    }
}

/// The number of descriptors that the process may have open. A shell's default is enough for a few hundred boards with their connections.
enum DescriptorLimit {
    /// Raises the limit to the system's maximum. If that fails it stays unchanged, and boards without a free descriptor try again.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
