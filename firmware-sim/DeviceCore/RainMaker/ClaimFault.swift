// SPDX-License-Identifier: Apache-2.0

/// What goes wrong at the board in one claim. A board may be given several faults; each spoils one claim, in their order.
public enum ClaimFault: Sendable, Equatable {
    /// The step at whose command the board restarts, without an answer.
    public enum Step: Sendable, Equatable {
        case start
        /// The service's reply arrives.
        case initiate
        /// The second fragment of the request is asked for.
        case request
        /// The first fragment of the certificate arrives.
        case certificate
        /// The last one does.
        case lastCertificate
    }

    /// That fragment of the request, counted from 1, is handed out and lost on its way.
    case loseFragment(Int)
    /// The request is longer than any firmware's buffer.
    case oversizeRequest
    /// The request is for another node.
    case wrongRequest
    case reboot(at: Step)
    /// The key is still being made.
    case notReady
}
