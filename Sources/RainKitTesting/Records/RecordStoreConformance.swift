// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainMaker

/// Checks the guarantees of every `PendingMappingStore`. Run it on a new store before a program uses it.
///
///     try await PendingMappingStoreConformance.check {
///         PendingMappingStoreConformance.Subject(MyStore(at: emptyPlace), other: MyStore(at: emptyPlace))
///     }
public enum PendingMappingStoreConformance {
    /// A store to check, on its own empty place.
    public struct Subject: Sendable {
        /// The checked store; it must be empty.
        public var store: any PendingMappingStore
        /// A second store on the same place, like that of another process; nil if no other process can share it.
        public var other: (any PendingMappingStore)?

        public init(_ store: any PendingMappingStore, other: (any PendingMappingStore)? = nil) {
            self.store = store
            self.other = other
        }

        fileprivate var both: [any PendingMappingStore] { [store, other ?? store] }
    }

    /// Runs all checks, each on a separate subject. Throws the first ``RecordStoreFailure``, or the store's error.
    public static func check(_ make: @Sendable () async throws -> Subject) async throws {
        for check in RecordChecks<PendingMapping>.all {
            let subject = try await make()
            try await check(
                RecordChecks(
                    one: handle(subject.both[0]), other: handle(subject.both[1]), record: { mapping($0) },
                    replacement: { mapping($0, stage: .online) }))
        }
        for check in [contents, holds, holdsOfAll, holdsAtOnce] { try await check(try await make()) }
    }

    // MARK: Stored mappings

    private static func contents(_ subject: Subject) async throws {
        let promise = "a mapping comes back with all its members"
        let secret = MappingSecret(randomBytes: [UInt8](0..<16))
        for proof in [
            PendingMapping.Proof.secret(secret, request: nil), .secret(secret, request: RequestID("ü/\"\\ %2F")),
            .signature([UInt8](0...255), request: RequestID("request-1")),
        ] {
            for stage in [PendingMapping.Stage.associated, .applied, .online] {
                var saved = mapping(1, stage: stage)
                saved.proof = proof
                saved.label = stage == .online ? nil : "PROV_ü \u{1F510}"
                saved.notes = MappingNotes(tags: ["room:kitchen", "a:b"], metadata: #"{"x":[1]}"#)
                saved.since = stage == .applied ? nil : UnixTime(seconds: 1_800_000_000.25)
                try await subject.store.save(saved)
                for store in subject.both where try await store.all() != [saved] {
                    throw RecordStoreFailure(
                        promise: promise, detail: "it came back changed in stage \(stage.rawValue)")
                }
            }
        }
    }

    // MARK: Holds

    private static func holds(_ subject: Subject) async throws {
        let promise = "a mapping that one run holds is not available to another, until it is released"
        for (holder, asking) in [(0, 1), (1, 0), (0, 0)] {
            var hold = try await subject.both[holder].hold(node: node(1))
            guard hold != nil else {
                throw RecordStoreFailure(promise: promise, detail: "a free mapping cannot be held")
            }
            if try await subject.both[asking].hold(node: node(1)) != nil {
                throw RecordStoreFailure(promise: promise, detail: "two runs hold it")
            }
            guard try await subject.both[asking].hold(node: node(2)) != nil else {
                throw RecordStoreFailure(promise: promise, detail: "another node's mapping cannot be held")
            }
            withExtendedLifetime(hold) {}
            hold = nil
            guard try await subject.both[asking].hold(node: node(1)) != nil else {
                throw RecordStoreFailure(promise: promise, detail: "it stays held after its release")
            }
        }
    }

    private static func holdsOfAll(_ subject: Subject) async throws {
        let promise = "holding a mapping changes nothing in the store, and nothing in the store ends a hold"
        let hold = try await subject.store.hold(node: node(1))
        try await cancelled {
            guard try await subject.store.hold(node: node(2)) != nil else {
                throw RecordStoreFailure(promise: promise, detail: "a cancelled task gets no hold")
            }
        }
        guard try await subject.both[1].all() == [] else {
            throw RecordStoreFailure(promise: promise, detail: "something is stored")
        }
        try await subject.both[1].save(mapping(1))
        try await subject.both[1].remove(node: node(1))
        if try await subject.both[1].hold(node: node(1)) != nil {
            throw RecordStoreFailure(promise: promise, detail: "it is free after a removal")
        }
        withExtendedLifetime(hold) {}
    }

    private static func holdsAtOnce(_ subject: Subject) async throws {
        let promise = "if many runs request a hold at once, one gets it"
        let holds = try await withThrowingTaskGroup(of: PendingMappingHold?.self) { group in
            for number in 0..<16 {
                group.addTask { try await subject.both[number % 2].hold(node: node(1)) }
            }
            return try await group.reduce(into: []) { all, hold in if let hold { all.append(hold) } }
        }
        guard holds.count == 1 else { throw RecordStoreFailure(promise: promise, detail: "\(holds.count) have it") }
    }

    // MARK: Steps

    private static func node(_ number: Int) -> NodeID { NodeID("node-\(number)") }

    private static func mapping(_ number: Int, stage: PendingMapping.Stage = .applied) -> PendingMapping {
        PendingMapping(
            node: node(number), user: UserID("user-1"),
            proof: .secret(MappingSecret(randomBytes: [UInt8](repeating: UInt8(number), count: 16)), request: nil),
            stage: stage, peer: "/dev/ttyUSB\(number)")
    }

    private static func handle(_ store: any PendingMappingStore) -> RecordChecks<PendingMapping>.Handle {
        RecordChecks.Handle(
            all: { try await store.all() }, save: { try await store.save($0) },
            remove: { try await store.remove(node: $0.node) })
    }
}

/// Checks the guarantees of every `ClaimedBoardStore`. Run it on a new store before a program uses it.
///
///     try await ClaimedBoardStoreConformance.check {
///         ClaimedBoardStoreConformance.Subject(MyStore(at: emptyPlace), other: MyStore(at: emptyPlace))
///     }
public enum ClaimedBoardStoreConformance {
    /// A store to check, on its own empty place.
    public struct Subject: Sendable {
        /// The checked store; it must be empty.
        public var store: any ClaimedBoardStore
        /// A second store on the same place, like that of another process; nil if no other process can share it.
        public var other: (any ClaimedBoardStore)?

        public init(_ store: any ClaimedBoardStore, other: (any ClaimedBoardStore)? = nil) {
            self.store = store
            self.other = other
        }
    }

    /// Runs all checks, each on a separate subject. Throws the first ``RecordStoreFailure``, or the store's error.
    public static func check(_ make: @Sendable () async throws -> Subject) async throws {
        for check in RecordChecks<NodeID>.all {
            let subject = try await make()
            try await check(
                RecordChecks(
                    one: handle(subject.store), other: handle(subject.other ?? subject.store),
                    record: { NodeID("node-\($0)") }, replacement: { NodeID("node-\($0)") }))
        }
    }

    private static func handle(_ store: any ClaimedBoardStore) -> RecordChecks<NodeID>.Handle {
        RecordChecks.Handle(
            all: { try await store.all() }, save: { try await store.save($0) }, remove: { try await store.remove($0) })
    }
}

/// A broken guarantee of a store of pending mappings or claimed boards, and the store's behaviour.
public struct RecordStoreFailure: Error, CustomStringConvertible {
    /// The guarantee, as one sentence.
    public var promise: String
    /// The store's actual behaviour.
    public var detail: String
    public var description: String { "\(promise): \(detail)" }
}

/// The guarantees of stores of any kind of record. Two handles use the same place, as two processes would.
private struct RecordChecks<Record: Equatable & Sendable>: Sendable {
    struct Handle: Sendable {
        var all: @Sendable () async throws -> [Record]
        var save: @Sendable (Record) async throws -> Void
        var remove: @Sendable (Record) async throws -> Void
    }

    var one: Handle
    var other: Handle
    /// Makes the record of that number.
    var record: @Sendable (Int) -> Record
    /// Makes a record that replaces the one of that number.
    var replacement: @Sendable (Int) -> Record

    static var all: [@Sendable (Self) async throws -> Void] {
        [
            { try await $0.order() }, { try await $0.replacing() }, { try await $0.removing() },
            { try await $0.concurrency() }, { try await $0.reading() }, { try await $0.cancellation() },
        ]
    }

    private func order() async throws {
        let promise = "saved records come back unchanged, in the order of saving"
        try await expect([], promise)
        for number in 1...3 {
            try await [one, other][number % 2].save(record(number))
            try await expect((1...number).map(record), promise)
        }
    }

    private func replacing() async throws {
        let promise = "a record that is saved again replaces the old one, and comes after all others"
        for number in 1...3 { try await one.save(record(number)) }
        try await other.save(replacement(2))
        try await expect([record(1), record(3), replacement(2)], promise)
        try await one.save(replacement(2))
        try await expect([record(1), record(3), replacement(2)], promise)
    }

    private func removing() async throws {
        let promise = "removing removes only that record, and nothing if it does not exist"
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
        let promise = "many tasks that save and remove at once lose nothing"
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
        let promise = "a reader gets whole records while others write"
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
                throw RecordStoreFailure(promise: promise, detail: "it reads other records")
            }
        }
        try await cancelled { try await one.remove(record(1)) }
        try await expect([], promise)
    }

    // MARK: Steps

    /// Calls `body` that many times concurrently, every second time with the other handle.
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
private func cancelled(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await body()
    }
    try await task.value
}
