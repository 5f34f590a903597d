// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainKit
import RainMaker

/// Checks what every `PendingMappingStore` promises. Run it on a new store before a program relies on it.
///
///     try await PendingMappingStoreConformance.check {
///         PendingMappingStoreConformance.Subject(MyStore(at: emptyPlace), other: MyStore(at: emptyPlace))
///     }
public enum PendingMappingStoreConformance {
    /// A store to be checked, on an empty place of its own.
    public struct Subject: Sendable {
        /// The store that is checked; it must be empty.
        public var store: any PendingMappingStore
        /// A second store on the same place, as another process would have it; nil if no other process can share it.
        public var other: (any PendingMappingStore)?

        public init(_ store: any PendingMappingStore, other: (any PendingMappingStore)? = nil) {
            self.store = store
            self.other = other
        }

        var both: [any PendingMappingStore] { [store, other ?? store] }
    }

    /// Runs all checks, each on a subject of its own; throws the first ``RecordStoreFailure``, or what the store throws.
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

    // MARK: What is stored

    private static func contents(_ subject: Subject) async throws {
        let promise = "a mapping comes back with everything that is in it"
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
        let promise = "what one run holds no other gets, until it is released"
        for (holder, asking) in [(0, 1), (1, 0), (0, 0)] {
            var hold = try await subject.both[holder].hold(node: node(1))
            guard hold != nil else { throw RecordStoreFailure(promise: promise, detail: "a free one is not to be had") }
            if try await subject.both[asking].hold(node: node(1)) != nil {
                throw RecordStoreFailure(promise: promise, detail: "two have it")
            }
            guard try await subject.both[asking].hold(node: node(2)) != nil else {
                throw RecordStoreFailure(promise: promise, detail: "another node's is not to be had")
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
        let promise = "of many that ask for a hold at once one gets it"
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
