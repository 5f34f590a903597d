// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import Logging
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import RainMaker
import RainPrivateFiles
import Synchronization
import TestSupport
import Testing

@Suite("Stores on a slow disk")
struct SlowDiskTests {
    private static let boards = 64

    /// A gateway has one store for all boards, whose calls wait for each other. With stores of their own all wait at once.
    enum Stores: CaseIterable { case shared, own }

    @Test("64 onboardings that wait for the disk block no thread that runs tasks", arguments: Stores.allCases)
    func manyAtOnce(stores: Stores) async throws {
        let disk = SlowDisk()
        let resuming = Count()
        let results: [Result<OnboardedNode, RainKitError>] = try await withTemporaryFolder { folder in
            let pending = FilePendingMappings(path: folder.file("pending.json")) { disk.access() }
            let claimed = FileClaimedBoards(path: folder.file("claimed.json")) { disk.access() }
            return await withTaskGroup(of: Result<OnboardedNode, RainKitError>?.self) { group in
                for number in 0..<Self.boards {
                    group.addTask {
                        await Self.onboard(
                            number,
                            stores == .shared
                                ? pending
                                : FilePendingMappings(path: folder.file("pending-\(number).json")) { disk.access() },
                            stores == .shared
                                ? claimed
                                : FileClaimedBoards(path: folder.file("claimed-\(number).json")) { disk.access() }
                        ) { event in
                            if event.step == .resume, case .started = event.state {
                                resuming.add()
                            }
                        }
                    }
                }
                // One more task: it sees all others wait only if they leave it a thread to run on.
                group.addTask {
                    let waiting = stores == .shared ? 1 : Self.boards
                    while resuming.value < Self.boards || disk.waiting < waiting, !disk.gaveUp {
                        try? await Task.sleep(for: .milliseconds(1))
                    }
                    disk.release()
                    return nil
                }
                return await group.reduce(into: []) { all, result in if let result { all.append(result) } }
            }
        }
        #expect(!disk.gaveUp, "not all came as far as the disk while none of them could go on")
        #expect(disk.accessesOfTasks == 0)
        let others = results.filter { $0.value?.mapping != .confirmed || $0.value?.claimed != true }
        #expect(results.count == Self.boards && others.isEmpty, "\(others)")
    }

    private static func onboard(
        _ number: Int, _ pending: any PendingMappingStore, _ claimed: any ClaimedBoardStore,
        report: @escaping @Sendable (OnboardingEvent) -> Void
    ) async -> Result<OnboardedNode, RainKitError> {
        // Nobody moves this clock, so no time passes while the disk is slow.
        let clock = ManualClock()
        let node = NodeID("node-\(number)")
        let cloud = ScriptedCloud(claimedNode: node)
        let connection = Onboarder.Cloud(mapping: cloud, claiming: cloud, pending: pending, claimed: claimed) {
            () async throws(AccountError) in try await cloud.user()
        }
        let onboarder = Onboarder(
            board: UnopenedBoard(ScriptedBoard(clock, name: node, needsClaim: true)), cloud: connection,
            time: Timekeeper(clock),
            logger: Logger(label: "test"), randomBytes: { [UInt8](repeating: UInt8(number), count: $0) })
        do throws(RainKitError) {
            return .success(try await onboarder.run(OnboardingRequest(network: .given(Scene.home)), report: report))
        } catch {
            return .failure(error)
        }
    }

    private static func mapping(_ number: Int) -> PendingMapping {
        PendingMapping(
            node: NodeID("node-\(number)"), user: UserID("user-1"),
            proof: .signature([1], request: RequestID("request-1")), stage: .applied, peer: "p")
    }

    @Test("while another process keeps a file's lock, all waiting calls give up together, and the next succeeds")
    func locked() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("state/pending.json")
            try await FilePendingMappings(path: path).save(Self.mapping(0))
            // The first of six waits for the lock only once all have begun, so that the rest come within its time.
            let arrived = Count()
            let store = FilePendingMappings(path: path) { while arrived.value < 6 { usleep(1000) } }
            let lock = try #require(try PrivateFolder.open(folder.file("state"), create: false))
                .lock(".pending.json.lock")
            #expect(try lock.take())
            let failures = await withTaskGroup(of: RecordStoreError?.self) { group in
                for number in 1...6 {
                    group.addTask {
                        arrived.add()
                        do throws(RecordStoreError) {
                            try await store.save(Self.mapping(number))
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                var failures = 0
                for await failure in group where failure != nil {
                    // From now on the waiting calls would get the lock.
                    lock.release()
                    failures += 1
                }
                return failures
            }
            #expect(failures == 6)
            #expect(try await store.all() == [Self.mapping(0)])
            try await store.save(Self.mapping(7))
            #expect(try await store.all() == [Self.mapping(0), Self.mapping(7)])
        }
    }
}

private final class Count: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .acquiring) }
    func add() { count.add(1, ordering: .acquiringAndReleasing) }
}

/// Blocks every access until it is released. After that each access takes a while.
private final class SlowDisk: Sendable {
    private struct State {
        var isReleased = false
        var gaveUp = false
        var waiting = 0
        var accessesOfTasks = 0
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock { $0.waiting } }
    /// The number of accesses on threads that were running a task.
    var accessesOfTasks: Int { state.withLock { $0.accessesOfTasks } }
    /// Whether it was not released within a test's time limit.
    var gaveUp: Bool { state.withLock { $0.gaveUp } }

    func release() { state.withLock { $0.isReleased = true } }

    /// Blocks the thread.
    func access() {
        let isTask = withUnsafeCurrentTask { $0 != nil }
        state.withLock { state in
            state.waiting += 1
            if isTask { state.accessesOfTasks += 1 }
        }
        let end = ContinuousClock.now + .seconds(300)
        while !state.withLock({ $0.isReleased }) {
            usleep(1000)
            guard ContinuousClock.now >= end else { continue }
            state.withLock { ($0.isReleased, $0.gaveUp) = (true, true) }
        }
        state.withLock { $0.waiting -= 1 }
        usleep(2000)
    }
}
