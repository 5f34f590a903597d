import Glibc

/// The one thread of the simulator: waits for descriptors and times, and hands them to their sources.
final class EventLoop {
    private var sources: [any EventSource] = []
    private var isStopping = false

    func add(_ source: any EventSource) { sources.append(source) }

    func stop() { isStopping = true }

    /// Runs until ``stop()``, then shuts every source down.
    func run() {
        while !isStopping { turn() }
        for source in sources { source.shutDown() }
    }

    private func turn() {
        var owners: [any EventSource] = []
        var descriptors: [pollfd] = []
        for source in sources {
            for interest in source.interests {
                owners.append(source)
                descriptors.append(pollfd(fd: interest.descriptor, events: interest.events, revents: 0))
            }
        }
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout())
        let now = MonotonicClock.now
        if count > 0 {
            for (owner, descriptor) in zip(owners, descriptors) where descriptor.revents != 0 {
                // An earlier one of this turn may have closed it.
                guard owner.interests.contains(where: { $0.descriptor == descriptor.fd }) else { continue }
                owner.ready(descriptor.fd, events: descriptor.revents, now: now)
            }
        }
        for source in sources { source.wake(now: now) }
    }

    private func timeout() -> Int32 {
        guard let due = sources.compactMap(\.due).min() else { return -1 }
        let now = MonotonicClock.now
        return due <= now ? 0 : Int32(min(due - now, 60_000))
    }
}
