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

/// A board that an earlier run has sent to a network, and that takes no other as long as it tries.
extension ProtocommBoard {
    /// Makes a board that refused its settings ready for them.
    ///
    /// Firmware grants a reset the moment an attempt has failed, and refuses it in the middle of one and on a network; its status alone
    /// would not do, as it is the same before the first attempt, during one, and in a retry without end. Silence is what it is in
    /// ``watch(report:)``: the access point follows the channel of the network that is being tried.
    ///
    /// - Returns: where the board is, if the earlier attempt brought it to the network that is asked for; nil once it takes settings.
    func makeReady(
        for network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> JoinedNetwork? {
        var schedule = PollSchedule.boardStatus
        let began = time.elapsed()
        var silentSince: Duration?
        var hasReported = false
        while true {
            try await pause(schedule.next())
            let asked = time.elapsed()
            var found: Occupation?
            do {
                let left = patience - (asked - (silentSince ?? asked))
                found = try await occupation(within: left, isSilent: silentSince != nil)
            } catch {
                guard error.mayPassAfterJoining else { throw error }
                if error.isLeaving { throw .leftWhileOccupied(peer, error) }
                let since = silentSince ?? asked
                silentSince = since
                guard time.elapsed() - since < patience else { throw .leftWhileOccupied(peer, error) }
            }
            switch found {
            case .ready?: return nil
            case .there(let place)?:
                try place.verify(isOn: network)
                return place
            case .trying?: silentSince = nil
            case nil: break
            }
            // A board that is ending its service refuses the same, and is gone by then.
            guard !hasReported, silentSince == nil, time.elapsed() - began > timeBeforeEnd else { continue }
            await report(.occupied)
            hasReported = true
        }
    }

    /// How long firmware goes on serving once it has scheduled the end of its service (`cleanup_delay`).
    private var timeBeforeEnd: Duration { .milliseconds(1200) }

    private enum Occupation {
        case ready, trying
        case there(JoinedNetwork)
    }

    private func occupation(within limit: Duration, isSilent: Bool) async throws(ProvisioningError) -> Occupation {
        let result = await withDeadline(limit, sleep: time.sleep) { () async throws(ProvisioningError) in
            if isSilent { try await self.secureAgain() }
            return try await self.occupation()
        }
        guard let result else { throw .silent(peer, for: limit) }
        return try result.get()
    }

    private func occupation() async throws(ProvisioningError) -> Occupation {
        var refusal: ProvisioningError?
        do {
            if try await resetStatus() == .success { return .ready }
        } catch {
            guard error.code == .unsupported else { throw error }
            refusal = error
        }
        let status = try await wifiStatus()
        switch (status.state, status.detail) {
        case (.connected, .connected(let connection)?): return .there(JoinedNetwork(connection))
        case (.connected, _): return .there(JoinedNetwork(address: "", ssid: SSID([])))
        case (.connectionFailed, _):
            if let refusal { throw refusal }
            // Firmware that has reset itself refuses to be reset, before network_provisioning 1.2.1, and takes settings.
            return .ready
        default: return .trying
        }
    }
}

extension ProvisioningError {
    /// Neither of the two can be told from the other: the status is the same, and both refuse an Apply and a reset.
    fileprivate static func leftWhileOccupied(_ peer: String, _ error: ProvisioningError) -> ProvisioningError {
        var lost = ProvisioningError(
            .mayBeJoining,
            message:
                "The board at \(peer) ended its provisioning service and did not take these Wi-Fi settings: it has joined a network that it "
                + "was given before, or has refused five proofs of possession. Look for it in your account; if it is not there, "
                + "restart it and run this again.", cause: error.cause ?? error.message)
        lost.isLeaving = true
        return lost
    }
}

extension ProtocommBoard {
    /// How long a board may stay silent while its access point follows the network's channel. Afterwards the cloud must tell.
    var patience: Duration { .seconds(12) }

    /// Firmware says that it is connecting until it has an address, and sets itself no deadline for that.
    private var timeForAddress: Duration { .seconds(60) }

    /// Firmware starts a timer of this length when it accepts an Apply, and leaves its radio alone until it is over: nothing can have
    /// become of the attempt before (`network_prov_mgr_configure_wifi_sta`).
    private var timeBeforeJoining: Duration { .seconds(1) }

    /// Firmware serves for one second after it has said that it is connected. A status that is asked for again within that second, in a new
    /// session, says so again.
    private var firstStatusLimit: Duration { .milliseconds(700) }

    public func watch(
        report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> JoinedNetwork {
        if let arrival { return arrival }
        var schedule = PollSchedule.boardStatus
        var silentSince: Duration?
        var isPortGone = false
        var last: WiFiProgress?
        var hasTriedBefore = false
        var connectingSince: Duration?
        while true {
            // Asked once before: a board may have fallen back to where it was.
            let firstChange = appliedAt.map { $0 + timeBeforeJoining } ?? time.elapsed()
            let rest = schedule.next()
            try await pause(last == .connecting ? max(rest, firstChange - time.elapsed()) : rest)
            let status: WiFiStatusResponse
            let asked = time.elapsed()
            do {
                // A transport that looks for a board that has left would take longer than that by itself.
                let left = patience - (asked - (silentSince ?? asked))
                status = try await answer(within: left, isSilent: silentSince != nil)
                (silentSince, isPortGone) = (nil, false)
            } catch {
                guard error.mayPassAfterJoining, !error.isLeaving else { throw error }
                let since = silentSince ?? asked
                silentSince = since
                if error.reason == TransportError.portGone { isPortGone = true }
                guard time.elapsed() - since < patience else { throw error.asLost(peer, isPortGone: isPortGone) }
                if last != .unreachable { await report(.unreachable) }
                last = .unreachable
                continue
            }
            let progress: WiFiProgress
            let outcome: Verdict
            do {
                outcome = try verdict(status, hasTriedBefore: hasTriedBefore)
            } catch {
                guard try await joinAgainIfInDoubt() else { throw error.remarking(on: self.asked) }
                connectingSince = nil
                continue
            }
            switch outcome {
            case .joined(let network):
                if let wanted = self.asked { try network.verify(isOn: wanted) }
                return network
            case .attemptFailed(let remaining):
                hasTriedBefore = true
                progress = .attemptFailed(remaining: remaining)
            case .connecting: progress = .connecting
            }
            // An attempt that was refused, or that found no access point, ends much earlier.
            connectingSince = progress == .connecting ? connectingSince ?? time.elapsed() : nil
            if let connectingSince, time.elapsed() - connectingSince >= timeForAddress { throw .noAddress(self.asked) }
            if progress != last { await report(progress) }
            last = progress
        }
    }

    /// Whether a board that refuses a second Apply took the first. One that leaves while it is asked has joined, as far as anybody can
    /// tell; ``watch(report:)`` and the cloud find out.
    func isJoining() async throws(ProvisioningError) -> Bool {
        do {
            return try await answer(within: patience, isSilent: false).state != .connectionFailed
        } catch {
            guard error.mayPassAfterJoining else { throw error }
            if error.isLeaving { throw error.afterApply }
            return true
        }
    }

    /// The board's status, over a new session where it was silent before; `deviceLost` when the time is over.
    private func answer(
        within limit: Duration, isSilent: Bool
    ) async throws(ProvisioningError) -> WiFiStatusResponse {
        let answerLimit = answerLimit(isSilent ? .seconds(2) : firstStatusLimit)
        let result = await withDeadline(limit, sleep: time.sleep) { () async throws(ProvisioningError) in
            if isSilent { try await self.secureAgain() }
            return try await self.wifiStatus(within: answerLimit)
        }
        guard let result else { throw .silent(peer, for: limit) }
        return try result.get()
    }

    private enum Verdict {
        case joined(JoinedNetwork), connecting, attemptFailed(Int)
    }

    func wifiStatus(within limit: Duration? = nil) async throws(ProvisioningError) -> WiFiStatusResponse {
        let answer = try await ask(
            NetworkConfigPayload(.commandGetWiFiStatus), on: .config, within: limit, repeats: 0
        ) { answer in
            if case .responseGetWiFiStatus? = answer.payload { true } else { false }
        }
        guard case .responseGetWiFiStatus(let response)? = answer.payload else { throw .unexpectedAnswer(on: .config) }
        guard response.status == .success else { throw .rejected("the question", status: response.status.rawValue) }
        return response
    }

    /// - Parameter hasTriedBefore: whether an attempt before this one had failed. Firmware that makes several tells the last reason that it
    ///   understood, or a refused password where it understood none, which may be another attempt's.
    private func verdict(
        _ status: WiFiStatusResponse, hasTriedBefore: Bool
    ) throws(ProvisioningError) -> Verdict {
        switch (status.state, status.detail) {
        case (.connected, let detail):
            guard case .connected(let connection)? = detail else {
                return .joined(JoinedNetwork(address: "", ssid: SSID([])))
            }
            return .joined(JoinedNetwork(connection))
        case (.connectionFailed, .failed(.authenticationError)?):
            throw ProvisioningError(
                .wifiAuthenticationFailed,
                message: "The access point refused the board: check the Wi-Fi password, then run this again."
                    + (hasTriedBefore
                        ? " If it is right, the network may be too weak there, or protected in a way that the board lacks: after "
                            + "several attempts firmware gives this reason for those, too." : ""))
        case (.connectionFailed, .failed(.networkNotFound)?):
            var verdict = ProvisioningError.notHeard(asked?.ssid)
            if hasTriedBefore {
                verdict.message +=
                    " If it is, it may be protected in a way that the board lacks: after several attempts firmware may give an "
                    + "earlier one's reason."
            }
            throw verdict
        case (.connectionFailed, _):
            throw ProvisioningError(
                .wifiFailed,
                message: "The board could not join the network and did not say why. Try again, nearer to it.")
        case (_, .attemptFailed(let failure)?):
            return .attemptFailed(Int(failure.attemptsRemaining))
        default:
            return .connecting
        }
    }
}

extension JoinedNetwork {
    init(_ connection: WiFiConnection) {
        // An address is at most 15 characters; anything else is not one.
        let address = connection.ip4Address
        let isAddress = address.count <= 15 && address.allSatisfy { (0x2E...0x39).contains($0) && $0 != 0x2F }
        self.init(
            address: isAddress ? String(decoding: address, as: UTF8.self) : "",
            ssid: SSID(Array(connection.ssid.prefix(32))),
            channel: connection.channel > 0 ? Int(connection.channel) : nil)
    }
}

extension ProvisioningError {
    /// Whether this may be the silence of a board that is changing its channel, or has left for its network; or an answer broken up by log
    /// lines, since boards log a lot at that time.
    var mayPassAfterJoining: Bool {
        [.deviceLost, .unavailable, .neverAnswered, .busy, .rejected, .securityMismatch, .malformed].contains(code)
    }

    static func silent(_ peer: String, for limit: Duration) -> ProvisioningError {
        ProvisioningError(.deviceLost, message: "The board at \(peer) did not answer within \(limit).")
    }

    fileprivate static func noAddress(_ network: WiFiNetwork?) -> ProvisioningError {
        let name = network.map { " \"\($0.ssid)\"" } ?? ""
        return ProvisioningError(
            .wifiFailed,
            message:
                "The network\(name) neither refuses the board nor gives it an address: its DHCP server does not answer, or has no address "
                + "left. Check the router, or whether it admits known devices only.", reason: "no_address")
    }

    fileprivate func asLost(_ peer: String, isPortGone: Bool) -> ProvisioningError {
        let what =
            isPortGone
            ? "The port \(peer) went away after the board got its Wi-Fi settings."
            : "The board at \(peer) stopped answering after it got its Wi-Fi settings."
        return ProvisioningError(
            .deviceLost,
            message: "\(what) It may be online: look for it in your account, or run this again.", cause: cause,
            reason: isPortGone ? TransportError.portGone : nil)
    }
}
