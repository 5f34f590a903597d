// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainMaker
import Synchronization

/// What run and cloud say to each other about one mapping, and the copy of it that is kept for a later run.
///
/// The steps that follow the board and those that ask the cloud share it. What is stored is changed by one of them at a time, so that the
/// store has in the end what was said last.
final class MappingConversation: Sendable {
    private struct State {
        var progress: MappingProgress
        /// Keeps other runs away from it.
        var hold: PendingMappingHold?
    }

    private let state: Mutex<State>
    private let storing = AsyncLock()
    private let store: any PendingMappingStore
    let cloud: any NodeMapping
    let time: Timekeeper
    let clock: any WallClock
    let quiet: QuietPeriod
    let logger: Logger

    init(
        about mapping: PendingMapping, hold: PendingMappingHold?, cloud: any NodeMapping,
        store: any PendingMappingStore, time: Timekeeper, clock: any WallClock, quiet: QuietPeriod, logger: Logger
    ) {
        state = Mutex(State(progress: MappingProgress(mapping), hold: hold))
        self.cloud = cloud
        self.store = store
        self.time = time
        self.clock = clock
        self.quiet = quiet
        self.logger = logger
    }

    /// Whether the cloud's confirmation shows that the board is on its network.
    var provesNetwork: Bool { progress.isBySecret && cloud.confirmsReports }

    var progress: MappingProgress { state.withLock { $0.progress } }

    /// What is left for a later run, or for this one when its board answers; nil once the cloud has decided.
    var leftOver: LeftOver? {
        state.withLock { state in state.progress.pending.map { LeftOver(mapping: $0, hold: state.hold) } }
    }

    func update<Result: Sendable>(_ change: @Sendable (inout MappingProgress) -> Result) -> Result {
        state.withLock { change(&$0.progress) }
    }

    /// Changes what is pending, and stores it; nothing where the cloud has decided.
    func keep(_ change: @Sendable (inout PendingMapping) -> Void = { _ in }) async throws(StepFailure) {
        await storing.enter()
        defer { storing.leave() }
        guard let mapping = update({ $0.change(change) }) else { return }
        do throws(RecordStoreError) {
            // The run that had it when the board was associated may have released it.
            if state.withLock({ $0.hold == nil }), let hold = try await store.hold(node: mapping.node) {
                state.withLock { $0.hold = hold }
            }
            try await store.save(mapping)
        } catch {
            throw StepFailure(error)
        }
    }

    /// The cloud has its answer, one way or the other: nothing is left for a later run.
    func settle(confirmed: Bool) async throws(StepFailure) {
        await storing.enter()
        defer { storing.leave() }
        guard let mapping = update({ $0.settle(confirmed: confirmed) }) else { return }
        do throws(RecordStoreError) {
            try await removeOwn(mapping)
        } catch {
            throw StepFailure(error)
        }
        state.withLock { $0.hold = nil }
    }

    /// The run is over, and the cloud has not decided. A secret that a later run cannot use is removed; other runs may have the mapping.
    func end() async {
        await storing.enter()
        defer { storing.leave() }
        if let mapping = progress.pending, mapping.stage == .associated {
            do throws(RecordStoreError) {
                try await removeOwn(mapping)
            } catch {
                logger.debug("a mapping stays in its file", metadata: ["cause": "\(StepFailure(error).message)"])
            }
        }
        state.withLock { $0.hold = nil }
    }

    /// Where another run has associated the same board since, what is stored is that run's.
    private func removeOwn(_ mapping: PendingMapping) async throws(RecordStoreError) {
        guard try await store.all().contains(where: { $0.isSameAssociation(as: mapping) }) else { return }
        try await store.remove(node: mapping.node)
    }
}
