// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount

/// Why a step failed. ``RunStatus`` makes the run's error of it, with what it knows beside: in which step, and what is kept.
struct StepFailure: Error {
    var cause: OnboardingError.Cause
    /// Empty for a cancellation, whose message names the step.
    var message: String

    init(_ cause: OnboardingError.Cause, message: String) {
        self.cause = cause
        self.message = message
    }

    init(_ error: ProvisioningError) {
        self = error.code == .cancelled ? .cancelled : StepFailure(.board(error), message: error.message)
    }

    init(_ error: AccountError) {
        self = error.code == .cancelled ? .cancelled : StepFailure(.account(error), message: error.message)
    }

    init(_ error: RecordStoreError) {
        self.init(
            .cannotKeepPending(error),
            message:
                "The pending mapping could not be kept in \(error.path): \(error.message). If the folder is not writable, make "
                + "it so.")
    }

    /// The board takes no settings: where time is over meanwhile.
    static var occupied: StepFailure {
        StepFailure(
            .deadline,
            message: "The time is over, and the board is still trying a network that it was given before; it takes no "
                + "other meanwhile. Restart the board, then run this again.")
    }

    static var cancelled: StepFailure { StepFailure(.cancelled, message: "") }
}
