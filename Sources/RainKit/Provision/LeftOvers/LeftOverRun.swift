// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainMaker

/// Finishes at the cloud what one earlier run left. A run of its own: it knows nothing of the board at hand.
struct LeftOverRun: Sendable {
    enum Outcome {
        case confirmed
        /// The cloud has refused it for good.
        case abandoned
        /// The cloud has not heard of the board yet.
        case waiting(LeftOver)
        case unreachable(LeftOver, AccountError)
    }

    private let context: RunContext
    private let leftOver: LeftOver
    private let conversation: MappingConversation

    init(_ leftOver: LeftOver, cloud: Onboarder.Cloud, context: RunContext) {
        self.context = context
        self.leftOver = leftOver
        conversation = context.conversation(about: leftOver.mapping, hold: leftOver.hold, with: cloud)
    }

    /// Asks the cloud once, and until `end` where it has only just been told.
    func finish(until end: Duration) async throws(StepFailure) -> Outcome {
        context.status.update { $0.mapping = conversation }
        defer { context.status.update { $0.mapping = nil } }
        do throws(StepFailure) {
            return try await ask(until: end)
        } catch {
            if conversation.leftOver != nil { context.status.update { $0.hasLeftOver = true } }
            throw error
        }
    }

    private func ask(until end: Duration) async throws(StepFailure) -> Outcome {
        var schedule = PollSchedule.cloudStatus
        while true {
            do throws(AccountError) {
                switch try await conversation.ask() {
                case .confirmed:
                    context.tell(.resumed(leftOver.mapping.node))
                    return .confirmed
                case .notYet, .unknown: break
                case .ended(let status): throw AccountError(.rejected, message: status.endedMessage)
                }
            } catch {
                // An error from a proxy or gateway decides nothing.
                if error.isTransient || error.isFromGateway { return .unreachable(rest, error) }
                guard error.isRefusal else { throw StepFailure(error.thatMayBeGivenUp) }
                try await conversation.settle(confirmed: false)
                context.tell(.abandoned(leftOver.mapping.node, error.message))
                return .abandoned
            }
            // Only what the cloud has just been told is worth waiting for.
            guard rest.mapping.proof != leftOver.mapping.proof, context.time.elapsed() < end else {
                return .waiting(rest)
            }
            try await context.pause(schedule.next())
        }
    }

    private var rest: LeftOver { conversation.leftOver ?? leftOver }
}

extension AccountError {
    /// Adds the remedy of giving up the left-over, which otherwise stops every run. Errors that a new sign-in fixes stay as they are.
    fileprivate var thatMayBeGivenUp: AccountError {
        guard ![.expired, .notSignedIn, .notRenewable, .insufficientScope, .cancelled].contains(code) else {
            return self
        }
        var error = self
        error.remedies.append(.forgottenPending)
        return error
    }
}
