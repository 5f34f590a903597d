// SPDX-License-Identifier: Apache-2.0
import Logging
import Protocomm
import ProtocommCore
import RainCore
import RainIO

extension ProtocommBoard {
    /// Set and apply. A board that still remembers a failed attempt is reset first, once, and told again: applying consumes
    /// what was set even when the board refuses to apply.
    ///
    /// An Apply whose answer was lost leaves open whether the board took it. Then both go out again, over a new session: an Apply
    /// that is refused by a board that has not failed says that the first was taken. Where no session can be had any more the board
    /// has most likely left for its network: `mayBeJoining`.
    ///
    /// A board that refuses to apply and to be reset is on its way to a network that an earlier run gave it, or there already:
    /// what comes of that is waited for.
    public func join(
        _ network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) {
        try network.checkIsPassphrase()
        var doubt: Doubt?
        var refusals = 0
        (asked, arrival, isAttemptInDoubt) = (network, nil, false)
        while true {
            let reply =
                switch doubt {
                case nil: try await handOver(network)
                case let doubt?: try await handOverAgain(network, doubt)
                }
            switch reply {
            case .answered(.success): return
            case .answered(.internalError):
                if doubt != nil, try await isJoining() {
                    isAttemptInDoubt = true
                    return
                }
                doubt = nil
                refusals += 1
                guard refusals <= maximumRefusals else {
                    throw .rejected("the Wi-Fi settings", status: Status.internalError.rawValue)
                }
                logger.debug("board refused to apply; resetting it", metadata: ["peer": "\(peer)"])
                arrival = try await makeReady(for: network, report: report)
                if arrival != nil { return }
            case .answered(let status): throw .rejected("the Wi-Fi settings", status: status.rawValue)
            case .linkLost: doubt = doubt ?? Doubt(since: time.elapsed())
            case .unanswered(let error) where error.isLeaving: throw error.afterApply
            case .unanswered(let error):
                var now = doubt ?? Doubt(since: time.elapsed())
                // A board that opens a new session and gives the same bad answer again is there, and further attempts do not help.
                if !error.mayBeSilence, now.lastAnswer == error.code {
                    throw error.code == .rejected ? error : .mayBeJoining(peer, error)
                }
                guard time.elapsed() - now.since < patience else { throw .mayBeJoining(peer, error) }
                now.lastAnswer = error.code
                let rest = now.schedule.next()
                doubt = now
                try await pause(rest)
            }
        }
    }

    public func join(_ network: WiFiNetwork) async throws(ProvisioningError) { try await join(network) { _ in } }

    /// Of a board that had made itself ready each time. Two clients may be at one board.
    private var maximumRefusals: Int { 3 }

    /// Set and apply again, once, where the attempt that has failed may have been at what an earlier run left. Whether the board took it.
    func joinAgainIfInDoubt() async throws(ProvisioningError) -> Bool {
        guard isAttemptInDoubt, let asked else { return false }
        isAttemptInDoubt = false
        logger.debug("the attempt that failed may be another's; applying again", metadata: ["peer": "\(peer)"])
        _ = try await resetStatus()
        guard case .answered(.success) = try await handOver(asked) else { return false }
        return true
    }

    /// What is not known any more once an Apply went unanswered.
    private struct Doubt {
        var since: Duration
        /// How the last try ended.
        var lastAnswer: ProvisioningError.Code?
        var schedule = PollSchedule.unreachable
    }

    /// What came back for an Apply.
    private enum Reply {
        case answered(Status)
        /// The connection broke before the board said anything.
        case linkLost
        case unanswered(ProvisioningError)
    }

    private func handOver(_ network: WiFiNetwork) async throws(ProvisioningError) -> Reply {
        // What is set may take another session, before which the board may have restarted.
        repeat {
            try await tellUserAgain()
            try await set(network)
        } while toldUser != nil && toldInSession != sessions
        do {
            return try await apply().map(Reply.answered) ?? .linkLost
        } catch {
            guard error.code != .cancelled else { throw error }
            return .unanswered(error)
        }
    }

    /// The same at a board that may have taken it before, for as long as there is patience: the transport alone might look for one that
    /// has left for much longer.
    private func handOverAgain(_ network: WiFiNetwork, _ doubt: Doubt) async throws(ProvisioningError) -> Reply {
        let left = patience - (time.elapsed() - doubt.since)
        let result = await withDeadline(left, sleep: time.sleep) { () async throws(ProvisioningError) in
            try await self.secureAgain()
            return try await self.handOver(network)
        }
        do {
            return try result?.get() ?? .unanswered(.silent(peer, for: left))
        } catch {
            guard error.code != .cancelled else { throw error }
            return .unanswered(error)
        }
    }

    private func set(_ network: WiFiNetwork) async throws(ProvisioningError) {
        let command = SetWiFiConfigCommand(ssid: network.ssid.bytes, passphrase: network.passphrase.revealBytes())
        // The board keeps it in memory, and nothing comes of it before an Apply.
        let answer = try await ask(
            NetworkConfigPayload(.commandSetWiFiConfig(command)), on: .config, within: answerLimit(.seconds(3)),
            repeats: 2
        ) { answer in
            if case .responseSetWiFiConfig? = answer.payload { true } else { false }
        }
        guard case .responseSetWiFiConfig(let response)? = answer.payload else { throw .unexpectedAnswer(on: .config) }
        if response.status == .invalidArgument {
            throw ProvisioningError(
                .invalidArgument,
                message: "The board does not accept this network name or passphrase: check their lengths.")
        }
        guard response.status == .success else {
            throw .rejected("the Wi-Fi settings", status: response.status.rawValue)
        }
    }

    /// Nil where the connection broke before the board said anything. It is not made again here: a transport alone might look for a
    /// board that has left for much longer than there is patience.
    private func apply() async throws(ProvisioningError) -> Status? {
        let command = NetworkConfigPayload(.commandApplyWiFiConfig)
        guard
            let answer = try await askOnce(command, on: .config, within: answerLimit(.seconds(3)), restores: false)
        else { return nil }
        guard case .responseApplyWiFiConfig(let response)? = answer.payload else {
            // Whether the board took it is found out as where no answer came.
            if session.mayGarbleAnswers {
                await session.markInvalid()
                return nil
            }
            throw .unexpectedAnswer(on: .config)
        }
        if response.status == .success { appliedAt = time.elapsed() }
        return response.status
    }

    public func reset() async throws(ProvisioningError) {
        guard try await resetStatus(repeats: 1) == .success else {
            throw ProvisioningError(
                .rejected,
                message:
                    "The board cannot be reset now: it is still joining a network, or already on one. Try again in a moment."
            )
        }
    }

    func resetStatus(repeats: Int = 0) async throws(ProvisioningError) -> Status {
        do {
            return try await ask(NetworkControlPayload(.commandWiFiReset), on: .control, repeats: repeats).status
        } catch {
            guard error.code == .unsupported else { throw error }
            throw ProvisioningError(
                .unsupported,
                message:
                    "The board's firmware cannot forget failed Wi-Fi settings (ESP-IDF before 5.1): restart it, or reset "
                    + "it to factory settings.", cause: error.cause)
        }
    }
}

extension ProvisioningError {
    /// The same of a board that may have taken an Apply: the cloud can say what became of it.
    var afterApply: ProvisioningError {
        var error = self
        error.code = .mayBeJoining
        return error
    }

    /// Whether there may have been no answer at all, as opposed to one that is of no use.
    fileprivate var mayBeSilence: Bool { ![.rejected, .malformed, .wrongProofOfPossession].contains(code) }
}
