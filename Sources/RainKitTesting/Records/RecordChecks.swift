// SPDX-License-Identifier: Apache-2.0

/// What stores of records of any kind promise. Two handles are on the same place, as two processes would have them.
struct RecordChecks<Record: Equatable & Sendable>: Sendable {
    struct Handle: Sendable {
        var all: @Sendable () async throws -> [Record]
        var save: @Sendable (Record) async throws -> Void
        var remove: @Sendable (Record) async throws -> Void
    }

    var one: Handle
    var other: Handle
    /// The record of that number.
    var record: @Sendable (Int) -> Record
    /// Another record in the place of that number's.
    var replacement: @Sendable (Int) -> Record

    static var all: [@Sendable (Self) async throws -> Void] {
        [
            { try await $0.order() }, { try await $0.replacing() }, { try await $0.removing() },
            { try await $0.concurrency() }, { try await $0.reading() }, { try await $0.cancellation() },
        ]
    }

    private func order() async throws {
        let promise = "what was saved comes back unchanged, in the order of saving"
        try await expect([], promise)
        for number in 1...3 {
            try await [one, other][number % 2].save(record(number))
            try await expect((1...number).map(record), promise)
        }
    }

    private func replacing() async throws {
        let promise = "what is saved again replaces what was there, behind all others"
        for number in 1...3 { try await one.save(record(number)) }
        try await other.save(replacement(2))
        try await expect([record(1), record(3), replacement(2)], promise)
        try await one.save(replacement(2))
        try await expect([record(1), record(3), replacement(2)], promise)
    }

    private func removing() async throws {
        let promise = "removing removes that one only, and nothing where there is none"
        try await one.remove(record(1))
        try await expect([], promise)
        for number in 1...3 { try await one.save(record(number)) }
        for _ in 0..<2 {
            try await other.remove(record(2))
            try await expect([record(1), record(3)], promise)
        }
        for number in [1, 3] { try await one.remove(record(number)) }
        try await expect([], promise)
    }

    private func concurrency() async throws {
        let promise = "many that save and remove at once lose nothing"
        let count = 24
        try await atOnce(count) { try await $1.save(record($0)) }
        try await expect((0..<count).map(record), promise, inOrder: false)
        try await atOnce(count) { number, handle in
            if number.isMultiple(of: 2) {
                try await handle.remove(record(number))
            } else {
                try await handle.save(replacement(number))
            }
        }
        try await expect(
            (0..<count).filter { !$0.isMultiple(of: 2) }.map(replacement), promise, inOrder: false)
    }

    private func reading() async throws {
        let promise = "a reader meets whole records while others are at work"
        try await one.save(record(0))
        try await atOnce(16) { number, handle in
            guard number.isMultiple(of: 2) else { return try await handle.save(record(number)) }
            let found = try await handle.all()
            guard found.first == record(0), found.allSatisfy((0..<16).map(record).contains) else {
                throw RecordStoreFailure(promise: promise, detail: "\(found)")
            }
        }
    }

    private func cancellation() async throws {
        let promise = "a call from a cancelled task does its work"
        try await cancelled { try await one.save(record(1)) }
        try await expect([record(1)], promise)
        try await cancelled {
            guard try await one.all() == [record(1)] else {
                throw RecordStoreFailure(promise: promise, detail: "it reads something else")
            }
        }
        try await cancelled { try await one.remove(record(1)) }
        try await expect([], promise)
    }

    // MARK: Steps

    /// Calls `body` that many times at once, every other time with the other handle.
    private func atOnce(_ count: Int, _ body: @escaping @Sendable (Int, Handle) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { try await body(number, [one, other][number / 2 % 2]) }
            }
            try await group.waitForAll()
        }
    }

    private func expect(_ expected: [Record], _ promise: String, inOrder: Bool = true) async throws {
        for (handle, name) in [(one, "the store"), (other, "another store on the same place")] {
            let found = try await handle.all()
            let isRight =
                inOrder ? found == expected : found.count == expected.count && expected.allSatisfy(found.contains)
            guard isRight else {
                throw RecordStoreFailure(promise: promise, detail: "expected \(expected) from \(name), got \(found)")
            }
        }
    }
}

/// Runs `body` in a task that has been cancelled.
func cancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await body()
    }
    try await task.value
}
