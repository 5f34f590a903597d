// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore
import RainKit
import RainKitTesting
import Synchronization

/// One onboarding with a scripted board and cloud, and a clock that moves whenever all tasks wait.
final class Scene: Sendable {
    let clock = ManualClock()
    let civil = ManualWallClock()
    let pending: InMemoryPendingMappings
    let claimed = InMemoryClaimedBoards()
    private let events = Mutex<[OnboardingEvent]>([])
    /// While the board is watched, the run also waits for the cloud's answer.
    private let isWatching = Atomic(false)

    init(pending: [PendingMapping] = []) { self.pending = InMemoryPendingMappings(pending) }

    static let home = try! WiFiNetwork(ssid: SSID("Home"), passphrase: Secret("correct horse"))

    /// Runs to the end. The deadline is one sleeper. As soon as there is another, nothing else can happen before the nearest of the two, so
    /// the clock is moved there. While the board is watched, both the watch and the question to the cloud have to wait for the clock.
    func run(
        _ board: ScriptedBoard, _ cloud: ScriptedCloud?,
        _ request: OnboardingRequest = OnboardingRequest(network: .given(home)), hasClaimService: Bool = true
    ) async -> Result<OnboardedNode, RainKitError> {
        let connection = cloud.map { cloud in
            Onboarder.Cloud(mapping: cloud, claiming: hasClaimService ? cloud : nil, pending: pending, claimed: claimed)
            {
                () async throws(AccountError) in try await cloud.user()
            }
        }
        let onboarder = Onboarder(
            board: UnopenedBoard(board), cloud: connection, time: Timekeeper(clock), clock: civil,
            logger: Logger(label: "test"),
            randomBytes: { [UInt8](repeating: 7, count: $0) })
        let isDone = Atomic(false)
        async let driver: Void = {
            while !isDone.load(ordering: .acquiring) {
                let isWatching = isWatching.load(ordering: .acquiring)
                let asksCloud = isWatching && board.mapsBySecret && request.mapsToUser && cloud?.hasDecided == false
                if !isWatching || board.isAsleep, clock.sleeperCount >= (asksCloud ? 3 : 2),
                    let next = clock.nextDeadline
                {
                    clock.advance(by: clock.now.duration(to: next))
                }
                await Task.yield()
            }
        }()
        let result: Result<OnboardedNode, RainKitError>
        do {
            result = .success(
                try await onboarder.run(request) { event in
                    switch event.state {
                    case .started: self.isWatching.store(event.step == .connect, ordering: .releasing)
                    case .finished, .deferred: self.isWatching.store(false, ordering: .releasing)
                    case .progress, .failed: break
                    }
                    self.events.withLock { $0.append(event) }
                })
        } catch {
            result = .failure(error)
        }
        isDone.store(true, ordering: .releasing)
        await driver
        return result
    }

    var told: [OnboardingEvent] { events.withLock { $0 } }

    var finishedSteps: [OnboardingStep] {
        events.withLock { $0.compactMap { if case .finished = $0.state { $0.step } else { nil } } }
    }
}

extension Result {
    var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
    var value: Success? { try? get() }
}
