// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore
import RainCore

extension BoardError {
    /// Adds the meaning of a session's error for the board that is being set up, and advice. Its description becomes the ``cause``.
    var withAdvice: BoardError {
        var error = self
        error.cause = description
        error.reason = [.unreachable, .evicted].contains(code) || reason == Self.portGone ? reason : nil
        error.isOfThisMachine = reason.map(Self.reasonsOfThisMachine.contains) ?? false
        let peer = peer ?? ""
        switch code {
        // The transport's message is about a board that has not answered yet.
        case .unreachable where hasAnswered && reason == nil:
            error.code = .deviceLost
            error.message =
                "The board at \(peer) answered before, but cannot be reached any more. It may have lost power, restarted, or ended its "
                + "provisioning service. Check its power and connection, then try again."
        case .unreachable:
            error.code = hasAnswered ? .deviceLost : .unavailable
            if reason == "not_a_board" { error.remedies = [.host] }
        // The only evidence of another client is broken connections.
        case .evicted where reason == "connection_taken":
            error.code = .deviceLost
            error.message =
                "The connection to the board at \(peer) broke each time. Check its power and connection, and that no other program "
                + "talks to it, then try again."
        case .evicted:
            error.code = .busy
            error.message =
                "Another client is talking to the board at \(peer), and the board serves only one client at a time. End the other program "
                + "(an app on a phone, another computer), then try again."
        case .refused: error.code = hasAnswered ? .rejected : .neverAnswered
        case .lost where reason == Self.portGone:
            error.code = .deviceLost
            error.message =
                "The port \(peer) was removed: its cable was unplugged, or the board's USB device disappeared. Check the cable, then try again."
        // This machine's end of the link failed; the board may be fine.
        case .lost where reason == "radio_lost": error.code = .deviceLost
        case .timeout where reason == Self.answerCut: error.code = .deviceLost
        case .timeout, .lost:
            error.code = .deviceLost
            error.message =
                "The board at \(peer) stopped answering. Check its power and connection, then try again."
        case .noSuchEndpoint: error.code = .unsupported
        case .tooLong:
            error.code = .unsupported
            error.remedies = [.accessPoint]
        case .cancelled:
            if reason == Self.answerCut, unfinished == nil {
                error.unfinished = "the server at \(peer) began an answer and did not finish it"
            }
        case .ended: error.code = .cancelled
        case .busy, .neverAnswered, .wrongProofOfPossession, .securityMismatch: break
        default:
            error.code = .malformed
            if [.malformed, .cipherFailure].contains(code) { error.faultyAnswer = faultyAnswer ?? Self.unreadable }
        }
        return error
    }

    /// The error with a code from the setup of a board. A `Board` of another program may pass on the error of an exchange.
    package var forSetup: BoardError { code.isOfExchange ? withAdvice : self }

    /// The transports' codes for errors of this machine.
    private static let reasonsOfThisMachine: Set<String> = [
        "radio_lost", "no_bus", "no_bluez", "no_adapter", "powered_off", "blocked", "access_denied",
    ]

    /// The board refuses a proof that it accepted before, or no longer has an endpoint that all boards have.
    ///
    /// Firmware frees its copy of the proof when it schedules the end of its service, and serves for another second. It does so after a
    /// client has read that the board is connected, 30 s after that, or after the fifth wrong proof (`network_prov_mgr_stop_service`).
    static func leaving(_ peer: String, _ error: BoardError) -> BoardError {
        var leaving = BoardError(
            .deviceLost,
            message:
                "The board at \(peer) is ending its provisioning service: it has joined a network, or has refused five proofs "
                + "of possession. Look for the board in your account. If it is not there, restart the board and try again.",
            cause: error.description)
        leaving.isLeaving = true
        leaving.isRefusedHandshake = error.endpoint == .session
        return leaving
    }

    /// Whether the board may have performed the request although no answer arrived.
    var mayBeLostAnswer: Bool { !isLeaving && (code == .deviceLost || code == .rejected) }

    /// The error for answers that make no sense, over a transport that may lose bytes.
    static func charactersLost(_ cause: String) -> BoardError {
        BoardError(.malformed, message: lostCharacters, cause: cause)
    }

    static func unexpectedAnswer(on endpoint: Endpoint) -> BoardError {
        var error = BoardError(
            .malformed,
            message:
                "The board's answer on \(endpoint) does not match the request. Restart the board, then try "
                + "again.")
        error.faultyAnswer = Self.unreadable
        return error
    }

    /// - Parameter status: the status with its name, such as `status 5 (internal error)`.
    static func rejected(_ what: String, _ status: String) -> BoardError {
        var error = BoardError(
            .rejected,
            message: "The board did not accept \(what): it answered with \(status). Restart the board, then try again.")
        error.faultyAnswer = status
        return error
    }
}

extension BoardError {
    /// The board refused the proof that both know the same secret.
    ///
    /// - Parameter count: how many proofs the board has refused, including earlier sessions. RainMaker firmware counts each
    ///   (`CONFIG_APP_WIFI_PROV_MAX_POP_MISMATCH`), and stops provisioning at the fifth. Nil for services that count none: those of a board
    ///   on its network.
    /// - Parameter inBothForms: whether the last proof was sent in two forms, which the board counts as two proofs.
    static func refusedProof(
        _ error: BoardError, _ selection: SecuritySelection, count: Int?, inBothForms: Bool = false
    ) -> BoardError {
        let isSecurity2 = selection.required.version == 2
        let name = String(decoding: selection.username, as: UTF8.self)
        let what =
            isSecurity2
            ? "The board refused the proof: the proof of possession or the user name \"\(name)\" is wrong. "
                + "Security 2 checks both. Compare them with the board's label or QR code."
            : "The board refused the proof of possession. Check it on the board's label or QR code."
        let remedies: [Remedy] = isSecurity2 ? [.securityUserName] : []
        guard let count else {
            return BoardError(
                .wrongProofOfPossession, message: what, cause: error.description, remedies: remedies)
        }
        var refusal = BoardError(
            .wrongProofOfPossession,
            message: count >= mostWrongProofs
                ? "The board has received \(count) wrong proofs, and may now refuse every proof until you restart it. Restart the board, "
                    + "then check the proof of possession on its label or QR code."
                : "\(what) \(countOfWrongProofs(count, inBothForms: inBothForms))",
            cause: error.description, remedies: remedies)
        refusal.refusedProofs = count
        return refusal
    }

    /// RainMaker firmware stops provisioning at this number (`CONFIG_APP_WIFI_PROV_MAX_POP_MISMATCH`).
    private static var mostWrongProofs: Int { 5 }

    /// The sentence about the wrong proofs that a board has counted.
    ///
    /// - Parameter count: how many the caller knows of. The board may have received others before.
    /// - Parameter inBothForms: whether the last proof was sent in two forms. Nobody gave the second one.
    package static func countOfWrongProofs(_ count: Int, inBothForms: Bool = false) -> String {
        if count >= mostWrongProofs {
            return
                "The board has now received \(count) wrong proofs, and may refuse every proof until you restart it."
        }
        let forms = inBothForms ? ", because the proof was sent in two forms" : ""
        let known =
            count > 1
            ? "The board has now received \(count) wrong proofs\(forms). After five"
            : "After five wrong proofs, and after it has been set up"
        return "\(known), a RainMaker board refuses even the right proof until you restart it."
    }
}

extension BoardError {
    /// The error for a board that fell silent in ``Board/join(_:)``.
    package static func mayBeJoining(_ peer: String, _ error: BoardError) -> BoardError {
        // The board did answer.
        if error.code == .malformed || error.isAboutLostCharacters {
            return BoardError(
                .mayBeJoining,
                message:
                    "\(error.message) The board was receiving its Wi-Fi settings, and may have accepted them. Look for the board in your account.",
                cause: error.cause ?? error.message)
        }
        return BoardError(
            .mayBeJoining,
            message:
                "The board at \(peer) stopped answering while it received its Wi-Fi settings. It may have accepted them. Look for the board "
                + "in your account, or try again.", cause: error.cause ?? error.message)
    }

    /// The error of a cancelled wait for a board's result on its network, while the board was silent.
    ///
    /// - Parameter cause: the last failure to reach it; nil if the board has only not answered.
    package func unfinished(silent peer: String, _ cause: BoardError?) -> BoardError {
        guard code == .cancelled else { return self }
        var error = self
        error.unfinished =
            if cause?.reason == "port_gone" {
                "the port \(peer) was removed after the board received its Wi-Fi settings"
            } else if let cause, cause.isOfThisMachine {
                cause.firstClause
            } else if let answer = cause?.faultyAnswer {
                "the board at \(peer) answers each request for its Wi-Fi state with \(answer)"
            } else {
                "the board at \(peer) has not answered since it received its Wi-Fi settings"
            }
        return error
    }

    /// The first clause of the message: what happened, without the advice.
    private var firstClause: String {
        let words = message.split(separator: " ", omittingEmptySubsequences: false)
        var clause: [Substring] = []
        for word in words {
            clause.append(word)
            if [".", ":"].contains(word.last), clause.count > 3 { break }
        }
        var text = clause.joined(separator: " ")
        while let last = text.last, ".:".contains(last) { text.removeLast() }
        return text.hasPrefix("The ") ? "the" + text.dropFirst(3) : text
    }
}
