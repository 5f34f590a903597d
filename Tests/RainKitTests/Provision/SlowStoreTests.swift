// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import Testing

@Suite("Stores that take long")
struct SlowStoreTests {
    /// Saves a mapping that the cloud has received later than anything else.
    private struct LateStore: PendingMappingStore {
        let store = InMemoryPendingMappings()

        func all() async -> [PendingMapping] { store.all() }
        func save(_ mapping: PendingMapping) async {
            if mapping.stage == .applied, case .secret(_, _?) = mapping.proof {
                for _ in 0..<1000 { await Task.yield() }
            }
            store.save(mapping)
        }
        func remove(node: NodeID) async { store.remove(node: node) }
        func hold(node: NodeID) async -> PendingMappingHold? { store.hold(node: node) }
    }

    @Test("the board's report is not overwritten by an earlier record of the cloud's part")
    func lastWord() async throws {
        let clock = ManualClock()
        let store = LateStore()
        let cloud = ScriptedCloud(faults: ["status": [.expired]])
        let onboarder = Onboarder(
            board: UnopenedBoard(ScriptedBoard(clock)),
            cloud: Onboarder.Cloud(mapping: cloud, pending: store) {
                () async throws(AccountError) in try await cloud.user()
            },
            time: Timekeeper(clock), logger: Logger(label: "test"),
            randomBytes: { [UInt8](repeating: 7, count: $0) })
        let error = await #expect(throws: RainKitError.self) {
            try await onboarder.run(OnboardingRequest(network: .given(Scene.home))) { _ in }
        }
        #expect(error?.isPendingKept == true)
        let kept = try #require(store.store.all().first)
        #expect(kept.stage == .online)
        guard case .secret(_, RequestID("request-1")) = kept.proof else { return #expect(Bool(false), "\(kept.proof)") }
        // It was released at the end of the run.
        #expect(store.store.hold(node: kept.node) != nil)
    }
}
