// SPDX-License-Identifier: Apache-2.0
import RainKit

/// An onboarding event as `--events ndjson` names it.
struct EventWords {
    let state: String
    let code: ExitStatus
    let detail: String?

    init(_ state: OnboardingEvent.State) {
        (self.state, code, detail) =
            switch state {
            case .started: ("started", .ok, nil)
            case .finished: ("finished", .ok, nil)
            case .deferred(let why): ("deferred", .temporary, why)
            case .progress(let progress): ("progress", .ok, Self.word(progress))
            case .failed(let error): Self.failed(CommandFailure(error))
            }
    }

    private static func failed(_ failure: CommandFailure) -> (String, ExitStatus, String?) {
        ("failed", failure.status, failure.message)
    }

    private static func word(_ progress: OnboardingProgress) -> String {
        switch progress {
        case .identified: "identified"
        case .heard: "heard"
        case .claimInitiated: "claim_initiated"
        case .certificateRequested: "certificate_requested"
        case .claimed: "claimed"
        case .customData: "custom_data_answered"
        case .wifi(.connecting): "connecting"
        case .wifi(.occupied): "occupied"
        case .wifi(.attemptFailed): "attempt_failed"
        case .wifi(.unreachable): "unreachable"
        case .connected: "connected"
        case .resumed: "resumed"
        case .abandoned: "abandoned"
        case .associationLeftOpen: "association_left_open"
        case .waitingForBoard: "waiting_for_board"
        case .waitingForCloud: "waiting_for_cloud"
        case .waitingForNode: "waiting_for_node"
        }
    }
}
