// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// Checks what every `ClaimedBoardStore` promises. Run it on a new store before a program relies on it.
///
///     try await ClaimedBoardStoreConformance.check {
///         ClaimedBoardStoreConformance.Subject(MyStore(at: emptyPlace), other: MyStore(at: emptyPlace))
///     }
public enum ClaimedBoardStoreConformance {
    /// A store to be checked, on an empty place of its own.
    public struct Subject: Sendable {
        /// The store that is checked; it must be empty.
        public var store: any ClaimedBoardStore
        /// A second store on the same place, as another process would have it; nil if no other process can share it.
        public var other: (any ClaimedBoardStore)?

        public init(_ store: any ClaimedBoardStore, other: (any ClaimedBoardStore)? = nil) {
            self.store = store
            self.other = other
        }
    }

    /// Runs all checks, each on a subject of its own; throws the first ``RecordStoreFailure``, or what the store throws.
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
