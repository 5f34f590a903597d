// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@Suite("Stores for later runs keep the promises of every such store")
struct RecordStoreConformanceTests {
    @Test("files")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let number = Atomic(0)
            try await PendingMappingStoreConformance.check {
                let path = folder.file("state/pending-\(number.add(1, ordering: .relaxed).newValue).json")
                return PendingMappingStoreConformance.Subject(
                    FilePendingMappings(path: path), other: FilePendingMappings(path: path))
            }
            try await ClaimedBoardStoreConformance.check {
                let path = folder.file("state/claimed-\(number.add(1, ordering: .relaxed).newValue).json")
                return ClaimedBoardStoreConformance.Subject(
                    FileClaimedBoards(path: path), other: FileClaimedBoards(path: path))
            }
        }
    }

    @Test("memory")
    func memory() async throws {
        try await PendingMappingStoreConformance.check {
            PendingMappingStoreConformance.Subject(InMemoryPendingMappings())
        }
        try await ClaimedBoardStoreConformance.check { ClaimedBoardStoreConformance.Subject(InMemoryClaimedBoards()) }
    }

    @Test("the checks find a store that breaks one promise", arguments: DefectiveStore.Defect.allCases)
    func defects(defect: DefectiveStore.Defect) async throws {
        await #expect(throws: RecordStoreFailure.self) {
            try await PendingMappingStoreConformance.check {
                PendingMappingStoreConformance.Subject(DefectiveStore(defect))
            }
        }
        guard !defect.concernsHolds else { return }
        await #expect(throws: RecordStoreFailure.self) {
            try await ClaimedBoardStoreConformance.check {
                ClaimedBoardStoreConformance.Subject(DefectiveStore(defect))
            }
        }
    }
}

/// A store that breaks one promise.
final class DefectiveStore: PendingMappingStore, ClaimedBoardStore {
    enum Defect: CaseIterable {
        case forgets, reverses, replacesInPlace, removesAll, overwritesOthers, ignoresTheCancelled
        case sharesHolds, keepsHolds, holdsAll

        var concernsHolds: Bool { [.sharesHolds, .keepsHolds, .holdsAll].contains(self) }
    }

    private let defect: Defect
    private let mappings = Mutex<[PendingMapping]>([])
    private let nodes = Mutex<[NodeID]>([])
    private let holds = InMemoryPendingMappings()
    private let kept = Mutex<[PendingMappingHold]>([])

    init(_ defect: Defect) { self.defect = defect }

    func all() async -> [PendingMapping] { seen(mappings.withLock { $0 }) }
    func save(_ mapping: PendingMapping) async { await change(mappings) { self.save(mapping, \.node, in: &$0) } }
    func remove(node: NodeID) async { await change(mappings) { self.remove(in: &$0) { $0.node == node } } }

    func all() async -> [NodeID] { seen(nodes.withLock { $0 }) }
    func save(_ node: NodeID) async { await change(nodes) { self.save(node, \.self, in: &$0) } }
    func remove(_ node: NodeID) async { await change(nodes) { self.remove(in: &$0) { $0 == node } } }

    func hold(node: NodeID) async -> PendingMappingHold? {
        if defect == .sharesHolds { return PendingMappingHold {} }
        let hold = holds.hold(node: defect == .holdsAll ? NodeID("all") : node)
        if defect == .keepsHolds, let hold { kept.withLock { $0.append(hold) } }
        return hold
    }

    // MARK: Defects

    private func seen<Record>(_ all: [Record]) -> [Record] {
        switch defect {
        case .forgets: []
        case .reverses: all.reversed()
        default: all
        }
    }

    private func change<Record: Sendable>(
        _ records: borrowing Mutex<[Record]>, _ body: (inout [Record]) -> Void
    ) async {
        if defect == .ignoresTheCancelled, Task.isCancelled { return }
        guard defect == .overwritesOthers else { return records.withLock { body(&$0) } }
        // Like a file that is changed without a lock.
        var all = records.withLock { $0 }
        for _ in 0..<10 { await Task.yield() }
        body(&all)
        records.withLock { [all] in $0 = all }
    }

    private func save<Record>(_ record: Record, _ name: (Record) -> NodeID, in all: inout [Record]) {
        if defect == .replacesInPlace, let index = all.firstIndex(where: { name($0) == name(record) }) {
            all[index] = record
        } else {
            all.removeAll { name($0) == name(record) }
            all.append(record)
        }
    }

    private func remove<Record>(in all: inout [Record], _ isMeant: (Record) -> Bool) {
        defect == .removesAll ? all.removeAll() : all.removeAll(where: isMeant)
    }
}
