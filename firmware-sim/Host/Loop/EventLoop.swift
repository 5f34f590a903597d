// SPDX-License-Identifier: Apache-2.0
import RainIO

/// The one thread of the simulator: waits for descriptors and times, and hands them to their sources.
final class EventLoop {
    private var sources: [any EventSource] = []
    /// Those that nobody asks any more, until the end.
    private var left: [any EventSource] = []
    private var isStopping = false

    func add(_ source: any EventSource) { sources.append(source) }

    /// From now on the others do nothing; what they have open stays so.
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
