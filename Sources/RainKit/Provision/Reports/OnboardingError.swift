// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainMaker
import ESPProvisioning
import RainCore

/// Why a board was not set up, and in which step.
public struct OnboardingError: Error, Sendable, CustomStringConvertible {
    /// Who or what ended the run.
    public enum Cause: Sendable {
        /// The board, the way to it, or its verdict about the Wi-Fi credentials.
        case board(ProvisioningError)
        /// The cloud, or the session with it: nobody signed in, no network, a refusal.
        case account(AccountError)
        /// The time for the run is over.
        case deadline
        /// The cloud ended the mapping without confirming it.
        case mappingRefused(MappingStatus)
        /// The board is on its network and does not report to this cloud: its firmware or its claim belongs to another deployment, or
        /// its network does not let it out.
        case notReported
        /// The board has no cloud certificate yet, and nobody here can give it one.
        case claimNeeded
        /// What later runs have to know could not be kept, or what earlier ones left could not be read.
        case cannotKeepPending(RecordStoreError)
        /// The task was cancelled, or a person was asked and gave up.
        case cancelled
    }

    /// For programs that decide by it; ``message`` is for people.
    public var cause: Cause
    /// The step that the run was in.
    public var step: OnboardingStep
    /// One or two sentences: what happened, and what to try. Never holds a secret.
    public var message: String
    /// Whether the next run can finish the mapping without starting over.
    public var isPendingKept: Bool
    /// Whether the time was too short for the step to tell what holds it up.
    var needsOnlyTime = false

    public init(_ cause: Cause, step: OnboardingStep, message: String, isPendingKept: Bool = false) {
        self.cause = cause
        self.step = step
        self.message = message
        self.isPendingKept = isPendingKept
    }

    /// What the caller can change, where that is known: any one of them helps.
    public var remedies: [Remedy] {
        switch cause {
        case .board(let error): error.remedies
        case .account(let error): error.remedies
        case .claimNeeded: [.claimService, .withoutMapping]
        case .deadline: needsOnlyTime || step.whatHoldsItUp == nil ? [.moreTime] : []
        case .mappingRefused, .notReported, .cannotKeepPending, .cancelled: []
        }
    }

    public var description: String { "\(step.rawValue): \(message)" }
}

extension OnboardingStep {
    /// How long the step may take while all is well. Only then does ``whatHoldsItUp`` apply.
    var usualTime: Duration {
        switch self {
        case .identify: .seconds(2)
        case .connect, .confirm: .seconds(5)
        default: .zero
        }
    }

    /// What to look at when the time is over in this step; nil where only time was missing.
    var whatHoldsItUp: String? {
        switch self {
        case .identify: "The board did not answer; check that it is powered and in provisioning mode."
        case .connect:
            "The board is still trying to join: it may be too far away, or the network may give it no address (DHCP). Move it nearer to "
                + "the access point, check the network's name, and check that the router admits the board."
        case .confirm:
            "The board is on Wi-Fi but has not reported to the cloud: its network may have no internet access, or its firmware or "
                + "its claim belongs to another deployment. In the first case another run finishes what is left."
        default: nil
        }
    }
}
