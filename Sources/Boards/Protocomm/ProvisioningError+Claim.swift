// SPDX-License-Identifier: Apache-2.0

/// How a claim comes to nothing, and what that means for the next: whether the board has to restart first.
extension ProvisioningError {
    /// A claim that is over for the board, or has to be: it is aborted where it is not.
    static func claimFailure(_ why: String, cause: String? = nil) -> ProvisioningError {
        ProvisioningError(
            .claimFailed, message: "The board was not claimed: \(why). Restart the board, then run this again.",
            cause: cause)
    }

    static var unexpectedInClaim: ProvisioningError {
        claimFailure("its answer is not the one that belongs there")
    }

    /// The board begins no claim. Nothing has happened to it.
    static func claimNotTaken(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimFailed,
            message:
                "The board takes no claim now: it has had one since it started, or is still starting. Restart the board, "
                + "then run this again.", cause: cause)
    }

    /// The board has most likely restarted, and then waits for a claim.
    static func claimBrokenOff(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimFailed,
            message:
                "The board was not claimed: it broke off in the middle, as after a restart. Then run this again; if that "
                + "does not help, restart the board first.", cause: cause)
    }

    /// Nobody answered to the last piece of the certificate.
    static func claimEndUnknown(_ code: Code, _ cause: String?) -> ProvisioningError {
        ProvisioningError(
            code,
            message:
                "The connection broke while the board took its certificate, and only a restart tells whether it has it: "
                + "restart the board, then run this again.", cause: cause)
    }

    /// The link broke and can be made again, and the claim begun anew.
    static func claimInterrupted(_ cause: String?) -> ProvisioningError {
        ProvisioningError(
            .claimInterrupted,
            message:
                "The board was not claimed: the connection broke in the middle. Move nearer to the board, then run this "
                + "again.", cause: cause)
    }
}
