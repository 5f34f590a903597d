// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainAccount
import RainCore

/// What every step is handed: whom to ask, the clocks, and where to tell what happens.
struct RunContext: Sendable {
    let board: any Board
    let request: OnboardingRequest
    let time: Timekeeper
    let clock: any WallClock
    let randomBytes: @Sendable (Int) -> [UInt8]
    let logger: Logger
    let status: RunStatus
    let quiet = QuietPeriod()

    /// Takes one step, and says when it begins and how it ends.
    func perform<Learned>(
        _ step: OnboardingStep, _ body: () async throws(StepFailure) -> Learned
    ) async throws(OnboardingError) -> Learned {
        status.begin(step)
        do throws(StepFailure) {
            guard !Task.isCancelled else { throw .cancelled }
            let learned = try await body()
            status.finish()
            return learned
        } catch {
            let error = status.error(error)
            // Whether somebody cancelled, or the time was over, is known only outside.
            if case .cancelled = error.cause { throw error }
            status.emit(.failed(error))
            throw error
        }
    }

    func ask<Answer: Sendable>(
        _ question: @Sendable (any Board) async throws(ProvisioningError) -> Answer
    ) async throws(StepFailure) -> Answer {
        do throws(ProvisioningError) {
            return try await question(board)
        } catch {
            throw StepFailure(error)
        }
    }

    func pause(_ duration: Duration) async throws(StepFailure) {
        do { try await time.sleep(duration) } catch { throw .cancelled }
    }

    func tell(_ progress: OnboardingProgress) { status.emit(.progress(progress)) }

    func conversation(
        about mapping: PendingMapping, hold: PendingMappingHold? = nil, with cloud: Onboarder.Cloud
    ) -> MappingConversation {
        MappingConversation(
            about: mapping, hold: hold, cloud: cloud.mapping, store: cloud.pending, time: time, clock: clock,
            quiet: quiet, logger: logger)
    }
}
