// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainCore

extension ProvisioningError {
    /// Converts a session's error for the board that is being set up.
    init(_ error: ProtocommError) {
        let code: Code
        var message = error.message
        var remedies: [Remedy] = []
        switch error.code {
        case .unreachable:
            code = error.hasAnswered ? .deviceLost : .unavailable
            if error.cause?.reason == "not_a_board" { remedies = [.host] }
        case .busy: code = .busy
        // The only evidence of another client is broken connections.
        case .evicted where error.cause?.reason == "connection_taken":
            code = .deviceLost
            message =
                "The connection to the board at \(error.peer) broke each time. Check its power and distance, and that no other program "
                + "talks to it, then run this again."
        case .evicted:
            code = .busy
            message =
                "Another client is talking to the board at \(error.peer), which serves one at a time. End the other program (an app on "
                + "a phone, another computer), then run this again."
        case .neverAnswered: code = .neverAnswered
        case .refused where !error.hasAnswered: code = .neverAnswered
        case .lost where error.cause?.reason == TransportError.portGone:
            code = .deviceLost
            message =
                "The port \(error.peer) was removed: its cable was unplugged, or the board's USB device disappeared. Check the cable, then run this again."
        // This machine's end of the link failed; the board may be fine.
        case .lost where error.cause?.reason == "radio_lost": code = .deviceLost
        case .timeout where error.cause?.reason == TransportError.answerCut: code = .deviceLost
        case .timeout, .lost:
            code = .deviceLost
            message = "The board at \(error.peer) stopped answering. Check its power and distance, then run this again."
        case .wrongProofOfPossession: code = .wrongProofOfPossession
        case .securityMismatch: code = .securityMismatch
        case .noSuchEndpoint: code = .unsupported
        case .tooLong:
            code = .unsupported
            remedies = [.accessPoint]
        case .cancelled: code = .cancelled
        case .ended: code = .cancelled
        case .refused: code = .rejected
        default: code = .malformed
        }
        let hasReason =
            [.unreachable, .evicted].contains(error.code)
            || error.cause?.reason == TransportError.portGone
        self.init(
            code, message: message, cause: error.description,
            reason: hasReason ? error.cause?.reason : nil, remedies: remedies)
        isOfThisMachine = error.cause?.reason.map(Self.reasonsOfThisMachine.contains) ?? false
        if error.code == .cancelled, error.cause?.reason == TransportError.answerCut {
            unfinished = "the server at \(error.peer) began an answer and did not finish it"
        }
    }

    /// The transports' codes for errors of this machine.
    private static let reasonsOfThisMachine: Set<String> = [
        "radio_lost", "no_bus", "no_bluez", "no_adapter", "powered_off", "blocked", "access_denied",
    ]

    /// The board refuses a proof that it accepted before, or no longer has an endpoint that all boards have.
    ///
    /// Firmware frees its copy of the proof when it schedules the end of its service, and serves for another second. It does so after a
    /// client has read that the board is connected, 30 s after that, or after the fifth wrong proof (`network_prov_mgr_stop_service`).
    static func leaving(_ peer: String, _ error: ProtocommError) -> ProvisioningError {
        var leaving = ProvisioningError(
            .deviceLost,
            message:
                "The board at \(peer) is ending its provisioning service, as it does once it is on a network or has refused five proofs of "
                + "possession. Look for it in your account; if it is not there, restart it and run this again.",
            cause: error.description)
        leaving.isLeaving = true
        return leaving
    }

    /// Whether the board may have performed the request although no answer arrived.
    var mayBeLostAnswer: Bool { !isLeaving && (code == .deviceLost || code == .rejected) }

    static func unexpectedAnswer(on endpoint: Endpoint) -> ProvisioningError {
        ProvisioningError(
            .malformed,
            message:
                "The board's answer on \(endpoint) does not match the request. Restart the board, then run this "
                + "again.")
    }

    static func rejected(_ what: String, status: Int32) -> ProvisioningError {
        ProvisioningError(
            .rejected,
            message: "The board did not accept \(what) (status \(status)). Restart the board, then run this again.")
    }
}

extension ProvisioningError {
    /// The board refused the proof that both know the same secret.
    ///
    /// - Parameter count: how many proofs the board has refused, including earlier sessions. RainMaker firmware counts each
    ///   (`CONFIG_APP_WIFI_PROV_MAX_POP_MISMATCH`), and stops provisioning at the fifth. Nil for services that count none: those of a board
    ///   on its network.
    static func refusedProof(
        _ error: ProtocommError, _ selection: SecuritySelection, count: Int?
    ) -> ProvisioningError {
        let isSecurity2 = selection.required.version == 2
        let name = String(decoding: selection.username, as: UTF8.self)
        let what =
            isSecurity2
            ? "The board refused the proof: the proof of possession or the user name \"\(name)\" is wrong. "
                + "Security 2 checks both. Compare them with the board's label or QR code."
            : "The board refused the proof of possession. Check it on the board's label or QR code."
        let remedies: [Remedy] = isSecurity2 ? [.securityUserName] : []
        guard let count else {
            return ProvisioningError(
                .wrongProofOfPossession, message: what, cause: error.description, remedies: remedies)
        }
        let words = ["one", "two", "three", "four", "five"]
        let number = count <= words.count ? words[count - 1] : "\(count)"
        let part = count == 1 ? "this was one of them" : "these were \(number) of them"
        var refusal = ProvisioningError(
            .wrongProofOfPossession,
            message: "\(what) RainMaker boards stop provisioning after five wrong proofs, and \(part).",
            cause: error.description, remedies: remedies)
        refusal.refusedProofs = count
        return refusal
    }
}
