// SPDX-License-Identifier: Apache-2.0

/// Things that are due at some time, the earliest first; those of the same time in the order in which they were added.
struct TimerQueue<Event: Sendable>: Sendable {
    private struct Entry: Sendable {
        var due: UInt64
        var number: UInt64
        var event: Event

        func isBefore(_ other: Entry) -> Bool { (due, number) < (other.due, other.number) }
    }

    /// A binary heap.
    private var heap: [Entry] = []
    private var nextNumber: UInt64 = 0

    var nextDue: UInt64? { heap.first?.due }
    var count: Int { heap.count }

    mutating func add(_ event: Event, at due: UInt64) {
        heap.append(Entry(due: due, number: nextNumber, event: event))
        nextNumber += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the earliest that is due by `now`.
    mutating func next(until now: UInt64) -> (event: Event, due: UInt64)? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return (first.event, first.due) }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].isBefore(heap[least]) { least = child }
            }
            guard least != parent else { return (first.event, first.due) }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
