import Account
import ESPProvisioning
import RainMaker

/// Why a board was not set up, and in which step.
public struct OnboardingError: Error, Sendable, CustomStringConvertible {
    public enum Cause: Sendable {
        case board(ProvisioningError)
        case account(AccountError)
        /// The time for the run is over.
        case deadline
        /// The cloud ended the mapping without confirming it.
        case mappingRefused(MappingStatus)
        /// The board has no cloud certificate yet, and nobody here can give it one.
        case claimNeeded
        case cannotKeepPending(RecordStoreError)
        case cancelled
    }

    public var cause: Cause
    public var step: OnboardingStep
    /// One or two sentences: what happened, and what to try. Never holds a secret.
    public var message: String
    /// Whether the next run can finish the mapping without starting over.
    public var isPendingKept: Bool

    public init(_ cause: Cause, step: OnboardingStep, message: String, isPendingKept: Bool = false) {
        self.cause = cause
        self.step = step
        self.message = message
        self.isPendingKept = isPendingKept
    }

    public var description: String { "\(step.rawValue): \(message)" }
}
